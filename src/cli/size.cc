// SPDX-License-Identifier: Apache-2.0
#include "cli/size.h"

#include <charconv>

namespace strata::cli {

Result<uint64_t> parse_size(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  unsigned shift = 64;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "k" || unit == "K" || unit == "KB" || unit == "kB") shift = 10;
  if (unit == "M" || unit == "MB") shift = 20;
  if (unit == "G" || unit == "GB") shift = 30;
  if (error != std::errc() || shift == 64 || number == 0 || number > (uint64_t{1} << 40 >> shift))
    return Error{"", std::nullopt, "'" + text + "' is no size such as 16M"};
  return number << shift;
}

}  // namespace strata::cli
