// SPDX-License-Identifier: Apache-2.0
//
// Virtual machines: the guest's code is a mode on top of the call that runs it.
#include "state/engine.h"

namespace strata::state {
namespace {

// Exits with which a guest says that it has nothing to do.
bool is_halt(std::string_view reason) {
  return reason == "HLT" || reason == "hlt" || reason == "idle_hlt" || reason == "WFI" ||
         reason == "MWAIT_INSTRUCTION" || reason == "mwait";
}

}  // namespace

NameId Engine::exit_name(const trace::Event& event) {
  const int64_t reason = part(event, Role::Reason, -1);
  const std::string_view name = exit_reason_name(static_cast<uint32_t>(part(event, Role::Isa)),
                                                 static_cast<uint64_t>(reason));
  return names_.id(name.empty() ? "exit " + std::to_string(reason) : std::string(name));
}

VcpuIndex Engine::vcpu_at(const trace::Event& event, TaskId id) {
  Task& task = tasks_[id];
  if (task.vcpu != kNoVcpu) return task.vcpu;
  const Tid process = task.tgid != kNoTid ? task.tgid : task.tid;
  const VmIndex vm = vms_.vm_of(process);
  // Where the number is not told, they count in the order in which they come.
  const auto number = static_cast<uint32_t>(
      part(event, Role::Vcpu, static_cast<int64_t>(vms_.vms()[vm].vcpus.size())));
  return bind_vcpu(process, number, id);
}

VcpuIndex Engine::bind_vcpu(Tid process, uint32_t number, TaskId id) {
  const size_t before = vms_.vcpus().size();
  const VcpuIndex vcpu = vms_.vcpu_of(process, number, id, begin_);
  tasks_[id].vcpu = vcpu;
  vms_.vcpus()[vcpu].task = id;
  if (index_ != nullptr && vms_.vcpus().size() > before) {
    index_->add_vcpu(vcpu, process, number, tasks_[id].tid);
    index_->vcpu_state(vcpu, begin_, VcpuState::Unknown, 0);
  }
  return vcpu;
}

void Engine::on_vm_entry(const trace::Event& event, CpuIndex index) {
  const TaskId id = cpus_[index].task;
  if (id == kNoTask || id == cpus_[index].idle) return;
  vcpu_at(event, id);
  settle(index, now_);
  pop(index, Mode::Virt);  // whose exit was not recorded
  push(index, Mode::Virt, kNoName);
}

// The time in the guest is that of the exit that ended it.
void Engine::on_vm_exit(const trace::Event& event, CpuIndex index) {
  const TaskId id = cpus_[index].task;
  if (id == kNoTask || id == cpus_[index].idle) return;
  const VcpuIndex vcpu = vcpu_at(event, id);
  const NameId reason = exit_name(event);
  Task& task = tasks_[id];
  if (Frame& top = task.stack.top(); top.mode == Mode::Virt) {
    top.submode = reason;
    top.slot = statistics_.find(id, index, Mode::Virt, reason);
    if (cpus_[index].depth == 0) cpus_[index].slot = top.slot;
    task.info = reason;
    if (index_ != nullptr && task.state == TaskState::Virt)
      index_->correct_task_state(id, TaskState::Virt, reason);
  }
  vms_.vcpus()[vcpu].exit_reason = reason;
  ++vms_.vcpus()[vcpu].exits[reason].count;
  settle(index, now_);
  pop(index, Mode::Virt);
  show(index);
}

void Engine::update_vcpu(const Task& task) {
  const Vcpu& vcpu = vms_.vcpus()[task.vcpu];
  switch (task.state) {
    case TaskState::Virt:
      return set_vcpu_state(task.vcpu, VcpuState::Guest, 0);
    case TaskState::User:
      return set_vcpu_state(task.vcpu, VcpuState::UserSpace, vcpu.exit_reason);
    case TaskState::WaitCpu:
      return set_vcpu_state(task.vcpu, VcpuState::Preempted, task.info);
    case TaskState::Unknown:
    case TaskState::RunUnknown:
      return set_vcpu_state(task.vcpu, VcpuState::Unknown, 0);
    default:
      break;
  }
  if (is_running(task.state))
    return set_vcpu_state(task.vcpu, VcpuState::Hypervisor, vcpu.exit_reason);
  const bool halted = is_halt(names_.text(vcpu.exit_reason));
  set_vcpu_state(task.vcpu, halted ? VcpuState::Halted : VcpuState::Blocked, vcpu.exit_reason);
}

void Engine::set_vcpu_state(VcpuIndex index, VcpuState state, uint32_t info) {
  Vcpu& vcpu = vms_.vcpus()[index];
  if (now_ > vcpu.since) {
    const auto ns = static_cast<uint64_t>(now_ - vcpu.since);
    vcpu.ns[static_cast<size_t>(vcpu.state)] += ns;
    if (vcpu.state == VcpuState::Hypervisor) vcpu.exits[vcpu.info].kernel_ns += ns;
    if (vcpu.state == VcpuState::UserSpace) vcpu.exits[vcpu.info].user_ns += ns;
    vcpu.since = now_;
  }
  if (vcpu.state != state || vcpu.info != info) vcpu.began = vcpu.since;
  vcpu.state = state;
  vcpu.info = info;
  if (index_ != nullptr) index_->vcpu_state(index, vcpu.since, state, info);
}

std::string Engine::vm_name(VmIndex vm) const {
  const Vm& machine = vms_.vms()[vm];
  return machine.name != kNoName ? names_.text(machine.name)
                                 : "vm-" + std::to_string(raw(machine.process));
}

void Engine::on_state_vm(const trace::Event& event) {
  const Tid process = Tid(static_cast<int32_t>(part(event, Role::Pid)));
  if (event.type->meaning.word == Word::StateVm) {
    const std::string_view name = event.text(event.type->meaning.part(Role::Name));
    vms_.vms()[vms_.vm_of(process)].name = names_.id(name);
    if (index_ != nullptr && !name.empty()) index_->vm_name(process, name);
    return;
  }
  const TaskId id = task_of(Tid(static_cast<int32_t>(part(event, Role::Tid))));
  if (tasks_[id].vcpu != kNoVcpu) return;
  set_process(id, process);
  bind_vcpu(process, static_cast<uint32_t>(part(event, Role::Vcpu)), id);
}

}  // namespace strata::state
