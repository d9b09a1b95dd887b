// SPDX-License-Identifier: Apache-2.0
//
// Time and what is known: CPUs, who runs on them, what is on top, losses.
#include "state/engine.h"

#include <algorithm>

#include "state/blocking.h"
#include "state/period_cutter.h"

namespace strata::state {

Engine::Engine(int64_t begin, IndexWriter* index)
    : begin_(begin), now_(begin), index_(index), affinity_call_(names_.id("sched_setaffinity")) {}

bool Engine::tells_of_cpus(const trace::Trace& trace) {
  return std::ranges::any_of(trace.event_types(), [](const trace::EventType* type) {
    return type->meaning.word != Word::None && type->meaning.word < Word::StateTask;
  });
}

void Engine::add_trace(const trace::Trace& trace) {
  const bool tells = tells_of_cpus(trace);
  for (const trace::EventType* type : trace.event_types())
    add_type(*type, tells,
             !tells && (counters_.add_type(trace.info(), *type) || throttling_.add_type(*type)));
  if (!trace.info().processor.empty()) processor_ = trace.info().processor;
  if (!tells) return;
  for (const trace::GuestInfo& guest : trace.info().guests) add_guest(guest);
  for (CpuIndex cpu = 0; cpu < std::min(trace.info().cpus, kMostCpus); ++cpu) cpu_at(cpu);
  for (const auto& [tid, name] : trace.task_names().all())
    if (tid != Tid{0}) name_task(task_of(tid), name);
}

const Engine::TypeUse* Engine::add_type(const trace::EventType& type, bool tells, bool is_sample) {
  if (const TypeUse* known = types_.find(&type)) return known;
  TypeUse use{static_cast<uint32_t>(type_list_.size()), type.meaning.word, tells, is_sample,
              kNoName};
  if (!type.meaning.syscall.empty()) use.submode = names_.id(type.meaning.syscall);
  if (!type.meaning.interrupt.empty()) use.submode = names_.id(type.meaning.interrupt);
  type_list_.push_back(&type);
  return types_.add(&type, use);
}

Cpu& Engine::cpu_at(CpuIndex index) {
  if (index >= cpu_count_) [[unlikely]]
    cpus_.resize(cpu_count_ = index + 1);
  if (!cpus_[index].is_there) [[unlikely]]
    add_cpu(index);
  return cpus_[index];
}

void Engine::add_cpu(CpuIndex index) {
  Cpu& cpu = cpus_[index];
  cpu.is_there = true;
  cpu.index = index;
  cpu.since = cpu.shown_since = cpu.last_event = begin_;
  cpu.idle = tasks_.add_idle(begin_);
  cpu.slot = cpu.unknown_slot = statistics_.find(kNoTask, index, Mode::Unknown, kNoName);
  tasks_[cpu.idle].is_kernel = true;
  tasks_[cpu.idle].cpu = index;
  tasks_[cpu.idle].name = names_.id("swapper/" + std::to_string(index));
  if (index_ == nullptr) return;
  index_->add_cpu(index, begin_);
  index_->add_task(cpu.idle, Tid{0}, begin_);
}

Engine::Moment Engine::moment(CpuId cpu) const {
  if (raw(cpu) >= cpus_.size()) return {};
  const Cpu& at = cpus_[raw(cpu)];
  return {at.task, at.mode, at.submode};
}

const Engine::TypeUse* Engine::arrive(const trace::Event& event) {
  const TypeUse* use = types_.find(event.type);
  if (use == nullptr) [[unlikely]]
    use = add_type(*event.type, event.type->meaning.word != Word::None);
  now_ = std::max(now_, event.time.count);
  const CpuIndex index = raw(event.cpu);
  if (index >= cpu_count_ || !cpus_[index].is_there) [[unlikely]] {
    if (index >= kMostCpus) return nullptr;
    cpu_at(index);
  }
  Cpu& cpu = cpus_[index];
  if (use->tells) {
    if (event.lost != 0 || event.lost_unknown) [[unlikely]]
      lose(cpu);
    int64_t tid = raw(cpu.tid);
    load_integer(event.record, event.type->tid, event.bases, tid);
    if (tid != raw(cpu.tid)) [[unlikely]]
      find_running(cpu, Tid(static_cast<int32_t>(tid)));
    cpu.last_event = now_;
  }
  statistics_.count(cpu.slot, use->number);
  return use;
}

// Everything that this CPU told is true up to its last event; from then on nothing is known of it.
// Gives the task that it ran.
Task* Engine::forget_task(Cpu& cpu) {
  if (cutter_ != nullptr) cutter_->lose_cpu(cpu.index);
  settle(cpu, cpu.last_event);
  cpu.tid = kNoTid;
  cpu.depth = 0;
  if (index_ != nullptr) index_->cpu_task(cpu.index, cpu.last_event, kNoTask);
  cpu.task = kNoTask;
  return std::exchange(cpu.running, nullptr);
}

// Nor is anything known of any task that no other CPU runs.
void Engine::lose(Cpu& cpu) {
  const Task* const task = forget_task(cpu);
  // Another CPU's loss may have been told sooner and begun later.
  const int64_t last = cpu.last_event;
  losses_.push_back(last);
  for (size_t i = losses_.size() - 1; i > 0 && losses_[i - 1] > last; --i) losses_[i - 1] = last;
  for (const Cpu& other : cpus_)
    if (other.running != nullptr)
      other.running->losses_seen = static_cast<uint32_t>(losses_.size());
  if (task != nullptr) see_losses(task->id);
  show(cpu);
  if (cutter_ != nullptr) cutter_->lose_block(cpu.last_event);
  block_devices_.lose(cpu.last_event);
  memory_.lose();
}

void Engine::miss_switch(Cpu& cpu) {
  ++missed_switches_;
  Task* const task = forget_task(cpu);
  if (task != nullptr && task->id != cpu.idle)
    set_task_state(*task, cpu.last_event, TaskState::Unknown, 0);
  show(cpu);
}

void Engine::catch_up_losses(TaskId id) {
  Task& task = tasks_[id];
  const int64_t lost_at = losses_[task.losses_seen];
  task.losses_seen = static_cast<uint32_t>(losses_.size());
  if (task.state == TaskState::Dead || task.is_idle_task()) return;
  reset_stack(task, task.is_kernel ? Mode::Kernel : Mode::Unknown);
  set_task_state(task, lost_at, TaskState::Unknown, 0);
}

// The event says that another task runs than was thought. When it came nobody told.
void Engine::find_running(Cpu& cpu, Tid tid) {
  if (tid == kNoTid) return;
  const bool missed = cpu.task != kNoTask;
  if (missed) miss_switch(cpu);
  settle(cpu, now_);
  Task& task = tasks_[tid == Tid{0} ? cpu.idle : task_of(tid)];
  if (missed && task.id != cpu.idle) set_task_state(task, cpu.last_event, TaskState::Unknown, 0);
  switch_in(task, cpu);
  show(cpu);
}

// What is on top of a CPU now. All before has been charged.
void Engine::show(Cpu& cpu) {
  const Mode before = cpu.mode;
  const NameId submode_before = cpu.submode;
  if (cpu.depth > 0) {
    const Frame& frame = cpu.interrupts[cpu.depth - 1];
    cpu.mode = frame.mode;
    cpu.submode = frame.submode;
    cpu.slot = frame.slot;
  } else if (cpu.running == nullptr) {
    cpu.mode = Mode::Unknown;
    cpu.submode = kNoName;
    cpu.slot = cpu.unknown_slot;
  } else if (cpu.task == cpu.idle) {
    cpu.mode = Mode::Idle;
    cpu.submode = cpu.idle_level;
    cpu.slot = slot_of(*cpu.running, cpu.index, Mode::Idle, cpu.idle_level);
  } else {
    Frame& frame = cpu.running->stack.top();
    if (frame.cpu != cpu.index) {
      frame.cpu = cpu.index;
      frame.slot = slot_of(*cpu.running, cpu.index, frame.mode, frame.submode);
    }
    cpu.mode = frame.mode;
    cpu.submode = frame.submode;
    cpu.slot = frame.slot;
  }
  if (cpu.mode != before || cpu.submode != submode_before) {
    cpu.shown_since = cpu.since;
    if (index_ != nullptr) index_->cpu_mode(cpu.index, cpu.since, cpu.mode, cpu.submode);
  }
  if (cpu.running == nullptr || cpu.task == cpu.idle) return;
  Task& task = *cpu.running;
  set_task_state(task, cpu.since,
                 task.is_exiting && cpu.depth == 0 ? TaskState::Exiting : running_in(cpu.mode),
                 cpu.submode);
}

void Engine::watch_periods(PeriodCutter* cutter) {
  cutter_ = cutter;
  if (cutter == nullptr) {
    block_devices_.on_charge = nullptr;
    descriptors_.watch(nullptr, {});
    return;
  }
  block_devices_.on_charge = [cutter](TaskId task) { cutter->touch(task); };
  descriptors_.watch(
      [cutter](TaskId task, const Traffic& traffic) { cutter->charge_socket(task, traffic); },
      {.changes = [cutter](FileId file) { cutter->change_file(file); },
       .moves = [cutter](FileId from, FileId to,
                         const Traffic& traffic) { cutter->move_traffic(from, to, traffic); }});
}

void Engine::tell_state(const Task& task, int64_t time, TaskState state) {
  cutter_->change_state(task.id, time, state);
}

void Engine::lose_rest(CpuId cpu) {
  if (raw(cpu) >= cpus_.size() || !cpus_[raw(cpu)].is_there) return;
  lose(cpus_[raw(cpu)]);
}

void Engine::settle_all(int64_t time) {
  now_ = std::max(now_, time);
  for (CpuIndex index = 0; index < cpus_.size(); ++index) {
    if (!cpus_[index].is_there) continue;
    Cpu& cpu = cpus_[index];
    settle(cpu, now_);
    for (uint32_t i = 0; i < cpu.depth; ++i) {
      Frame& frame = cpu.interrupts[i];
      const auto ns = static_cast<uint64_t>(now_ - frame.entered);
      statistics_[frame.slot].elapsed_ns += ns;
      statistics_[frame.slot].cumulative_ns += ns;
      frame.entered = now_;
    }
  }
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    see_losses(id);
    Task& task = tasks_[id];
    if (now_ > task.since) {
      task.ns[static_cast<size_t>(task.state)] += static_cast<uint64_t>(now_ - task.since);
      task.since = now_;
    }
    for (uint32_t level = 0; level < task.stack.depth(); ++level) {
      leave(task, task.stack[level]);
      task.stack[level].entered = now_;
      task.stack[level].cpu_at_entry = task.cpu_ns;
    }
  }
  block_devices_.settle(now_);
  for (VcpuIndex vcpu = 0; vcpu < vms_.vcpus().size(); ++vcpu) {
    const Vcpu& at = vms_.vcpus()[vcpu];
    set_vcpu_state(vcpu, now_, at.state, at.info);
  }
}

void Engine::tell_index(int64_t time) {
  settle_all(time);
  if (index_ == nullptr) return;
  descriptors_.tell_open();
  block_devices_.tell_open(now_);
  index_->add_names(names_);
}

void Engine::reset_statistics(int64_t time) {
  settle_all(time);
  statistics_.reset();
  descriptors_.reset();
  block_devices_.reset(now_);
  interfaces_.clear();
  memory_.reset();
  counters_.reset();
  throttling_.reset();
  interrupts_.clear();
  begin_ = now_;
  for (Cpu& cpu : cpus_) cpu.ns = {};
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    tasks_[id].ns = {};
    tasks_[id].faults = tasks_[id].major_faults = tasks_[id].migrations = tasks_[id].wakeups = 0;
  }
  for (Vcpu& vcpu : vms_.vcpus()) {
    vcpu.ns = {};
    vcpu.exits.clear();
    vcpu.events = {};
  }
}

TaskId Engine::add_task(Tid tid, int64_t born) {
  const TaskId id = tasks_.add(tid, born);
  tasks_[id].losses_seen = static_cast<uint32_t>(losses_.size());
  tasks_[id].stack.top().entered = born;
  if (index_ != nullptr) {
    index_->add_task(id, tid, born);
    index_->task_state(id, born, TaskState::Unknown, 0);
  }
  return id;
}

TaskId Engine::task_of(Tid tid) {
  const TaskId id = tasks_.find(tid);
  // One that was never heard of may have been there from the beginning. One that is dead makes room
  // for another of the same number.
  if (id == kNoTask) return add_task(tid, begin_);
  if (tasks_[id].state == TaskState::Dead) return add_task(tid, now_);
  see_losses(id);
  return id;
}

void Engine::name_task(TaskId id, std::string_view name) {
  if (name.empty()) return;
  Task& task = tasks_[id];
  task.name_is_stale = false;
  const NameId name_id = names_.id(name);
  if (task.name == name_id) return;
  task.name = name_id;
  if (index_ != nullptr) index_->task_name(id, now_, name_id);
  if (!task.is_kernel && is_kernel_thread_name(name)) make_kernel_thread(id);
}

void Engine::set_process(TaskId id, Tid tgid) {
  if (tgid == kNoTid || tasks_[id].tgid == tgid) return;
  tasks_[id].tgid = tgid;
  if (tasks_[id].vcpu != kNoVcpu) move_vcpu(tasks_[id]);
  if (index_ != nullptr) index_->task_process(id, now_, tgid);
}

}  // namespace strata::state
