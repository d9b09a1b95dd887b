// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace strata::period {

// How often something took how long, in powers of two of nanoseconds.
struct Histogram {
  static constexpr size_t kBuckets = 48;

  uint64_t count = 0;
  uint64_t sum_ns = 0;
  // In the first those of 0 ns, in number n those from 2^(n-1) ns to below 2^n; in the last all
  // longer ones, too.
  std::array<uint64_t, kBuckets> buckets = {};

  static constexpr size_t bucket_of(uint64_t ns) {
    return std::min<size_t>(static_cast<size_t>(std::bit_width(ns)), kBuckets - 1);
  }
  void add(uint64_t ns) {
    ++count;
    sum_ns += ns;
    ++buckets[bucket_of(ns)];
  }
  Histogram& operator+=(const Histogram& other) {
    count += other.count;
    sum_ns += other.sum_ns;
    for (size_t i = 0; i < kBuckets; ++i) buckets[i] += other.buckets[i];
    return *this;
  }
  uint64_t average_ns() const { return count == 0 ? 0 : sum_ns / count; }
  // Shorter than this is at least that part of them: 0.99 of a thousand, 990.
  uint64_t below_ns(double part) const;

  bool operator==(const Histogram&) const = default;
};

}  // namespace strata::period
