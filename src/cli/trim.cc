// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "cli/terminal.h"
#include "format/tracedat/convert.h"

namespace strata::cli {

int run(const TrimArguments& arguments) {
  const std::unique_ptr<tracedat::TraceDat> trace = open_trace_dat(arguments.path);
  if (!trace) return kExitInput;
  if (!is_writable_target(arguments.output)) return kExitInput;

  const trace::Trace::Span span = trace->time_span().value_or(trace::Trace::Span{});
  const TimeFrame frame{span.begin, span.end, trace->info().since_epoch, now_since_epoch()};
  Nanoseconds begin = span.begin;
  Nanoseconds end = span.end;
  for (auto [option, text, side, out] :
       {std::tuple("--begin", &arguments.begin, Side::Begin, &begin),
        std::tuple("--end", &arguments.end, Side::End, &end)}) {
    if (text->empty()) continue;
    Result<Nanoseconds> time = resolve_time(*text, frame, side);
    if (!time) {
      complain(std::string(option) + ": " + time.error().text());
      return kExitUsage;
    }
    *out = *time;
  }
  if (end < begin) {
    complain("--end is before --begin");
    return kExitUsage;
  }

  Progress progress("trimming " + arguments.path, false);
  Status status =
      tracedat::trim(*trace, begin, end, arguments.output, write_options(arguments.packing),
                     [&](uint64_t done, uint64_t total) { progress.update(done, total); });
  if (!status) {
    complain(status.error());
    return kExitInput;
  }
  return finish_rewrite(*trace, arguments.output, arguments.json);
}

}  // namespace strata::cli
