// SPDX-License-Identifier: Apache-2.0
#include "state/stat_rows.h"

#include <algorithm>
#include <array>
#include <map>

namespace strata::state {
namespace {

constexpr std::array<std::string_view, kStatKeys> kKeyNames = {
    "machine", "cpu",       "pid",    "tid",  "comm",    "vm",   "vcpu",
    "user",    "container", "cgroup", "mode", "submode", "event"};

// What a task is or belongs to.
constexpr bool is_of_tasks(StatKey key) {
  return key != StatKey::Cpu && key != StatKey::Mode && key != StatKey::Submode &&
         key != StatKey::Event;
}

std::string number_text(Tid tid) { return tid == kNoTid ? "" : std::to_string(raw(tid)); }

void put_task(const Engine& engine, TaskId id, StatRow& row) {
  if (id == kNoTask) return;
  const Task& task = engine.tasks()[id];
  row[StatKey::Pid] = number_text(task.tgid);
  row[StatKey::Tid] = number_text(task.tid);
  row[StatKey::Comm] = engine.names().text(task.name);
  if (const Owner* owner = engine.owner(task.tgid)) {
    row[StatKey::User] = owner->user ? std::to_string(*owner->user) : "";
    row[StatKey::Container] = engine.names().text(owner->container);
    row[StatKey::Cgroup] = engine.names().text(owner->cgroup);
  }
  if (task.vcpu == kNoVcpu) return;
  const Vcpu& vcpu = engine.vms().vcpus()[task.vcpu];
  row[StatKey::Vm] = engine.vm_name(vcpu.vm);
  row[StatKey::Vcpu] = std::to_string(vcpu.number);
}

std::string event_name(const trace::EventType& type) {
  return type.system.empty() ? type.name : type.system + ':' + type.name;
}

void add_to(std::optional<uint64_t>& sum, const std::optional<uint64_t>& ns) {
  if (ns) sum = sum.value_or(0) + *ns;
}

using AddRow = std::function<void(const StatRow&)>;

// A counter's difference knows the mode where there is but one.
void add_counters(const Engine& engine, const std::string& machine, const AddRow& add) {
  const Counters& counters = engine.counters();
  for (const Counters::Charged& charged : counters.charged()) {
    StatRow row;
    row[StatKey::Machine] = machine;
    row[StatKey::Cpu] = std::to_string(charged.cpu);
    Mode mode = Mode::Unknown;
    if (charged.task != kNoTask && engine.tasks()[charged.task].is_idle_task())
      mode = Mode::Idle;
    else if (charged.task != kNoTask && engine.tasks()[charged.task].is_kernel)
      mode = Mode::Kernel;
    row[StatKey::Mode] = name_of(mode);
    put_task(engine, charged.task, row);
    for (size_t i = 0; i < charged.counts.size(); ++i)
      if (charged.counts[i] != 0) row.counters[counters.names()[i]] = charged.counts[i];
    add(row);
  }
}

void add_waiting(const Engine& engine, const std::string& machine, const AddRow& add) {
  for (TaskId id = 0; id < engine.tasks().size(); ++id) {
    const Task& task = engine.tasks()[id];
    StatRow row;
    row.waiting_ns = task.ns[static_cast<size_t>(TaskState::WaitCpu)];
    if (*row.waiting_ns == 0) continue;
    row[StatKey::Machine] = machine;
    put_task(engine, id, row);
    add(row);
  }
}

void add_throttling(const Engine& engine, const std::string& machine, const AddRow& add) {
  for (const auto& [cgroup, counts] : engine.throttling().cgroups()) {
    StatRow row;
    row[StatKey::Machine] = machine;
    row[StatKey::Cgroup] = engine.names().text(cgroup);
    row.throttled_ns = counts.throttled_ns;
    add(row);
  }
}

}  // namespace

std::string_view name_of(StatKey key) { return kKeyNames[static_cast<size_t>(key)]; }

std::optional<StatKey> stat_key(std::string_view name) {
  const auto found = std::ranges::find(kKeyNames, name);
  if (found == kKeyNames.end()) return std::nullopt;
  return static_cast<StatKey>(found - kKeyNames.begin());
}

std::vector<StatRow> stat_rows(const Engine& engine, const std::string& machine,
                               std::span<const StatKey> by, const StatFilter& wanted) {
  std::map<std::array<std::string, kStatKeys>, StatRow> sums;
  const AddRow add = [&](const StatRow& row) {
    if (wanted && !wanted(row)) return;
    std::array<std::string, kStatKeys> keys;
    for (const StatKey key : by) keys[static_cast<size_t>(key)] = row[key];
    StatRow& sum = sums[keys];
    sum.keys = keys;
    sum.count += row.count;
    sum.cpu_ns += row.cpu_ns;
    sum.elapsed_ns += row.elapsed_ns;
    sum.cumulative_ns += row.cumulative_ns;
    for (const auto& [name, count] : row.counters) sum.counters[name] += count;
    add_to(sum.waiting_ns, row.waiting_ns);
    add_to(sum.throttled_ns, row.throttled_ns);
  };
  const std::vector<Slot>& slots = engine.statistics().slots();
  const auto row_of = [&](const Slot& slot) {
    StatRow row;
    row[StatKey::Machine] = machine;
    row[StatKey::Cpu] = std::to_string(slot.cpu);
    row[StatKey::Mode] = name_of(slot.mode);
    row[StatKey::Submode] = engine.names().text(slot.submode);
    put_task(engine, slot.task, row);
    return row;
  };
  for (const Slot& slot : slots) {
    if (slot.cpu_ns == 0 && slot.elapsed_ns == 0) continue;
    StatRow row = row_of(slot);
    row.cpu_ns = slot.cpu_ns;
    row.elapsed_ns = slot.elapsed_ns;
    row.cumulative_ns = slot.cumulative_ns;
    add(row);
  }
  for (const EventCount& counted : engine.statistics().counts()) {
    StatRow row = row_of(slots[counted.slot]);
    row[StatKey::Event] = event_name(*engine.types()[counted.type]);
    row.count = counted.count;
    add(row);
  }
  add_counters(engine, machine, add);
  if (!by.empty() && std::ranges::all_of(by, is_of_tasks)) add_waiting(engine, machine, add);
  const bool by_cgroup = std::ranges::find(by, StatKey::Cgroup) != by.end();
  if (by_cgroup && std::ranges::all_of(by, [](StatKey key) {
        return key == StatKey::Cgroup || key == StatKey::Machine;
      }))
    add_throttling(engine, machine, add);
  std::vector<StatRow> rows;
  for (auto& [keys, sum] : sums) rows.push_back(std::move(sum));
  std::ranges::stable_sort(rows, [](const StatRow& a, const StatRow& b) {
    return a.cpu_ns != b.cpu_ns ? a.cpu_ns > b.cpu_ns : a.count > b.count;
  });
  return rows;
}

}  // namespace strata::state
