// SPDX-License-Identifier: Apache-2.0
#include "live/time_rows.h"

#include "live/slots.h"

namespace strata::live {
namespace {

static_assert(kBuckets == period::Histogram::kBuckets);

// On all CPUs. What is added meanwhile may be in one sum and not yet in another: by the next time
// it is. How many there are is what the buckets say.
period::Histogram sum_of(std::span<const Times> times, uint32_t number, uint32_t stride) {
  period::Histogram sum;
  for (size_t at = number; at < times.size(); at += stride) {
    if (load(times[at].count) == 0) continue;
    sum.sum_ns += load(times[at].sum_ns);
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const uint64_t count = load(times[at].buckets[bucket]);
      sum.buckets[bucket] += count;
      sum.count += count;
    }
  }
  return sum;
}

}  // namespace

void TimeRows::begin(std::span<const Times> times, Numbers numbers) {
  before_.clear();
  for (uint32_t number = numbers.begin; number < numbers.end; ++number)
    before_.push_back(sum_of(times, number, numbers.stride));
}

void TimeRows::tell(std::span<const Times> times, Numbers numbers, period::Latency what,
                    const std::function<std::string(uint32_t)>& name,
                    std::vector<period::LatencyRow>& rows) {
  before_.resize(numbers.end - numbers.begin);
  for (uint32_t number = numbers.begin; number < numbers.end; ++number) {
    period::Histogram& before = before_[number - numbers.begin];
    const period::Histogram now = sum_of(times, number, numbers.stride);
    if (now.count == before.count) continue;
    period::LatencyRow row{.what = what, .name = name(number)};
    row.histogram = {.count = now.count - before.count, .sum_ns = now.sum_ns - before.sum_ns};
    for (size_t bucket = 0; bucket < kBuckets; ++bucket)
      row.histogram.buckets[bucket] = now.buckets[bucket] - before.buckets[bucket];
    before = now;
    rows.push_back(std::move(row));
  }
}

}  // namespace strata::live
