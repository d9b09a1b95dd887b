// SPDX-License-Identifier: Apache-2.0
#include "live/cpu_rows.h"

#include "live/ticks.h"

namespace strata::live {
namespace {

using period::Column;

// What a run costs besides its own time: getting there and back, and for system calls the longer
// way through the kernel. By the slow-down of a ping-pong (docs/live.md).
constexpr uint64_t kAroundNs = 80;

std::array<uint64_t, kCpuDoings> sums_at(const CpuSlot& slot, uint64_t moment) {
  std::array<uint64_t, kCpuDoings> sums;
  std::ranges::copy(slot.ns, sums.begin());
  if (slot.doing < kCpuDoings) sums[slot.doing] += from_to(slot.since, moment);
  return sums;
}

}  // namespace

CpuRows::CpuRows(const Memory& memory, uint64_t now, std::span<const uint32_t> online)
    : memory_(memory),
      is_online_(memory.cpus.size()),
      copies_(memory.cpus.size()),
      known_(memory.cpus.size()) {
  for (CpuSlot& slot : memory_.cpus) slot.since = now;
  for (const uint32_t cpu : online)
    if (cpu < is_online_.size()) is_online_[cpu] = true;
}

void CpuRows::copy() { std::ranges::transform(memory_.cpus, copies_.begin(), copy_of<CpuSlot>); }

void CpuRows::begin(uint64_t moment) {
  for (size_t number = 0; number < known_.size(); ++number) {
    known_[number].slot = copies_[number];
    known_[number].at_edge = sums_at(known_[number].slot, moment);
  }
}

void CpuRows::put_difference(const Known& before, const Known& now, bool tells_calls,
                             period::CpuRow::Values& values) {
  std::array<uint64_t, kCpuDoings> ns;
  for (size_t doing = 0; doing < kCpuDoings; ++doing)
    ns[doing] = from_to(from_to(before.slot.interrupted_ns[doing], now.slot.interrupted_ns[doing]),
                        from_to(before.at_edge[doing], now.at_edge[doing]));
  const Ticks ticks = Ticks{now.slot.tick_user_ns, now.slot.tick_system_ns}.since(
      {before.slot.tick_user_ns, before.slot.tick_system_ns});
  if (!tells_calls && ticks.tell()) {
    const uint64_t in_user = ticks.user_part(ns[kCpuRuns]);
    ns[kCpuRunsUser] += in_user;
    ns[kCpuRunsCall] += ns[kCpuRuns] - in_user;
    ns[kCpuRuns] = 0;
  }
  values.set(Column::Idle, ns[kCpuIdles]);
  values.set(Column::Kernel, ns[kCpuRunsKernel]);
  values.set(Column::User, ns[kCpuRunsUser]);
  values.set(Column::Syscall, ns[kCpuRunsCall]);
  values.set(Column::Unknown, ns[kCpuRuns]);
  values.set(Column::Irq, now.slot.irq_ns - before.slot.irq_ns);
  values.set(Column::Softirq, now.slot.softirq_ns - before.slot.softirq_ns);
  values.set(Column::Events, now.slot.runs - before.slot.runs);
  values.set(Column::Switches, now.slot.switches - before.slot.switches);
  values.set(Column::Frequency, period::kUnknownCell);
}

void CpuRows::tell(uint64_t end, bool tells_calls, period::Machine& machine) {
  uint64_t threads = memory_.control->threads;
  uint64_t processes = memory_.control->processes;
  for (size_t number = 0; number < known_.size(); ++number) {
    Known now{.slot = copies_[number]};
    now.at_edge = sums_at(now.slot, end);
    Known& before = known_[number];
    if (!is_online_[number] && now.slot.runs == 0) continue;
    period::CpuRow& row = machine.cpus.emplace_back();
    row.number = static_cast<uint32_t>(number);
    row.tid = now.slot.tid;
    put_difference(before, now, tells_calls, row.values);
    const CpuSlot& slot = now.slot;
    machine.values.add(Column::Events, row.values[Column::Events]);
    machine.values.add(Column::Switches, row.values[Column::Switches]);
    machine.values.add(Column::Born, slot.born - before.slot.born);
    machine.values.add(Column::Ended, slot.ended - before.slot.ended);
    machine.values.add(Column::MissedSwitches, slot.missed_switches - before.slot.missed_switches);
    machine.values.add(Column::NoRoom, slot.no_room - before.slot.no_room);
    machine.values.add(Column::Observing,
                       (slot.measured_ns - before.slot.measured_ns) * kMeasuredOf +
                           row.values[Column::Events] * kAroundNs);
    threads += slot.born - slot.ended;
    processes += slot.born_processes - slot.ended_processes;
    before = now;
  }
  machine.values.set(Column::Threads, threads);
  machine.values.set(Column::Processes, processes);
}

}  // namespace strata::live
