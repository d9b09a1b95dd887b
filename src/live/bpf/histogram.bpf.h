// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#pragma once

#include "live/bpf/layout.h"

// The number of bits that it takes: period::Histogram::bucket_of().
static inline __u32 bucket_of(__u64 ns) {
  __u32 width = 0;
  if (ns >> 32) ns >>= 32, width += 32;
  if (ns >> 16) ns >>= 16, width += 16;
  if (ns >> 8) ns >>= 8, width += 8;
  if (ns >> 4) ns >>= 4, width += 4;
  if (ns >> 2) ns >>= 2, width += 2;
  if (ns >> 1) ns >>= 1, width += 1;
  width += ns;
  return width < kBuckets ? width : kBuckets - 1;
}

static inline void add_time(struct Times* times, __u64 ns) {
  ++times->count;
  times->sum_ns += ns;
  __u32 bucket = bucket_of(ns);
  if (bucket < kBuckets) ++times->buckets[bucket];
}
