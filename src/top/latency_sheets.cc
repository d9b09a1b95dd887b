// SPDX-License-Identifier: Apache-2.0
#include "top/latency_sheets.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "top/cell_values.h"

namespace strata::top {
namespace {

using period::Histogram;

enum LatencyId : size_t { kWhat, kOf, kCount, kAverage, kHalf, kMost, kTotal, kShape, kColumns_ };

constexpr std::array<SheetColumn, kColumns_> kLatencyColumns = {{
    {"what", "LATENCY", Shown::Text, "of what kind", 13},
    {"of", "OF", Shown::Text, "which system call, interrupt, device", 16},
    {"count", "N/s", Shown::PerSecond, "how many ended"},
    {"avg", "AVG", Shown::Duration, "how long they took on average"},
    {"p50", "50%<", Shown::Duration, "half of them took less"},
    {"p99", "99%<", Shown::Duration, "99 % of them took less"},
    {"total", "TIME%", Shown::Share, "all of them together"},
    {"shape", "64ns  1us   16us  256us 4ms   67ms  1s", Shown::Text,
     "how many took how long: twice as long from one place to the next", 18},
}};

enum BucketId : size_t { kFrom, kTo, kIn, kPart, kBar, kBucketColumns_ };

constexpr std::array<SheetColumn, kBucketColumns_> kBucketColumns = {{
    {"from", "FROM", Shown::Duration, "at least so long"},
    {"to", "BELOW", Shown::Duration, "and less than this"},
    {"count", "N/s", Shown::PerSecond, "how many took so long"},
    {"part", "PART%", Shown::Percent, "of all"},
    {"bar", "", Shown::Text, "the same, to look at", 20},
}};

// The places that are shown: from 2^6 ns, with all that is shorter, up to what is longer than 2^36.
constexpr size_t kFirst = 7;
constexpr size_t kPlaces = 32;
// Heights of a place, by parts of the highest; a place that has something shows it.
constexpr std::array<std::string_view, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string shape_of(const Histogram& histogram) {
  std::array<uint64_t, kPlaces> places{};
  for (size_t i = 0; i < Histogram::kBuckets; ++i)
    places[std::clamp(i, kFirst, kFirst + kPlaces - 1) - kFirst] += histogram.buckets[i];
  const uint64_t most = std::ranges::max(places);
  std::string shape;
  for (const uint64_t count : places) {
    const double part = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
    shape += kHeights[static_cast<size_t>(std::ceil(part * 8))];
  }
  return shape;
}

}  // namespace

std::span<const SheetColumn> LatencySheet::columns() const { return kLatencyColumns; }

LineKey LatencySheet::key_of(const period::LatencyRow& row) {
  return key_of_texts(row.name, period::name_of(row.what));
}

Value LatencySheet::value(size_t line, size_t column) const {
  const period::LatencyRow& row = machine_.latencies[line];
  const Histogram& histogram = row.histogram;
  switch (static_cast<LatencyId>(column)) {
    case kWhat:
      return Value::of(std::string(period::name_of(row.what)));
    case kOf:
      return Value::of(row.name);
    case kCount:
      return Value::of(histogram.count);
    case kAverage:
      return histogram.count == 0 ? Value() : Value::of(histogram.average_ns());
    case kHalf:
      return histogram.count == 0 ? Value() : Value::of(histogram.below_ns(0.5));
    case kMost:
      return histogram.count == 0 ? Value() : Value::of(histogram.below_ns(0.99));
    case kTotal:
      return Value::of(histogram.sum_ns);
    case kShape:
      return Value::of(shape_of(histogram));
    case kColumns_:
      break;
  }
  return {};
}

Style LatencySheet::style(size_t line, size_t column) const {
  if (column != kShape) return Style::Plain;
  switch (machine_.latencies[line].what) {
    case period::Latency::RunQueue:
      return Style::Waiting;
    case period::Latency::Syscall:
      return Style::System;
    case period::Latency::Irq:
    case period::Latency::Softirq:
      return Style::Irq;
    default:
      return Style::Blocked;
  }
}

HistogramSheet::HistogramSheet(const period::Machine& machine, const LineKey& latency) {
  const auto found = std::ranges::find(machine.latencies, latency, LatencySheet::key_of);
  if (found == machine.latencies.end()) return;
  histogram_ = found->histogram;
  const auto is_used = [](uint64_t count) { return count != 0; };
  const auto& buckets = histogram_.buckets;
  first_ = static_cast<size_t>(std::ranges::find_if(buckets, is_used) - buckets.begin());
  if (first_ == buckets.size()) {
    first_ = 0;
    return;
  }
  last_ = buckets.size();
  while (buckets[last_ - 1] == 0) --last_;
}

std::span<const SheetColumn> HistogramSheet::columns() const { return kBucketColumns; }

Value HistogramSheet::value(size_t line, size_t column) const {
  const size_t bucket = first_ + line;
  const uint64_t count = histogram_.buckets[bucket];
  switch (static_cast<BucketId>(column)) {
    case kFrom:
      return Value::of(bucket == 0 ? 0 : uint64_t{1} << (bucket - 1));
    case kTo:
      return Value::of(uint64_t{1} << bucket);
    case kIn:
      return Value::of(count);
    case kPart:
      return quotient(Value::of(count), Value::of(histogram_.count), 1000);
    case kBar: {
      const uint64_t most = std::ranges::max(histogram_.buckets);
      const double part =
          static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(most, 1));
      std::string bar;
      for (size_t i = 0; i < static_cast<size_t>(std::ceil(part * 40)); ++i) bar += kHeights[8];
      return Value::of(std::move(bar));
    }
    case kBucketColumns_:
      break;
  }
  return {};
}

Style HistogramSheet::style(size_t, size_t column) const {
  return column == kBar ? Style::Waiting : Style::Plain;
}

}  // namespace strata::top
