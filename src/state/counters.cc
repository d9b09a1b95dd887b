// SPDX-License-Identifier: Apache-2.0
#include "state/counters.h"

#include <algorithm>
#include <optional>

namespace strata::state {
namespace {

Tid tid_in(const trace::Event& event, const trace::FieldRef& field, Tid otherwise) {
  const std::optional<int64_t> value = event.integer(field);
  return value ? Tid(static_cast<int32_t>(*value)) : otherwise;
}

uint64_t place_of(TaskId task, CpuIndex cpu) { return uint64_t{task} << 32 | uint64_t{cpu}; }

}  // namespace

bool Counters::add_type(const trace::TraceInfo& trace, const trace::EventType& type) {
  std::optional<trace::CounterReading> reading = counter_reading(trace, type);
  if (!reading) return false;
  const size_t source = source_of(trace, *reading);
  types_.emplace(&type, Type{source, *std::move(reading)});
  return true;
}

// All types of a trace have the same counters.
size_t Counters::source_of(const trace::TraceInfo& trace, const trace::CounterReading& reading) {
  const auto [known, is_new] = source_numbers_.try_emplace(&trace, sources_.size());
  if (!is_new) return known->second;
  Source& source = sources_.emplace_back();
  for (const trace::CounterReading::Counter& counter : reading.counters) {
    const auto name = std::ranges::find(names_, counter.name);
    source.columns.push_back(static_cast<size_t>(name - names_.begin()));
    if (name == names_.end()) names_.push_back(counter.name);
  }
  return known->second;
}

Counters::Ran Counters::ran(const trace::Event& event) const {
  const auto type = types_.find(event.type);
  if (type == types_.end()) return {kNoTid, false};
  const Tid tid = tid_in(event, event.type->tid, kNoTid);
  const auto& last = sources_[type->second.source].last;
  const auto before = last.find(raw(event.cpu));
  const bool lost = event.lost != 0 || event.lost_unknown;
  return {tid, !lost && tid != kNoTid && before != last.end() && before->second.runs == tid};
}

std::span<const uint64_t> Counters::take(const trace::Event& event, TaskId task) {
  const auto found = types_.find(event.type);
  if (found == types_.end()) return {};
  const trace::CounterReading& reading = found->second.reading;
  Source& source = sources_[found->second.source];
  const auto [at, is_first] = source.last.try_emplace(raw(event.cpu));
  Source::Last& last = at->second;
  last.runs = tid_in(event, reading.next_tid, tid_in(event, event.type->tid, kNoTid));
  last.counts.resize(reading.counters.size());
  counted_.assign(names_.size(), 0);
  bool is_nothing = true;
  for (size_t i = 0; i < reading.counters.size() && i < source.columns.size(); ++i) {
    const std::optional<int64_t> count = event.integer(reading.counters[i].count);
    if (!count) continue;
    const auto now = static_cast<uint64_t>(*count);
    const uint64_t before = std::exchange(last.counts[i], now);
    // One that has become smaller is another counter.
    if (is_first || now <= before) continue;
    counted_[source.columns[i]] += now - before;
    is_nothing = false;
  }
  if (is_nothing) return {};
  std::vector<uint64_t>& counts = counts_of(task, raw(event.cpu));
  counts.resize(names_.size());
  for (size_t i = 0; i < counted_.size(); ++i) counts[i] += counted_[i];
  return counted_;
}

std::vector<uint64_t>& Counters::counts_of(TaskId task, CpuIndex cpu) {
  const auto [place, is_new] = places_.try_emplace(place_of(task, cpu), charged_.size());
  if (is_new) charged_.push_back({task, cpu, {}});
  cpus_ = std::max(cpus_, cpu + 1);
  return charged_[place->second].counts;
}

std::vector<uint64_t> Counters::of(TaskId task) const {
  std::vector<uint64_t> sums(names_.size());
  for (CpuIndex cpu = 0; cpu < cpus_; ++cpu) {
    const auto place = places_.find(place_of(task, cpu));
    if (place == places_.end()) continue;
    const std::vector<uint64_t>& counts = charged_[place->second].counts;
    for (size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  }
  return sums;
}

// What has been counted so far is where the next readings go on from.
void Counters::reset() {
  charged_.clear();
  places_.clear();
}

}  // namespace strata::state
