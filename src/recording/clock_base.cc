// SPDX-License-Identifier: Apache-2.0
#include "recording/clock_base.h"

namespace strata::recording {

int64_t clock_base(const trace::Trace& trace) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::optional<trace::Trace::Span> span = trace.time_span();
  if (!span) return 0;
  const int64_t begin = span->begin.count;
  const int64_t whole_second = begin - (begin % kSecond + kSecond) % kSecond;
  if (!trace.info().since_epoch) return begin < 0 ? whole_second : 0;
  if (trace.info().clock.in_nanoseconds) {
    for (const auto& stream : trace.open_streams()) {
      if (stream->next() != trace::Step::Event) continue;
      const auto ticks = static_cast<int64_t>(raw(stream->event().ticks));
      const int64_t base = stream->event().time.count - ticks;
      if (ticks >= 0 && base >= 0 && base <= begin) return base;
      break;
    }
  }
  return whole_second;
}

}  // namespace strata::recording
