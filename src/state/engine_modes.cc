// SPDX-License-Identifier: Apache-2.0
//
// Stacks of modes: system calls, traps, interrupts, idling.
#include <array>

#include "state/engine.h"
#include "state/period_cutter.h"
#include "trace/syscall_names.h"

namespace strata::state {
namespace {

constexpr std::array<std::string_view, 10> kVectors = {
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
constexpr uint64_t kMostNumbers = 1024;

// Of a number that comes again and again: its name is made once. make() gives it.
template <typename Make>
NameId name_of_number(int64_t number, std::vector<NameId>& known, Names& names, Make&& make) {
  const auto at = static_cast<uint64_t>(number);
  if (at < known.size() && known[at] != kNoName) [[likely]]
    return known[at];
  const NameId id = names.id(make());
  if (at >= kMostNumbers) return id;
  if (at >= known.size()) known.resize(at + 1);
  return known[at] = id;
}

}  // namespace

void Engine::apply(const trace::Event& event, const TypeUse* use) {
  if (use == nullptr) return;
  Cpu& cpu = cpus_[raw(event.cpu)];
  switch (use->word) {
    case Word::SchedSwitch:
      return on_switch(event, cpu);
    case Word::SchedWaking:
    case Word::SchedWakeup:
    case Word::SchedWakeupNew:
      return on_wakeup(event, cpu);
    case Word::SyscallEntry:
      return on_syscall_entry(
          event, cpu,
          use->submode != kNoName ? use->submode : syscall_name(part(event, Role::Number)));
    case Word::SyscallExit:
      return on_syscall_exit(event, cpu);
    case Word::IrqEntry:
      return enter_interrupt(cpu, Mode::Irq, interrupt_name(event, *use));
    case Word::IrqExit:
      return leave_interrupt(cpu, Mode::Irq);
    case Word::SoftirqEntry:
      return enter_interrupt(cpu, Mode::Softirq, vector_name(part(event, Role::Vector)));
    case Word::SoftirqExit:
      return leave_interrupt(cpu, Mode::Softirq);
    case Word::TrapEntry:
      return push(cpu, Mode::Trap, names_.id(std::to_string(part(event, Role::Vector))));
    case Word::TrapExit:
      settle(cpu, now_);
      if (pop(cpu, Mode::Trap)) show(cpu);
      return;
    case Word::FaultInUser:
    case Word::FaultInKernel:
      return on_fault(cpu, use->word == Word::FaultInUser);
    case Word::SchedMigrate:
      return on_migrate(event, cpu);
    case Word::TaskNew:
    case Word::TaskFork:
      return on_new_task(event, cpu);
    case Word::TaskExec:
      return on_exec(cpu);
    case Word::TaskExit:
      return on_exit(event, cpu);
    case Word::TaskFree:
      return on_free(event);
    case Word::TaskRename:
      return name_task(task_of(Tid(static_cast<int32_t>(part(event, Role::Tid)))),
                       event.text(event.type->meaning.part(Role::Comm)));
    case Word::VmEntry:
      return on_vm_entry(event, cpu);
    case Word::VmExit:
      return on_vm_exit(event, cpu);
    case Word::VmUserExit:
      return on_vm_user_exit(cpu);
    case Word::VmInjection:
      return count_vcpu_event(cpu, VcpuEvent::Injection);
    case Word::VmIpi:
      return count_vcpu_event(cpu, VcpuEvent::Ipi);
    case Word::VmMmio:
      return count_vcpu_event(cpu, VcpuEvent::Mmio);
    case Word::VmPio:
      return count_vcpu_event(cpu, VcpuEvent::Pio);
    case Word::VmMsr:
      return count_vcpu_event(cpu, VcpuEvent::Msr);
    case Word::VmPageFault:
      return count_vcpu_event(cpu, VcpuEvent::PageFault);
    case Word::CpuIdle:
      return on_idle(event, cpu);
    case Word::CpuFrequency:
      return on_frequency(event, cpu);
    case Word::StateTask:
      return on_state_task(event);
    case Word::StateProcess:
    case Word::StateContainer:
      return on_state_owner(event);
    case Word::StateDescriptor:
    case Word::StateSocket:
      return on_state_file(event);
    case Word::StateVm:
    case Word::StateVcpu:
      return on_state_vm(event);
    case Word::None:
      if (use->is_sample) on_sample(event, cpu);
      return;
    default:
      return on_device(event, cpu);
  }
}

void Engine::enter(Task& task, Frame& frame, CpuIndex cpu, Mode mode, NameId submode) {
  frame = {mode, submode, slot_of(task, cpu, mode, submode), cpu, now_, task.cpu_ns};
  if (submode == affinity_call_) ++setting_affinity_;
}

void Engine::leave(const Task& task, const Frame& frame) {
  if (frame.cpu == kNoCpu) return;  // it never ran in it
  Slot& slot = statistics_[frame.slot];
  slot.elapsed_ns += static_cast<uint64_t>(now_ - frame.entered);
  slot.cumulative_ns += task.cpu_ns - frame.cpu_at_entry;
}

void Engine::unwind(Task& task, uint32_t depth) {
  for (; task.stack.depth() > depth; task.stack.pop()) {
    leave(task, task.stack.top());
    if (task.stack.top().submode == affinity_call_) --setting_affinity_;
  }
}

// Ends all that it was in. What is at the bottom then, it has not run in yet.
void Engine::reset_stack(Task& task, Mode mode) {
  unwind(task, 1);
  leave(task, task.stack.top());
  task.stack.top() = Frame{.mode = mode, .entered = now_, .cpu_at_entry = task.cpu_ns};
}

// What a task is at the bottom, now that it is told: everything above has ended.
void Engine::set_bottom(Task& task, CpuIndex cpu, Mode mode) {
  unwind(task, 1);
  if (task.stack.top().mode == mode) return;
  leave(task, task.stack.top());
  enter(task, task.stack.top(), cpu, mode, kNoName);
}

void Engine::push(Cpu& cpu, Mode mode, NameId submode) {
  if (!cpu.runs_task()) return;
  settle(cpu, now_);
  Task& task = *cpu.running;
  if (Frame* frame = task.stack.push()) enter(task, *frame, cpu.index, mode, submode);
  show(cpu);
}

bool Engine::pop(Cpu& cpu, Mode mode) {
  if (cpu.running == nullptr) return false;
  Task& task = *cpu.running;
  for (uint32_t level = task.stack.depth() - 1; level > 0; --level) {
    if (task.stack[level].mode != mode) continue;
    unwind(task, level);
    return true;
  }
  return false;
}

// Whoever calls the kernel was in its own code before.
void Engine::on_syscall_entry(const trace::Event& event, Cpu& cpu, NameId syscall) {
  if (!cpu.runs_task()) return;
  if (cutter_ != nullptr) cutter_->begin_call(event, cpu.task, syscall);
  settle(cpu, now_);
  set_bottom(*cpu.running, cpu.index, Mode::User);
  push(cpu, Mode::Syscall, syscall);
  descriptors_.enter(event, cpu.task, syscall);
}

void Engine::on_syscall_exit(const trace::Event& event, Cpu& cpu) {
  if (!cpu.runs_task()) return;
  if (cutter_ != nullptr) cutter_->end_call(cpu.task);
  settle(cpu, now_);
  descriptors_.leave(event, cpu.task, part(event, Role::ReturnValue));
  set_bottom(*cpu.running, cpu.index, Mode::User);
  show(cpu);
}

// Nobody tells when it ends: it is counted, and explains why a task may sleep in its own code.
void Engine::on_fault(Cpu& cpu, bool in_user) {
  if (!cpu.runs_task()) return;
  if (cutter_ != nullptr) cutter_->touch(cpu.task);
  Task& task = *cpu.running;
  ++task.faults;
  task.fault_at = now_;
  if (!in_user || task.stack.top().mode == Mode::User) return;
  settle(cpu, now_);
  set_bottom(task, cpu.index, Mode::User);
  show(cpu);
}

void Engine::enter_interrupt(Cpu& cpu, Mode mode, NameId submode) {
  settle(cpu, now_);
  // More than there can be: exits went missing.
  if (cpu.depth == Cpu::kDeepest) cpu.depth = 0;
  cpu.interrupts[cpu.depth++] = {
      mode, submode, statistics_.find(kNoTask, cpu.index, mode, submode), cpu.index, now_, 0};
  show(cpu);
}

void Engine::leave_interrupt(Cpu& cpu, Mode mode) {
  uint32_t level = cpu.depth;
  while (level > 0 && cpu.interrupts[level - 1].mode != mode) --level;
  if (level == 0) return;  // its entry was not recorded
  settle(cpu, now_);
  const Frame& ended = cpu.interrupts[level - 1];
  interrupts_[{mode, ended.submode}].add(now_ - ended.entered);
  for (; cpu.depth >= level; --cpu.depth) {
    const Frame& frame = cpu.interrupts[cpu.depth - 1];
    const auto ns = static_cast<uint64_t>(now_ - frame.entered);
    statistics_[frame.slot].elapsed_ns += ns;
    statistics_[frame.slot].cumulative_ns += ns;
  }
  show(cpu);
}

void Engine::on_idle(const trace::Event& event, Cpu& cpu) {
  const int64_t told = part(event, Role::Cpu, cpu.index);
  if (told < 0 || static_cast<uint64_t>(told) >= cpus_.size()) return;
  Cpu& at = cpu_at(static_cast<CpuIndex>(told));
  const auto level = static_cast<int32_t>(part(event, Role::State, -1));
  at.idle_level = level < 0 ? kNoName : idle_level_name(level);
  if (at.mode != Mode::Idle) return;
  settle(at, now_);
  show(at);
}

void Engine::on_frequency(const trace::Event& event, Cpu& cpu) {
  const int64_t told = part(event, Role::Cpu, cpu.index);
  if (told < 0 || static_cast<uint64_t>(told) >= cpus_.size()) return;
  const auto khz = static_cast<uint32_t>(part(event, Role::Frequency));
  cpus_[static_cast<size_t>(told)].frequency_khz = khz;
  if (index_ != nullptr) index_->cpu_frequency(static_cast<CpuIndex>(told), now_, khz);
}

NameId Engine::syscall_name(int64_t number) {
  return name_of_number(number, syscalls_, names_, [&] {
    const std::string_view name = trace::syscall_name(processor_, static_cast<uint64_t>(number));
    return name.empty() ? std::to_string(number) : std::string(name);
  });
}

NameId Engine::vector_name(int64_t vector) {
  return name_of_number(vector, vectors_, names_, [&] {
    const auto at = static_cast<uint64_t>(vector);
    return at < kVectors.size() ? std::string(kVectors[at]) : std::to_string(vector);
  });
}

NameId Engine::idle_level_name(int32_t level) {
  return name_of_number(level, idle_levels_, names_,
                        [&] { return "level " + std::to_string(level); });
}

NameId Engine::interrupt_name(const trace::Event& event, const TypeUse& use) {
  if (use.submode != kNoName) return use.submode;
  const int64_t irq = part(event, Role::Irq);
  const auto [found, is_new] = irqs_.emplace(irq, kNoName);
  if (is_new) {
    const std::string_view name = event.text(event.type->meaning.part(Role::IrqName));
    found->second = names_.id(std::to_string(irq) + (name.empty() ? "" : ' ' + std::string(name)));
  }
  return found->second;
}

}  // namespace strata::state
