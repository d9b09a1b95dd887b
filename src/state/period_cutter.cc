// SPDX-License-Identifier: Apache-2.0
//
// What was at the last edge, and what is counted since.
#include "state/period_cutter.h"

#include <algorithm>

#include "state/period_columns.h"
#include "trace/syscall_arguments.h"

namespace strata::state {
namespace {

using period::Column;

constexpr int64_t kExitCodeMask = 0xff;  // what the kernel keeps of it

uint64_t time_since(int64_t begin, int64_t end) {
  return end > begin ? static_cast<uint64_t>(end - begin) : 0;
}

}  // namespace

PeriodCutter::PeriodCutter(Engine& engine, int64_t begin)
    : engine_(engine), edge_(begin), missed_switches_(engine.missed_switches()) {
  engine_.watch_periods(this);
  // The first table tells of all that are there.
  for (TaskId id = 0; id < engine_.tasks().size(); ++id) {
    const TaskState state = engine_.tasks()[id].state;
    if (state != TaskState::Unknown && state != TaskState::Dead) touch(id);
  }
  for (CpuIndex index = 0; index < engine_.cpus().size(); ++index)
    if (engine_.cpus()[index].is_there) cpu_base(index) = cpu_at(index, edge_);
  for (VcpuIndex index = 0; index < engine_.vms().vcpus().size(); ++index)
    vcpu_base(index) = vcpu_at(index, edge_);
  for (const auto& [id, device] : engine_.block_devices().devices())
    devices_[id].device = device_at(device, edge_);
  interfaces_ = engine_.interfaces();
  interrupts_ = engine_.interrupts();
}

PeriodCutter::~PeriodCutter() { engine_.watch_periods(nullptr); }

void PeriodCutter::count(const trace::Event& event) {
  if (raw(event.cpu) >= Engine::kMostCpus) return;
  const trace::Word word = event.type->meaning.word;
  seen_.set(static_cast<size_t>(word));
  CpuBase& base = cpu_base(raw(event.cpu));
  ++base.events;
  if (word == trace::Word::SchedSwitch) ++base.switches;
  if (event.lost != 0 || event.lost_unknown) [[unlikely]]
    count_lost(event.cpu, event.lost, event.lost_unknown);
}

void PeriodCutter::count_lost(CpuId cpu, uint64_t events, bool more_than_these) {
  if (raw(cpu) >= Engine::kMostCpus) return;
  CpuBase& base = cpu_base(raw(cpu));
  base.lost_events += events;
  ++base.losses;
  if (more_than_these) lost_uncounted_ = true;
}

// It went on with it from the last edge until now.
void PeriodCutter::touch(TaskId id) {
  if (id >= touched_at_.size()) touched_at_.resize(engine_.tasks().size());
  if (touched_at_[id] != 0) return;
  const Task& task = engine_.tasks()[id];
  if (task.is_idle_task()) return;
  Touched& now = touched_.emplace_back(
      Touched{.id = id,
              .before = task.state,
              .was_there = task.born < edge_ || (task.born == edge_ && !task.saw_birth),
              .had_ended = has_ended(task),
              .ns = task.ns,
              .faults = task.faults,
              .major_faults = task.major_faults,
              .migrations = task.migrations,
              .wakeups = task.wakeups,
              .traffic = engine_.descriptors().traffic(id),
              .block = engine_.block_devices().bytes_of(id)});
  now.ns[static_cast<size_t>(task.state)] += time_since(task.since, edge_);
  touched_at_[id] = static_cast<uint32_t>(touched_.size());
}

void PeriodCutter::correct(period::Corrections& corrections, int64_t begin,
                           std::optional<Column> from, std::optional<Column> to,
                           uint64_t weight) const {
  corrections.push_back({begin, edge_, from, to, weight});
}

// From `begin` on it was in this state, and not in that which it seems to be in.
void PeriodCutter::put_right(TaskId id, int64_t begin, TaskState state) {
  const Task& task = engine_.tasks()[id];
  begin = std::max(begin, task.since);
  if (begin >= edge_ || state == task.state) return;
  Touched& now = touched(id);
  const uint64_t ns = time_since(begin, edge_);
  now.ns[static_cast<size_t>(task.state)] -= ns;
  now.ns[static_cast<size_t>(state)] += ns;
  correct(now.corrections, begin, column_of(task.state), column_of(state));
}

void PeriodCutter::change_state(TaskId id, int64_t time, TaskState state) {
  const Task& task = engine_.tasks()[id];
  if (task.is_idle_task()) return;
  Touched& now = touched(id);
  put_right(id, time, state);
  if (is_running(task.state) && !is_running(state)) {
    if (state == TaskState::WaitCpu)
      ++now.preemptions;
    else if (state != TaskState::Unknown)
      ++now.sleeps;
  }
  if (task.state == TaskState::WaitCpu && is_running(state))
    run_queue_.add(time_since(task.began, time));
}

void PeriodCutter::refine_wait(TaskId id, TaskState state) {
  touch(id);
  put_right(id, engine_.tasks()[id].since, state);
}

PeriodCutter::CpuBase& PeriodCutter::cpu_base(CpuIndex index) {
  if (index >= cpus_.size()) cpus_.resize(index + 1);
  CpuBase& base = cpus_[index];
  if (!base.is_there) {  // of which nothing was known so far
    base.is_there = true;
    base.unknown_task_ns = time_since(engine_.begin(), edge_);
    base.ns[static_cast<size_t>(Mode::Unknown)] = base.unknown_task_ns;
  }
  return base;
}

PeriodCutter::CpuBase PeriodCutter::cpu_at(CpuIndex index, int64_t time) const {
  const Cpu& cpu = engine_.cpus()[index];
  CpuBase base{.is_there = true,
               .ns = cpu.ns,
               .unknown_task_ns = engine_.statistics().slots()[cpu.unknown_slot].cpu_ns};
  const uint64_t ns = time_since(cpu.since, time);
  base.ns[static_cast<size_t>(cpu.mode)] += ns;
  if (cpu.slot == cpu.unknown_slot) base.unknown_task_ns += ns;
  return base;
}

void PeriodCutter::lose_cpu(CpuIndex index) {
  const Cpu& cpu = engine_.cpus()[index];
  CpuBase& base = cpu_base(index);
  const int64_t begin = std::max(cpu.since, cpu.last_event);
  if (begin >= edge_) return;
  const uint64_t ns = time_since(begin, edge_);
  if (cpu.mode != Mode::Unknown) {
    base.ns[static_cast<size_t>(cpu.mode)] -= ns;
    base.ns[static_cast<size_t>(Mode::Unknown)] += ns;
    correct(base.corrections, begin, column_of(cpu.mode), Column::Unknown);
  }
  if (cpu.slot != cpu.unknown_slot) {
    base.unknown_task_ns += ns;
    correct(base.corrections, begin, std::nullopt, Column::UnknownTask);
  }
}

PeriodCutter::VcpuBase& PeriodCutter::vcpu_base(VcpuIndex index) {
  while (index >= vcpus_.size())
    vcpus_.emplace_back().ns[static_cast<size_t>(VcpuState::Unknown)] =
        time_since(engine_.begin(), edge_);
  return vcpus_[index];
}

PeriodCutter::VcpuBase PeriodCutter::vcpu_at(VcpuIndex index, int64_t time) const {
  const Vcpu& vcpu = engine_.vms().vcpus()[index];
  VcpuBase base{.ns = vcpu.ns, .exits = vcpu.exits, .events = vcpu.events};
  const uint64_t ns = time_since(vcpu.since, time);
  base.ns[static_cast<size_t>(vcpu.state)] += ns;
  if (vcpu.state == VcpuState::Hypervisor) base.exits[vcpu.info].kernel_ns += ns;
  if (vcpu.state == VcpuState::UserSpace) base.exits[vcpu.info].user_ns += ns;
  return base;
}

void PeriodCutter::change_vcpu(VcpuIndex index, int64_t time, VcpuState state, uint32_t info) {
  const Vcpu& vcpu = engine_.vms().vcpus()[index];
  VcpuBase& base = vcpu_base(index);
  charge_preempter(vcpu, time, base);
  const int64_t begin = std::max(vcpu.since, time);
  if (begin >= edge_ || (vcpu.state == state && vcpu.info == info)) return;
  const uint64_t ns = time_since(begin, edge_);
  if (vcpu.state != state) {
    base.ns[static_cast<size_t>(vcpu.state)] -= ns;
    base.ns[static_cast<size_t>(state)] += ns;
    correct(base.corrections, begin, column_of(vcpu.state), column_of(state));
  }
  if (vcpu.state == VcpuState::Hypervisor || vcpu.state == VcpuState::UserSpace) {
    ExitSum& sum = base.exits[vcpu.info];
    (vcpu.state == VcpuState::Hypervisor ? sum.kernel_ns : sum.user_ns) -= ns;
    correct(base.exit_corrections[vcpu.info], begin, column_of(vcpu.state), std::nullopt);
  }
  if (state == VcpuState::Hypervisor || state == VcpuState::UserSpace) {
    ExitSum& sum = base.exits[info];
    (state == VcpuState::Hypervisor ? sum.kernel_ns : sum.user_ns) += ns;
    correct(base.exit_corrections[info], begin, std::nullopt, column_of(state));
  }
}

// Who wakes it does not keep the CPU from it.
void PeriodCutter::charge_preempter(const Vcpu& vcpu, int64_t time, VcpuBase& base) const {
  if (vcpu.state != VcpuState::Preempted) return;
  const Cause cause = Cause::unpacked(vcpu.info);
  if (cause.context != WakeContext::Preempted || cause.task == kNoTask) return;
  base.preempters[cause.task] += time_since(std::max(vcpu.since, edge_), time);
}

// How a task will end is told by what it hands to the call.
void PeriodCutter::begin_call(const trace::Event& event, TaskId id, NameId syscall) {
  const std::string& name = engine_.names().text(syscall);
  const bool ends_all = name == "exit_group";
  if (!ends_all && name != "exit") return;
  trace::FieldRef* argument = exit_arguments_.find(event.type);
  if (argument == nullptr)
    argument = exit_arguments_.add(
        event.type, trace::syscall_argument(*event.type, 0, {"error_code", "status"}));
  const std::optional<int64_t> code = event.integer(*argument);
  if (!code) return;
  const auto kept = static_cast<uint32_t>(*code & kExitCodeMask);
  exit_codes_[id] = kept;
  const Task& task = engine_.tasks()[id];
  if (ends_all && task.tgid != kNoTid) group_exits_[task.tgid] = {kept, edge_};
}

void PeriodCutter::end_call(TaskId id) {
  const Task& task = engine_.tasks()[id];
  for (uint32_t level = 1; level < task.stack.depth(); ++level) {
    const Frame& frame = task.stack[level];
    if (frame.mode != Mode::Syscall) continue;
    // The call that made it is its parent's.
    if (task.saw_birth && frame.entered == task.born) return;
    ++touched(id).syscalls;
    syscalls_[frame.submode].add(time_since(frame.entered, engine_.now()));
    return;
  }
}

BlockDevice PeriodCutter::device_at(const BlockDevice& device, int64_t time) {
  BlockDevice at = device;
  if (device.in_flight == 0) return at;
  const uint64_t ns = time_since(device.since, time);
  at.busy_ns += ns;
  at.depth_ns += ns * device.in_flight;
  return at;
}

void PeriodCutter::lose_block(int64_t time) {
  for (const auto& [id, device] : engine_.block_devices().devices()) {
    const int64_t begin = std::max(device.since, time);
    if (device.in_flight == 0 || begin >= edge_) continue;
    DeviceBase& base = devices_[id];
    const uint64_t ns = time_since(begin, edge_);
    base.device.busy_ns -= ns;
    base.device.depth_ns -= ns * device.in_flight;
    correct(base.corrections, begin, Column::Busy, std::nullopt);
    correct(base.corrections, begin, Column::Depth, std::nullopt, device.in_flight);
  }
}

void PeriodCutter::charge_counters(TaskId id, CpuIndex cpu, std::span<const uint64_t> counts) {
  const auto add = [&](std::vector<uint64_t>& sums) {
    sums.resize(std::max(sums.size(), counts.size()));
    for (size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  };
  add(cpu_base(cpu).counts);
  if (id != kNoTask && !engine_.tasks()[id].is_idle_task()) add(touched(id).counts);
}

void PeriodCutter::charge_socket(TaskId id, const Traffic& traffic) {
  touched(id).sockets += traffic;
}

PeriodCutter::TouchedFile& PeriodCutter::touched_file(FileId id) {
  const std::vector<File>& all = engine_.descriptors().files().files();
  if (id >= files_at_.size()) files_at_.resize(all.size());
  if (files_at_[id] == 0) {
    files_.push_back({id, all[id].opens, all[id].traffic});
    files_at_[id] = static_cast<uint32_t>(files_.size());
  }
  return files_[files_at_[id] - 1];
}

// It has gone through the other before, whatever it was called: in its own period each byte was
// told once. The sums wrap around and back.
void PeriodCutter::move_traffic(FileId from, FileId to, const Traffic& traffic) {
  Traffic& less = touched_file(from).traffic;
  less.reads -= traffic.reads;
  less.writes -= traffic.writes;
  less.read_bytes -= traffic.read_bytes;
  less.written_bytes -= traffic.written_bytes;
  touched_file(to).traffic += traffic;
}

}  // namespace strata::state
