// SPDX-License-Identifier: Apache-2.0
#include "state/stat_rows.h"

#include <algorithm>
#include <array>
#include <map>

namespace strata::state {
namespace {

constexpr std::array<std::string_view, kStatKeys> kKeyNames = {
    "machine", "cpu",  "pid",       "tid",  "comm",    "vm",
    "vcpu",    "user", "container", "mode", "submode", "event"};

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
  }
  if (task.vcpu == kNoVcpu) return;
  const Vcpu& vcpu = engine.vms().vcpus()[task.vcpu];
  row[StatKey::Vm] = engine.vm_name(vcpu.vm);
  row[StatKey::Vcpu] = std::to_string(vcpu.number);
}

std::string event_name(const trace::EventType& type) {
  return type.system.empty() ? type.name : type.system + ':' + type.name;
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
  const auto add = [&](const StatRow& row) {
    if (wanted && !wanted(row)) return;
    std::array<std::string, kStatKeys> keys;
    for (const StatKey key : by) keys[static_cast<size_t>(key)] = row[key];
    StatRow& sum = sums[keys];
    sum.keys = keys;
    sum.count += row.count;
    sum.cpu_ns += row.cpu_ns;
    sum.elapsed_ns += row.elapsed_ns;
    sum.cumulative_ns += row.cumulative_ns;
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
  std::vector<StatRow> rows;
  for (auto& [keys, sum] : sums) rows.push_back(std::move(sum));
  std::ranges::stable_sort(rows, [](const StatRow& a, const StatRow& b) {
    return a.cpu_ns != b.cpu_ns ? a.cpu_ns > b.cpu_ns : a.count > b.count;
  });
  return rows;
}

}  // namespace strata::state
