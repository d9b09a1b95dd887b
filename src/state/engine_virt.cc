// SPDX-License-Identifier: Apache-2.0
//
// Virtual machines: the guest's code is a mode on top of the call that runs it.
#include "state/engine.h"
#include "state/period_cutter.h"

namespace strata::state {
namespace {

// More than any machine has.
constexpr int64_t kMostVcpus = 1 << 16;

}  // namespace

NameId Engine::exit_name(const trace::Event& event) {
  const trace::Binding& meaning = event.type->meaning;
  const trace::FieldRef told = meaning.part(Role::Reason);
  if (told.kind == trace::ValueKind::Text) return names_.id(event.text(told));
  const int64_t reason = part(event, Role::Reason, -1);
  const auto number = static_cast<uint64_t>(reason);
  const std::string_view name =
      meaning.part(Role::TrapClass)
          ? arm_exit_name(number, static_cast<uint64_t>(part(event, Role::TrapClass)))
          : exit_reason_name(static_cast<uint32_t>(part(event, Role::Isa)), number);
  return name.empty() ? names_.id("exit " + std::to_string(reason)) : names_.id(name);
}

// The virtual CPU whose thread this is, for good. Its number is the event's, or else in the
// thread's name.
VcpuIndex Engine::vcpu_at(const trace::Event& event, TaskId id) {
  const Task& task = tasks_[id];
  std::optional<uint32_t> number;
  // Tracers have been seen to tell an address instead.
  if (const int64_t told = part(event, Role::Vcpu, -1); told >= 0 && told < kMostVcpus)
    number = static_cast<uint32_t>(told);
  if (task.vcpu != kNoVcpu) {
    if (!number || vms_.vcpus()[task.vcpu].number_is_told) return task.vcpu;
    vms_.set_number(task.vcpu, *number);
    tell_vcpus_of(vms_.vcpus()[task.vcpu].vm);
    return task.vcpu;
  }
  if (!number) number = vcpu_number_in(names_.text(task.name));
  return bind_vcpu(process_of_vcpu(task, number), number, id);
}

// A machine's threads are of one process. Where it is not told, they are taken for those that one
// thread made, unless they are the same CPU of different machines then.
Tid Engine::process_of_vcpu(const Task& task, std::optional<uint32_t> number) {
  if (task.tgid != kNoTid) return task.tgid;
  if (task.parent == kNoTid || task.parent == Tid{0}) return task.tid;
  const TaskId maker = tasks_.find(task.parent);
  const Tid process =
      maker != kNoTask && tasks_[maker].tgid != kNoTid ? tasks_[maker].tgid : task.parent;
  if (number && vms_.find(vms_.vm_of(process), *number) != kNoVcpu) return task.tid;
  return process;
}

VcpuIndex Engine::bind_vcpu(Tid process, std::optional<uint32_t> number, TaskId id) {
  const VmIndex vm = vms_.vm_of(process);
  const size_t before = vms_.vcpus().size();
  const VcpuIndex vcpu = vms_.vcpu_of(vm, number, begin_);
  const TaskId old_task = std::exchange(vms_.vcpus()[vcpu].task, id);
  if (old_task != kNoTask && old_task != id) tasks_[old_task].vcpu = kNoVcpu;
  tasks_[id].vcpu = vcpu;
  if (index_ != nullptr && vms_.vcpus().size() > before) {
    index_->add_vcpu(vcpu, process, vms_.vcpus()[vcpu].number, tasks_[id].tid);
    index_->vcpu_state(vcpu, begin_, VcpuState::Unknown, 0);
    tell_vcpus_of(vm);
  }
  return vcpu;
}

// Its process is told after its first entry.
void Engine::move_vcpu(const Task& task) {
  vms_.move(task.vcpu, task.tgid);
  tell_vcpus_of(vms_.vcpus()[task.vcpu].vm);
}

void Engine::tell_vcpus_of(VmIndex vm) {
  if (index_ == nullptr) return;
  const Vm& told = vms_.vms()[vm];
  if (told.name != kNoName) index_->vm_name(told.process, names_.text(told.name));
  for (const VcpuIndex vcpu : told.vcpus)
    index_->vcpu_identity(vcpu, told.process, vms_.vcpus()[vcpu].number);
}

void Engine::on_vm_entry(const trace::Event& event, Cpu& cpu) {
  if (!cpu.runs_task()) return;
  vms_.vcpus()[vcpu_at(event, cpu.task)].handler = ExitHandler::Kernel;
  settle(cpu, now_);
  pop(cpu, Mode::Virt);  // whose exit was not recorded
  push(cpu, Mode::Virt, kNoName);
}

// The time in the guest is that of the exit that ended it.
void Engine::on_vm_exit(const trace::Event& event, Cpu& cpu) {
  if (!cpu.runs_task()) return;
  const VcpuIndex vcpu = vcpu_at(event, cpu.task);
  const NameId reason = exit_name(event);
  Task& task = *cpu.running;
  if (Frame& top = task.stack.top(); top.mode == Mode::Virt) {
    top.submode = reason;
    top.slot = slot_of(task, cpu.index, Mode::Virt, reason);
    if (cpu.depth == 0) cpu.slot = top.slot;
    task.info = reason;
    if (index_ != nullptr && task.state == TaskState::Virt)
      index_->correct_task_state(task.id, TaskState::Virt, reason);
  }
  vms_.vcpus()[vcpu].exit_reason = reason;
  vms_.vcpus()[vcpu].handler = ExitHandler::Kernel;
  ++vms_.vcpus()[vcpu].exits[reason].count;
  settle(cpu, now_);
  pop(cpu, Mode::Virt);
  show(cpu);
  update_vcpu(task, now_);
}

// Its mode, the return from the call tells, where calls are recorded.
void Engine::on_vm_user_exit(Cpu& cpu) {
  if (Vcpu* vcpu = running_vcpu(cpu)) {
    vcpu->handler = ExitHandler::Program;
    update_vcpu(*cpu.running, now_);
  }
}

void Engine::count_vcpu_event(Cpu& cpu, VcpuEvent event) {
  if (Vcpu* vcpu = running_vcpu(cpu)) ++vcpu->events[static_cast<size_t>(event)];
}

Vcpu* Engine::running_vcpu(Cpu& cpu) {
  if (cpu.running == nullptr || cpu.running->vcpu == kNoVcpu) return nullptr;
  return &vms_.vcpus()[cpu.running->vcpu];
}

void Engine::update_vcpu(const Task& task, int64_t time) {
  Vcpu& vcpu = vms_.vcpus()[task.vcpu];
  switch (task.state) {
    case TaskState::Virt:
      return set_vcpu_state(task.vcpu, time, VcpuState::Guest, 0);
    case TaskState::User:
      return set_vcpu_state(task.vcpu, time, VcpuState::UserSpace, vcpu.exit_reason);
    case TaskState::WaitCpu:
      return set_vcpu_state(task.vcpu, time, VcpuState::Preempted, task.info);
    case TaskState::Unknown:
      vcpu.handler = ExitHandler::Unknown;
      return set_vcpu_state(task.vcpu, time, VcpuState::Unknown, 0);
    case TaskState::RunUnknown:
      if (vcpu.handler == ExitHandler::Program)
        return set_vcpu_state(task.vcpu, time, VcpuState::UserSpace, vcpu.exit_reason);
      if (vcpu.handler == ExitHandler::Unknown)
        return set_vcpu_state(task.vcpu, time, VcpuState::Unknown, 0);
      break;
    default:
      break;
  }
  if (is_running(task.state))
    return set_vcpu_state(task.vcpu, time, VcpuState::Hypervisor, vcpu.exit_reason);
  const bool halted = is_halt(names_.text(vcpu.exit_reason));
  set_vcpu_state(task.vcpu, time, halted ? VcpuState::Halted : VcpuState::Blocked,
                 vcpu.exit_reason);
}

void Engine::set_vcpu_state(VcpuIndex index, int64_t time, VcpuState state, uint32_t info) {
  if (cutter_ != nullptr) cutter_->change_vcpu(index, time, state, info);
  Vcpu& vcpu = vms_.vcpus()[index];
  if (time > vcpu.since) {
    const auto ns = static_cast<uint64_t>(time - vcpu.since);
    vcpu.ns[static_cast<size_t>(vcpu.state)] += ns;
    if (vcpu.state == VcpuState::Hypervisor) vcpu.exits[vcpu.info].kernel_ns += ns;
    if (vcpu.state == VcpuState::UserSpace) vcpu.exits[vcpu.info].user_ns += ns;
    vcpu.since = time;
  }
  if (vcpu.state == state && vcpu.info == info) return;
  vcpu.began = vcpu.since;
  vcpu.state = state;
  vcpu.info = info;
  if (changed_vcpus_ != nullptr) changed_vcpus_->push_back(index);
  if (index_ != nullptr) index_->vcpu_state(index, vcpu.since, state, info);
}

std::string Engine::vm_name(VmIndex vm) const {
  const Vm& machine = vms_.vms()[vm];
  return machine.name != kNoName ? names_.text(machine.name)
                                 : "vm-" + std::to_string(raw(machine.process));
}

void Engine::on_state_vm(const trace::Event& event) {
  const Tid process = Tid(static_cast<int32_t>(part(event, Role::Pid)));
  if (event.type->meaning.word == Word::StateVm)
    return name_vm(process, event.text(event.type->meaning.part(Role::Name)));
  const TaskId id = task_of(Tid(static_cast<int32_t>(part(event, Role::Tid))));
  set_process(id, process);
  const int64_t number = part(event, Role::Vcpu, -1);
  if (tasks_[id].vcpu == kNoVcpu && number >= 0 && number < kMostVcpus)
    bind_vcpu(process, static_cast<uint32_t>(number), id);
}

void Engine::name_vm(Tid process, std::string_view name) {
  if (name.empty()) return;
  vms_.set_name(vms_.vm_of(process), names_.id(name));
  if (index_ != nullptr) index_->vm_name(process, name);
}

// The threads of a guest's CPUs, where the host's trace says so before its first event.
void Engine::add_guest(const trace::GuestInfo& guest) {
  Tid process = kNoTid;
  for (uint32_t number = 0; number < guest.vcpus.size(); ++number) {
    if (guest.vcpus[number] == kNoTid) continue;
    const TaskId id = task_of(guest.vcpus[number]);
    if (tasks_[id].vcpu != kNoVcpu) continue;
    // Until the process is told the machine goes by its first thread.
    if (process == kNoTid) process = tasks_[id].tgid != kNoTid ? tasks_[id].tgid : tasks_[id].tid;
    bind_vcpu(process, number, id);
  }
  if (process != kNoTid) name_vm(process, guest.name);
}

}  // namespace strata::state
