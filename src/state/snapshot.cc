// SPDX-License-Identifier: Apache-2.0
#include "state/snapshot.h"

namespace strata::state {
namespace {

std::string name_of(const Engine& engine, const Task& task) {
  return task.is_idle_task() ? std::string(kIdleTask) : engine.names().text(task.name);
}

std::string detail_of(const Engine& engine, TaskState state, uint32_t info) {
  if (state != TaskState::WaitCpu) return engine.names().text(info);
  const Cause cause = Cause::unpacked(info);
  if (cause.task == kNoTask) return cause_text(cause, "", kNoTid);
  const Task& task = engine.tasks()[cause.task];
  return cause_text(cause, name_of(engine, task), task.tid);
}

}  // namespace

std::string cause_text(const Cause& cause, const std::string& name, Tid tid) {
  std::string text = cause.context == WakeContext::Preempted ? "preempted" : "woken";
  if (cause.task != kNoTask) text += " by " + name;
  if (cause.task != kNoTask && tid != Tid{0}) text += ' ' + std::to_string(raw(tid));
  if (cause.context == WakeContext::Irq) text += " in an interrupt";
  if (cause.context == WakeContext::Softirq) text += " in a softirq";
  return text;
}

Snapshot snapshot_of(const Engine& engine) {
  Snapshot all;
  for (CpuIndex index = 0; index < engine.cpus().size(); ++index) {
    const Cpu& cpu = engine.cpus()[index];
    if (!cpu.is_there) continue;
    const Task* task = cpu.task == kNoTask ? nullptr : &engine.tasks()[cpu.task];
    all.cpus.push_back({.cpu = index,
                        .mode = cpu.mode,
                        .submode = engine.names().text(cpu.submode),
                        .task = cpu.task,
                        .tid = task != nullptr ? task->tid : kNoTid,
                        .name = task != nullptr ? name_of(engine, *task) : "",
                        .since = cpu.shown_since});
  }
  for (TaskId id = 0; id < engine.tasks().size(); ++id) {
    const Task& task = engine.tasks()[id];
    if (task.is_idle_task()) continue;
    all.tasks.push_back({.id = id,
                         .tid = task.tid,
                         .pid = task.tgid,
                         .name = engine.names().text(task.name),
                         .state = task.state,
                         .detail = detail_of(engine, task.state, task.info),
                         .since = task.began});
  }
  for (VcpuIndex index = 0; index < engine.vms().vcpus().size(); ++index) {
    const Vcpu& vcpu = engine.vms().vcpus()[index];
    const bool preempted = vcpu.state == VcpuState::Preempted;
    all.vcpus.push_back({.vcpu = index,
                         .vm = engine.vm_name(vcpu.vm),
                         .number = vcpu.number,
                         .tid = vcpu.task == kNoTask ? kNoTid : engine.tasks()[vcpu.task].tid,
                         .state = vcpu.state,
                         .detail = preempted ? detail_of(engine, TaskState::WaitCpu, vcpu.info)
                                             : engine.names().text(vcpu.info),
                         .since = vcpu.began});
  }
  return all;
}

}  // namespace strata::state
