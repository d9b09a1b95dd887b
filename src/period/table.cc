// SPDX-License-Identifier: Apache-2.0
#include "period/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/units.h"

namespace strata::period {
namespace {

uint64_t time_between(int64_t begin, int64_t end) {
  return end > begin ? static_cast<uint64_t>(saturated(Int128{end} - begin)) : 0;
}

// A row's part in a table that begins then: what lies before stays a correction.
template <typename Row>
void correct(Row& row, const Corrections& corrections, int64_t begin) {
  for (Correction correction : corrections) {
    const uint64_t ns = time_between(std::max(correction.begin, begin), correction.end);
    const UInt128 all = UInt128{ns} * correction.weight;
    const uint64_t most = correction.from ? row.values[*correction.from] : kUnknownCell - 1;
    const auto amount = static_cast<uint64_t>(std::min<UInt128>(all, most));
    if (correction.from) row.values.take(*correction.from, amount);
    if (correction.to) row.values.add(*correction.to, amount);
    correction.end = std::min(correction.end, begin);
    if (correction.begin < correction.end) row.corrections.push_back(correction);
  }
}

// Where the two tables meet.
struct Seam {
  int64_t begin = 0;  // of the first
  int64_t at = 0;
  int64_t end = 0;  // of the second
};

void continue_without_row(TaskRow& row, const Seam& seam) {
  if (row.state) row.values.add(*row.state, time_between(seam.at, seam.end));
}
void continue_without_row(CpuRow&, const Seam&) {}
void continue_without_row(VcpuRow& row, const Seam& seam) {
  if (row.state) row.values.add(*row.state, time_between(seam.at, seam.end));
}
void continue_without_row(auto&, const Seam&) {}

void begin_without_row(TaskRow& row, const Seam& seam) {
  if (row.state_before)
    row.values.add(*row.state_before, time_between(std::max(seam.begin, row.start), seam.at));
}
void begin_without_row(CpuRow& row, const Seam& seam) {
  const uint64_t ns = time_between(seam.begin, seam.at);
  row.values.add(Column::Unknown, ns);
  row.values.add(Column::UnknownTask, ns);
}
void begin_without_row(VcpuRow& row, const Seam& seam) {
  row.values.add(Column::Unknown, time_between(seam.begin, seam.at));
}
void begin_without_row(auto&, const Seam&) {}

void describe(TaskRow& row, const TaskRow& later) {
  if (later.pid != kNoId) row.pid = later.pid;
  if (later.parent != kNoId) row.parent = later.parent;
  if (!later.name.empty()) row.name = later.name;
  if (later.user) row.user = later.user;
  if (!later.container.empty()) row.container = later.container;
  if (!later.cgroup.empty()) row.cgroup = later.cgroup;
  if (!later.vm.empty()) row.vm = later.vm;
  if (later.vcpu) row.vcpu = later.vcpu;
  if (later.cpu) row.cpu = later.cpu;
  if (later.exit_code) row.exit_code = later.exit_code;
  if (later.exit_signal) row.exit_signal = later.exit_signal;
  row.is_kernel = row.is_kernel || later.is_kernel;
  row.was_born = row.was_born || later.was_born;
  row.has_ended = row.has_ended || later.has_ended;
  row.state = later.state;
}
void describe(CpuRow& row, const CpuRow& later) { row.tid = later.tid; }
void describe(VcpuRow& row, const VcpuRow& later) {
  row.pid = later.pid;
  row.vm = later.vm;
  row.number = later.number;
  row.state = later.state;
  if (!later.preempter.empty()) row.preempter = later.preempter;
}
void describe(DeviceRow& row, const DeviceRow& later) {
  if (!later.name.empty()) row.name = later.name;
}
void describe(LatencyRow& row, const LatencyRow& later) { row.histogram += later.histogram; }
void describe(auto&, const auto&) {}

template <typename Row>
void append_rows(std::vector<Row>& rows, const std::vector<Row>& next, const Seam& seam) {
  const size_t before = rows.size();
  std::vector<size_t> order(before);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key_of = [&](size_t i) { return rows[i].key(); };
  std::ranges::sort(order, {}, key_of);
  std::vector<bool> has_next(before);
  for (const Row& later : next) {
    const auto found = std::ranges::lower_bound(order, later.key(), {}, key_of);
    const bool is_new = found == order.end() || rows[*found].key() != later.key();
    if (is_new) {
      rows.push_back(later);
      begin_without_row(rows.back(), seam);
    } else {
      has_next[*found] = true;
      rows[*found].values.combine(later.values);
      describe(rows[*found], later);
    }
    if constexpr (requires { later.corrections; }) {
      Row& row = is_new ? rows.back() : rows[*found];
      if (is_new) row.corrections.clear();
      correct(row, later.corrections, seam.begin);
    }
  }
  for (size_t i = 0; i < before; ++i)
    if (!has_next[i]) continue_without_row(rows[i], seam);
}

void append_machine(Machine& machine, const Machine& next, const Seam& seam) {
  machine.values.combine(next.values);
  machine.marks.combine(next.marks);
  append_rows(machine.cpus, next.cpus, seam);
  append_rows(machine.tasks, next.tasks, seam);
  append_rows(machine.vcpus, next.vcpus, seam);
  append_rows(machine.exits, next.exits, seam);
  append_rows(machine.files, next.files, seam);
  append_rows(machine.descriptors, next.descriptors, seam);
  append_rows(machine.devices, next.devices, seam);
  append_rows(machine.interfaces, next.interfaces, seam);
  append_rows(machine.latencies, next.latencies, seam);
  machine.add_up();
}

// A machine of which the next table tells nothing.
Machine nothing_of(const Machine& machine) {
  Machine nothing{.name = machine.name, .marks = machine.marks};
  for (const Column column : Machine::Values::kOrder)
    if (info_of(column).combining == Combining::Last) nothing.values.set(column, kUnknownCell);
  return nothing;
}

}  // namespace

std::string_view name_of(FileIdentity identity) {
  constexpr std::array<std::string_view, 3> kNames = {"name", "inode", "cookie"};
  return kNames[static_cast<size_t>(identity)];
}

std::string_view name_of(Latency latency) {
  constexpr std::array<std::string_view, 6> kNames = {"run-queue", "syscall",    "irq",
                                                      "softirq",   "block-wait", "block-service"};
  return kNames[static_cast<size_t>(latency)];
}

std::string_view name_of(Source source) { return source == Source::Trace ? "trace" : "live"; }

uint64_t Histogram::below_ns(double part) const {
  const double wanted = std::ceil(part * static_cast<double>(count));
  double seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += static_cast<double>(buckets[i]);
    if (seen >= wanted) return uint64_t{1} << i;
  }
  return uint64_t{1} << (kBuckets - 1);
}

uint64_t TaskRow::on_cpu_ns() const {
  uint64_t sum = 0;
  for (const Column column : Values::kOrder)
    if (is_on_cpu(column)) sum += values[column];
  return sum;
}

uint64_t TaskRow::blocked_ns() const {
  uint64_t sum = 0;
  for (const Column column : Values::kOrder)
    if (is_blocked(column)) sum += values[column];
  return sum;
}

void Marks::combine(const Marks& other) {
  for (size_t kind = 0; kind < kRowKinds; ++kind) {
    for (size_t column = 0; column < kColumnCount; ++column) {
      Certainty& mark = marks_[kind][column];
      if (mark != other.marks_[kind][column]) mark = Certainty::Estimated;
    }
  }
}

void Machine::add_up() {
  for (const Column column : Values::kOrder) {
    if (!has_column(RowKind::Cpu, column)) continue;
    if (!is_time(column) && !is_counter(column)) continue;
    values.set(column, 0);
    for (const CpuRow& cpu : cpus) values.add(column, cpu.values[column]);
  }
  vms.clear();
  std::unordered_map<int32_t, size_t> places;
  for (const VcpuRow& vcpu : vcpus) {
    const auto [place, is_new] = places.emplace(vcpu.pid, vms.size());
    if (is_new) vms.push_back(VmRow{.pid = vcpu.pid, .name = vcpu.vm});
    VmRow& vm = vms[place->second];
    ++vm.vcpus;
    for (const Column column : VmRow::Values::kOrder) vm.values.add(column, vcpu.values[column]);
  }
}

bool Table::append(const Table& next) {
  if (next.begin != end) return false;
  const Seam seam{begin, end, next.end};
  for (const Machine& later : next.machines) {
    auto found = std::ranges::find(machines, later.name, &Machine::name);
    if (found == machines.end())
      found = machines.insert(machines.end(), Machine{.name = later.name, .marks = later.marks});
    append_machine(*found, later, seam);
  }
  for (Machine& machine : machines) {
    if (std::ranges::find(next.machines, machine.name, &Machine::name) != next.machines.end())
      continue;
    append_machine(machine, nothing_of(machine), seam);
  }
  end = next.end;
  return true;
}

}  // namespace strata::period
