// SPDX-License-Identifier: Apache-2.0
#include "live/task_sums.h"

#include <algorithm>

#include "live/ticks.h"

namespace strata::live {
namespace {

using period::Column;

// Takes as much of `ns` as is there, and leaves the rest.
void take(uint64_t& from, uint64_t& ns) {
  const uint64_t taken = std::min(from, ns);
  from -= taken;
  ns -= taken;
}

bool may_be_woken(uint32_t doing) {
  return (doing >= kWaitsForOther && doing <= kWaitsForFault) || doing == kIsNew ||
         doing == kIsStopped;
}

}  // namespace

TaskSums TaskSums::at(const TaskSlot& slot, uint64_t moment) {
  TaskSums sums;
  std::ranges::copy(slot.ns, sums.ns.begin());
  sums.wakeups = slot.wakeups;
  if (slot.doing >= kDoings) return sums;
  sums.doing = static_cast<Doing>(slot.doing);
  if (moment <= slot.since) return sums;
  if (!may_be_woken(slot.doing) || slot.woken_at <= slot.since || slot.woken_at >= moment) {
    sums.ns[sums.doing] += moment - slot.since;
    return sums;
  }
  sums.ns[sums.doing] += slot.woken_at - slot.since;
  sums.ns[kWaitsForCpu] += moment - slot.woken_at;
  sums.doing = kWaitsForCpu;
  ++sums.wakeups;
  return sums;
}

Column column_of(Doing doing, bool is_kernel) {
  using enum Column;
  constexpr std::array<Column, kDoings> kOf = {
      Running, User,      Syscall,   Exiting,   WaitCpu,   WaitOther, WaitPipe, WaitPoll, WaitDisk,
      WaitNet, WaitFutex, WaitTimer, WaitChild, WaitFault, New,       Stopped,  Zombie,   Unknown};
  return is_kernel && doing <= kRunsInCall ? Kernel : kOf[doing];
}

void put_difference(const TaskSlot& before, const TaskSums& before_sums, const TaskSlot& now,
                    const TaskSums& now_sums, bool tells_calls, period::TaskRow::Values& values) {
  std::array<uint64_t, kDoings> ns;
  for (size_t doing = 0; doing < kDoings; ++doing)
    ns[doing] = from_to(before_sums.ns[doing], now_sums.ns[doing]);

  // What interrupts took was not the task's.
  std::array<uint64_t, 2> interrupted = {};
  for (size_t in_call = 0; in_call < 2; ++in_call) {
    const uint64_t irq = from_to(before.irq_ns[in_call], now.irq_ns[in_call]);
    const uint64_t softirq = from_to(before.softirq_ns[in_call], now.softirq_ns[in_call]);
    values.add(Column::Irq, irq);
    values.add(Column::Softirq, softirq);
    interrupted[in_call] = irq + softirq;
  }
  for (const Doing doing : {kRuns, kRunsInUser, kExits}) take(ns[doing], interrupted[0]);
  take(ns[kRunsInCall], interrupted[1]);

  const bool is_kernel = now.is_kernel != 0;
  const Ticks ticks =
      Ticks{now.user_time, now.system_time}.since({before.user_time, before.system_time});
  if (!tells_calls && !is_kernel && ticks.tell()) {
    const uint64_t in_user = ticks.user_part(ns[kRuns]);
    ns[kRunsInUser] += in_user;
    ns[kRunsInCall] += ns[kRuns] - in_user;
    ns[kRuns] = 0;
  }
  for (size_t doing = 0; doing < kIsDead; ++doing)
    values.add(column_of(static_cast<Doing>(doing), is_kernel), ns[doing]);

  values.set(Column::Preemptions, now.preemptions - before.preemptions);
  values.set(Column::Sleeps, now.sleeps - before.sleeps);
  values.set(Column::Migrations, now.migrations - before.migrations);
  values.set(Column::Wakeups, now_sums.wakeups - before_sums.wakeups);
  values.set(Column::Syscalls, now.syscalls - before.syscalls);
  values.set(Column::Reads, now.reads - before.reads);
  values.set(Column::Writes, now.writes - before.writes);
  values.set(Column::ReadBytes, now.read_bytes - before.read_bytes);
  values.set(Column::WrittenBytes, now.written_bytes - before.written_bytes);
  values.set(Column::NetReadBytes, now.net_read_bytes - before.net_read_bytes);
  values.set(Column::NetWrittenBytes, now.net_written_bytes - before.net_written_bytes);
  values.set(Column::InCalls, now.in_calls_ns - before.in_calls_ns);
  values.set(Column::DiskReadBytes, from_to(before.disk_read_bytes, now.disk_read_bytes));
  values.set(Column::DiskWrittenBytes, from_to(before.disk_written_bytes, now.disk_written_bytes));
  const uint64_t major = from_to(before.major_faults, now.major_faults);
  values.set(Column::Faults, from_to(before.minor_faults, now.minor_faults) + major);
  values.set(Column::MajorFaults, major);
}

}  // namespace strata::live
