// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "period/table.h"
#include "top/sheet.h"

namespace strata::top {

// What takes time again and again: how often, how long, and the shape of it.
class LatencySheet : public Sheet {
 public:
  explicit LatencySheet(const period::Machine& machine) : machine_(machine) {}

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return machine_.latencies.size(); }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override { return key_of(machine_.latencies[line]); }
  Style style(size_t line, size_t column) const override;

  static LineKey key_of(const period::LatencyRow& row);

 private:
  const period::Machine& machine_;
};

// One of them: how many took how long.
class HistogramSheet : public Sheet {
 public:
  HistogramSheet(const period::Machine& machine, const LineKey& latency);

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return last_ - first_; }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override { return {first_ + line}; }
  Style style(size_t line, size_t column) const override;

 private:
  period::Histogram histogram_;
  size_t first_ = 0;  // bucket with something in it, and the one behind the last
  size_t last_ = 0;
};

}  // namespace strata::top
