// SPDX-License-Identifier: Apache-2.0
#include "live/vm_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <unordered_set>

#include "live/exit_reasons.h"
#include "live/task_sums.h"
#include "state/vm.h"

namespace strata::live {
namespace {

using period::Column;

constexpr std::array<Column, kVcpuDoings> kColumnOf = {
    Column::Unknown, Column::Guest,     Column::Hypervisor, Column::UserSpace,
    Column::Halted,  Column::Preempted, Column::Blocked};
constexpr std::array<Column, kVcpuEvents> kEventColumns = {
    Column::Injections, Column::Ipis, Column::Mmio, Column::Pio, Column::Msr, Column::Faults};

ThreadTimes times_of(const TaskSlot& slot, const TaskSums& sums) {
  return {.ran = sums.ns[kRuns],
          .ran_in_user = sums.ns[kRunsInUser],
          .ran_in_call = sums.ns[kRunsInCall] + sums.ns[kExits],
          .interrupted = {slot.irq_ns[0] + slot.softirq_ns[0], slot.irq_ns[1] + slot.softirq_ns[1]},
          .waited = sums.ns[kWaitsForCpu]};
}

// What it does whose thread does this, as charge_vcpu() has it.
VcpuDoing doing_of(const VcpuSlot& slot, Doing thread) {
  if (thread == kWaitsForCpu) return kVcpuIsPreempted;
  if (thread > kExits) return slot.is_halted != 0 ? kVcpuIsHalted : kVcpuIsBlocked;
  if (slot.is_in_guest != 0) return kVcpuIsInGuest;
  if (thread == kRunsInUser) return kVcpuIsInUserSpace;
  if (thread != kRuns || slot.handler == kTheKernel) return kVcpuIsInHypervisor;
  return slot.handler == kTheProgram ? kVcpuIsInUserSpace : kVcpuIsUnknown;
}

std::string text_of(const char (&name)[kNameSize]) { return {name, strnlen(name, kNameSize)}; }

// Who had its CPU longest between the two.
std::string preempter(const VcpuSlot& before, const VcpuSlot& now) {
  const Taker* longest = nullptr;
  uint64_t most = 0;
  for (const Taker& taker : now.takers) {
    const auto* same = std::ranges::find(before.takers, taker.tid, &Taker::tid);
    const uint64_t ns = more_than(same == std::end(before.takers) ? 0 : same->ns, taker.ns);
    if (ns <= most) continue;
    most = ns;
    longest = &taker;
  }
  return longest == nullptr ? "" : text_of(longest->name);
}

bool swap_if_zero(uint32_t& word, uint32_t value) {
  uint32_t zero = 0;
  return __atomic_compare_exchange_n(&word, &zero, value, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

// What was taken for something else was a guest's code.
template <typename Values>
void move_to_virt(uint64_t ns, std::initializer_list<Column> from, Values& values) {
  for (const Column column : from) {
    const uint64_t moved = std::min(ns, values[column]);
    values.take(column, moved);
    values.add(Column::Virt, moved);
    ns -= moved;
  }
}

// It returns to its program, but this KVM never says that it left its guest.
void mark_guests_unknown(period::Marks& marks) {
  for (size_t kind = 0; kind < period::kRowKinds; ++kind)
    for (const Column column : {Column::Virt, Column::Guest})
      if (has_column(period::RowKind(kind), column))
        marks.set(period::RowKind(kind), column, period::Certainty::Unknown);
}

}  // namespace

VmRows::VmRows(const Memory& tasks, const VcpuMemory& vcpus, NameOf name_of)
    : tasks_(tasks),
      memory_(vcpus),
      name_of_(std::move(name_of)),
      guest_ns_(vcpus.cpus.size()),
      guest_ns_before_(vcpus.cpus.size()) {}

// As the programs do it, and maybe while they do.
void VmRows::add(int32_t tid, std::optional<uint32_t> number, uint64_t now) {
  const auto found = std::ranges::find(tasks_.tasks, tid, &TaskSlot::tid);
  if (tid == 0 || found == tasks_.tasks.end()) return;
  const TaskSlot task = copy_of(*found);
  const auto index = static_cast<uint32_t>(found - tasks_.tasks.begin());
  uint32_t& place = memory_.places[index].vcpu;
  if (task.tid != tid || task.has_ended != 0 || load(place) != 0) return;
  for (uint32_t i = 0; i < memory_.vcpus.size(); ++i) {
    VcpuSlot& slot = memory_.vcpus[i];
    if (!swap_if_zero(slot.task, index + 1)) continue;
    slot.number_is_told = number ? 1 : 0;
    slot.number = number.value_or(0);
    slot.began = slot.since = now;
    slot.times = times_of(task, TaskSums::at(task, now));
    slot.reason = kNoReason;
    slot.tid = tid;
    __atomic_store_n(&slot.version, slot.version + 2, __ATOMIC_RELEASE);
    if (swap_if_zero(place, i + 1)) return;
    slot.tid = 0;
    __atomic_store_n(&slot.task, 0, __ATOMIC_RELEASE);
    return;
  }
  ++no_room_;
}

// Of a thread that has run for the last time: nobody else writes to it.
void VmRows::free(VcpuSlot& slot) {
  VcpuSlot nobody{};
  nobody.version = slot.version + 2;
  nobody.task = slot.task;
  __atomic_store_n(&memory_.places[slot.task - 1].vcpu, 0, __ATOMIC_RELEASE);
  slot = nobody;
  __atomic_store_n(&slot.task, 0, __ATOMIC_RELEASE);
}

void VmRows::copy() {
  for (size_t i = 0; i < memory_.cpus.size(); ++i) guest_ns_[i] = load(memory_.cpus[i].guest_ns);
  for (size_t i = 0; i < memory_.vcpus.size(); ++i) {
    const VcpuSlot& slot = memory_.vcpus[i];
    // The first that is free is taken, so nobody ever had those behind.
    if (load(slot.version) == 0 && load(slot.task) == 0) break;
    if (i == known_.size()) known_.emplace_back();
    known_[i].is_copied = copy(slot, known_[i]);
  }
}

// False: there is none. It is charged by what its thread did, so both are of one moment.
bool VmRows::copy(const VcpuSlot& slot, Known& known) const {
  constexpr int kTries = 3;
  for (int tries = 0; tries < kTries; ++tries) {
    if (load(slot.version) != known.copy.version) known.copy = copy_of(slot);
    const uint32_t index = known.copy.task - 1;
    if (load(slot.task) == 0 || index >= tasks_.tasks.size() || known.copy.tid == 0) return false;
    known.task = copy_of(tasks_.tasks[index]);
    if (load(slot.version) == known.copy.version) break;
  }
  return known.task.tid == known.copy.tid;
}

// As it was at that moment. It ends with its thread, and was charged then.
VcpuSlot VmRows::charged(const Known& known, uint64_t moment) {
  VcpuSlot slot = known.copy;
  if (known.task.has_ended != 0) return slot;
  const ThreadTimes times = times_of(known.task, TaskSums::at(known.task, moment));
  const uint64_t guest_ns = charge_vcpu(&slot, &times, moment);
  if (const auto cpu = static_cast<size_t>(known.task.cpu); cpu < guest_ns_.size())
    guest_ns_[cpu] += guest_ns;
  return slot;
}

void VmRows::begin(uint64_t moment) {
  for (Known& known : known_)
    if (known.is_copied) known.edge = charged(known, moment);
  guest_ns_before_ = guest_ns_;
}

period::VcpuRow VmRows::row_of(const Known& known, const VcpuSlot& now, uint64_t end,
                               const std::vector<period::VcpuRow>& others) {
  const VcpuSlot& before = known.edge;
  period::VcpuRow row{.tid = now.tid,
                      .pid = known.task.pid,
                      .vm = name(known.task.pid),
                      .number = number_of(known, others),
                      .state = kColumnOf[doing_of(now, TaskSums::at(known.task, end).doing)],
                      .preempter = preempter(before, now)};
  for (size_t doing = 0; doing < kVcpuDoings; ++doing)
    row.values.set(kColumnOf[doing], more_than(before.ns[doing], now.ns[doing]));
  for (size_t event = 0; event < kVcpuEvents; ++event)
    row.values.set(kEventColumns[event], more_than(before.events[event], now.events[event]));
  return row;
}

void VmRows::tell_exits(const VcpuSlot& before, const VcpuSlot& now, period::VcpuRow& row,
                        Exits& exits) {
  for (uint32_t place = 0; place < kReasons; ++place) {
    const ExitSum& old = before.exits[place];
    const ExitSum& sum = now.exits[place];
    const std::array<std::pair<Column, uint64_t>, 3> more = {
        {{Column::Exits, more_than(old.count, sum.count)},
         {Column::Hypervisor, more_than(old.kernel_ns, sum.kernel_ns)},
         {Column::UserSpace, more_than(old.program_ns, sum.program_ns)}}};
    if (std::ranges::all_of(more, [](const auto& cell) { return cell.second == 0; })) continue;
    period::ExitRow::Values& values = exits[{row.pid, exit_reason(now.isa, place)}];
    for (const auto& [column, value] : more) values.add(column, value);
    row.values.add(Column::Exits, more[0].second);
  }
}

void VmRows::tell(uint64_t begin, uint64_t end, bool tells_calls, period::Machine& machine) {
  const std::unordered_map<int32_t, Told> before = std::exchange(told_, {});
  Exits exits;
  std::unordered_set<int32_t> processes;
  for (size_t i = 0; i < known_.size(); ++i) {
    Known& known = known_[i];
    if (!known.is_copied) continue;
    const bool was_there = known.edge.tid == known.copy.tid;
    if (!was_there) known.edge = {};
    const VcpuSlot now = charged(known, end);
    period::VcpuRow row = row_of(known, now, end, machine.vcpus);
    if (!was_there) row.values.add(Column::Unknown, more_than(begin, now.began));
    tell_exits(known.edge, now, row, exits);
    processes.insert(row.pid);
    const auto same = before.find(row.tid);
    told_[row.tid] = {.number = row.number,
                      .guest_ns = row.values[Column::Guest],
                      .is_in_guest = row.state == Column::Guest,
                      .was_in_guest = same != before.end() && same->second.is_in_guest};
    machine.vcpus.push_back(std::move(row));
    if (now.handler == kTheProgram && now.reason == kNoReason) mark_guests_unknown(machine.marks);
    known.edge = now;
    if (known.task.doing >= kIsZombie) free(memory_.vcpus[i]);
  }
  std::erase_if(names_, [&](const auto& name) { return !processes.contains(name.first); });
  for (const auto& [key, values] : exits)
    machine.exits.push_back({.pid = key.first, .reason = key.second, .values = values});
  tell_tasks(tells_calls, machine.tasks);
  tell_cpus(tells_calls, machine.cpus);
  machine.values.add(Column::NoRoom, std::exchange(no_room_, 0));
}

void VmRows::tell_tasks(bool tells_calls, std::vector<period::TaskRow>& rows) const {
  if (told_.empty()) return;
  for (period::TaskRow& row : rows) {
    if (const auto name = names_.find(row.pid); name != names_.end()) row.vm = name->second;
    const auto told = told_.find(row.tid);
    if (told == told_.end()) continue;
    row.vcpu = told->second.number;
    if (told->second.is_in_guest) row.state = Column::Virt;
    if (told->second.was_in_guest && row.state_before) row.state_before = Column::Virt;
    using enum Column;
    if (tells_calls)
      move_to_virt(told->second.guest_ns, {Syscall, Running, User}, row.values);
    else  // the kernel's ticks take it for the program's own code
      move_to_virt(told->second.guest_ns, {User, Running, Syscall}, row.values);
  }
}

void VmRows::tell_cpus(bool tells_calls, std::vector<period::CpuRow>& rows) {
  for (period::CpuRow& row : rows) {
    if (row.number >= guest_ns_.size()) continue;
    const uint64_t ns = more_than(guest_ns_before_[row.number], guest_ns_[row.number]);
    using enum Column;
    if (tells_calls)
      move_to_virt(ns, {Syscall, Unknown, User}, row.values);
    else
      move_to_virt(ns, {User, Unknown, Syscall}, row.values);
  }
  guest_ns_before_ = guest_ns_;
}

const std::string& VmRows::name(int32_t pid) {
  const auto [name, is_new] = names_.try_emplace(pid);
  if (is_new) name->second = name_of_(pid);
  if (name->second.empty()) name->second = "vm-" + std::to_string(pid);
  return name->second;
}

// KVM tells it with the first exit, and many programs in their threads' names. Otherwise virtual
// CPUs are counted in the order in which they came.
uint32_t VmRows::number_of(const Known& known, const std::vector<period::VcpuRow>& others) {
  if (known.copy.number_is_told != 0) return known.copy.number;
  if (const auto number = state::vcpu_number_in(text_of(known.task.name))) return *number;
  return static_cast<uint32_t>(std::ranges::count(others, known.task.pid, &period::VcpuRow::pid));
}

}  // namespace strata::live
