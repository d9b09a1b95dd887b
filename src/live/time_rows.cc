// SPDX-License-Identifier: Apache-2.0
#include "live/time_rows.h"

#include "live/slots.h"

namespace strata::live {

static_assert(kBuckets == period::Histogram::kBuckets);

void TimeRows::tell(std::span<const Times> times, uint32_t numbers, period::Latency what,
                    const std::function<std::string(uint32_t)>& name,
                    std::vector<period::LatencyRow>& rows) {
  before_.resize(numbers);
  for (uint32_t number = 0; number < numbers; ++number) {
    // What is added meanwhile may be in one sum and not yet in another: by the next time it is.
    period::Histogram now;
    for (size_t at = number; at < times.size(); at += numbers) {
      if (load(times[at].count) == 0) continue;
      now.sum_ns += load(times[at].sum_ns);
      for (size_t bucket = 0; bucket < kBuckets; ++bucket)
        now.buckets[bucket] += load(times[at].buckets[bucket]);
    }
    period::Histogram& before = before_[number];
    period::LatencyRow row{.what = what, .name = {}};
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      row.histogram.buckets[bucket] = now.buckets[bucket] - before.buckets[bucket];
      row.histogram.count += row.histogram.buckets[bucket];
    }
    row.histogram.sum_ns = now.sum_ns - before.sum_ns;
    before = now;
    if (row.histogram.count == 0) continue;
    row.name = name(number);
    rows.push_back(std::move(row));
  }
}

}  // namespace strata::live
