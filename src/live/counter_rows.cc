// SPDX-License-Identifier: Apache-2.0
#include "live/counter_rows.h"

#include <utility>

#include "base/units.h"
#include "live/slots.h"

namespace strata::live {
namespace {

using period::Certainty;
using period::Column;
using period::RowKind;

// So much in the whole time, by the part of it in which it was counted.
uint64_t scaled(uint64_t count, uint64_t left_out_ns, uint64_t ns) {
  if (left_out_ns == 0) return count;
  if (left_out_ns >= ns) return count == 0 ? period::kUnknownCell : count;
  return static_cast<uint64_t>(saturated(Int128{count} * ns / (ns - left_out_ns)));
}

}  // namespace

CounterRows::CounterRows(std::span<Counts> tasks, std::span<CpuCounters> cpus,
                         std::vector<Column> columns)
    : tasks_(tasks), cpus_(cpus), columns_(std::move(columns)), cpus_told_(cpus.size()) {
  are_estimates_.set();
}

bool CounterRows::has_news(uint32_t slot) const {
  const auto told = told_.find(slot);
  return load(tasks_[slot].version) != (told == told_.end() ? 0 : told->second.version);
}

bool CounterRows::tell(uint32_t slot, period::TaskRow::Values& values) {
  if (!has_news(slot)) return false;
  Counts& told = told_[slot];
  const Counts now = copy_of(tasks_[slot]);
  const Counts before = std::exchange(told, now);
  return put_difference(before, now, values);
}

void CounterRows::forget(uint32_t slot) {
  tasks_[slot] = {};
  told_.erase(slot);
}

void CounterRows::tell(period::Machine& machine) {
  for (period::CpuRow& row : machine.cpus) {
    if (row.number >= cpus_.size()) continue;
    CpuTold& told = cpus_told_[row.number];
    const Counts now = copy_of(cpus_[row.number].counts);
    put_difference(std::exchange(told.counts, now), now, row.values);
    const uint64_t unread = load(cpus_[row.number].unread);
    if (std::exchange(told.unread, unread) != unread) are_estimates_.set();
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto certainty = are_estimates_[i] ? Certainty::Estimated : Certainty::Exact;
    for (const RowKind kind : {RowKind::Machine, RowKind::Cpu, RowKind::Task})
      machine.marks.set(kind, columns_[i], certainty);
  }
  are_estimates_.reset();
}

template <typename Values>
bool CounterRows::put_difference(const Counts& before, const Counts& now, Values& values) {
  bool is_something = false;
  const uint64_t ns = now.ns - before.ns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const uint64_t count = now.counters[i].count - before.counters[i].count;
    const uint64_t left_out = now.counters[i].left_out_ns - before.counters[i].left_out_ns;
    if (left_out != 0) are_estimates_.set(i);
    values.set(columns_[i], scaled(count, left_out, ns));
    is_something = is_something || count != 0;
  }
  return is_something;
}

}  // namespace strata::live
