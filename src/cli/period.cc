// SPDX-License-Identifier: Apache-2.0
#include "cli/period.h"

#include "cli/terminal.h"

namespace strata::cli {

bool resolve(const char* option, const std::string& text, const Traces& traces, Side side,
             std::optional<Nanoseconds>& out) {
  if (text.empty()) return true;
  Result<Nanoseconds> time = resolve_time(text, traces.time_frame(), side);
  if (!time) {
    complain(std::string(option) + ": " + time.error().text());
    return false;
  }
  out = *time;
  return true;
}

bool resolve_period(const std::string& begin, const std::string& end, const Traces& traces,
                    std::optional<Nanoseconds>& from, std::optional<Nanoseconds>& to) {
  return resolve("--begin", begin, traces, Side::Begin, from) &&
         resolve("--end", end, traces, Side::End, to);
}

}  // namespace strata::cli
