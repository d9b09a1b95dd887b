// SPDX-License-Identifier: Apache-2.0
//
// Tasks come and go, run, wait, are woken and moved.
#include "state/blocking.h"
#include "state/engine.h"
#include "state/period_cutter.h"

namespace strata::state {
namespace {

// Of a switch's prev_state, as the kernel reports it since 4.14. Before, zombies and the dead had
// each other's number.
constexpr int64_t kUninterruptible = 2;
constexpr int64_t kStopped = 4 | 8;
constexpr int64_t kDead = 16;
constexpr int64_t kZombie = 32;
constexpr int64_t kReported = 0xff;  // what is above says that it was preempted

constexpr int64_t kCloneThread = 0x10000;
constexpr Tid kThreadMaker{2};  // the parent of all threads that the kernel starts for itself

// LTTng's, in the state at the start.
constexpr int64_t kKernelThread = 1;
constexpr int64_t kStatusZombie = 4;
constexpr int64_t kStatusWait = 5;

Tid tid_of(int64_t value) { return Tid(static_cast<int32_t>(value)); }

}  // namespace

void Engine::on_switch(const trace::Event& event, Cpu& cpu) {
  const Tid prev = tid_of(part(event, Role::PrevTid));
  const Tid next = tid_of(part(event, Role::NextTid));
  if (prev != cpu.tid) find_running(cpu, prev);
  settle(cpu, now_);
  cpu.depth = 0;  // nobody switches in an interrupt
  Task& task = tasks_[next == Tid{0} ? cpu.idle : task_of(next)];
  if (task.id != cpu.idle && (task.name == kNoName || task.name_is_stale))
    name_task(task.id, event.text(event.type->meaning.part(Role::NextComm)));
  if (cpu.runs_task()) {
    if (cpu.running->name == kNoName)
      name_task(cpu.task, event.text(event.type->meaning.part(Role::PrevComm)));
    switch_out(cpu, part(event, Role::PrevState), task.id);
  }
  switch_in(task, cpu);
  show(cpu);
}

void Engine::switch_out(Cpu& cpu, int64_t prev_state, TaskId next) {
  Task& task = *cpu.running;
  task.cpu = cpu.index;
  const int64_t state = prev_state & kReported;
  if (state == 0) {
    set_task_state(task, now_, TaskState::WaitCpu, Cause{next, WakeContext::Preempted}.packed());
  } else if ((state & kStopped) != 0) {
    set_task_state(task, now_, TaskState::Stopped, 0);
  } else if (state == kDead || state == kZombie) {
    reset_stack(task, Mode::Unknown);
    set_task_state(task, now_, state == kDead ? TaskState::Dead : TaskState::Zombie, 0);
    descriptors_.end(task.id);
  } else {
    const TaskState wait = wait_of(task, state);
    // For a page of a disk, as a rule; it may also be for the lock of its memory.
    if (wait == TaskState::WaitFault && task.fault_at != INT64_MIN) {
      ++task.major_faults;
      task.fault_at = INT64_MIN;
    }
    set_task_state(task, now_, wait, task.stack.top().submode);
  }
}

void Engine::switch_in(Task& task, Cpu& cpu) {
  const TaskId id = task.id;
  cpu.task = id;
  cpu.running = &task;
  cpu.tid = task.tid;
  if (id != cpu.idle) {
    see_losses(id);
    // It runs on another CPU, as far as that one told: it did not tell all.
    if (task.cpu != cpu.index && task.cpu != kNoCpu && cpus_[task.cpu].task == id)
      miss_switch(cpus_[task.cpu]);
    if (task.cpu != cpu.index) {
      if (cutter_ != nullptr) cutter_->touch(id);
      if (task.cpu != kNoCpu) ++task.migrations;
      task.cpu = cpu.index;
      if (index_ != nullptr) index_->task_cpu(id, now_, cpu.index, MigrationCause::None);
    }
  }
  if (index_ != nullptr) index_->cpu_task(cpu.index, now_, id);
}

// A sleep in a task's own code can only be for a page.
TaskState Engine::wait_of(const Task& task, int64_t prev_state) {
  const Frame& top = task.stack.top();
  if (top.mode == Mode::User || task.fault_at >= task.since) return TaskState::WaitFault;
  if (top.mode != Mode::Syscall) return TaskState::WaitOther;
  const TaskState wait = call_waits_.in(top.submode, (prev_state & kUninterruptible) != 0);
  return wait_for(descriptors_.kind_in_call(task.id), wait);
}

// Some waits show what they were for by how they end.
TaskState Engine::refined_wait(const Cpu& waker, const Task& task) {
  if (task.state != TaskState::WaitOther || task.is_kernel) return task.state;
  if (waker.depth > 0) {
    const Frame& frame = waker.interrupts[waker.depth - 1];
    return wait_ended_by_interrupt(frame.mode, names_.text(frame.submode));
  }
  if (waker.running == nullptr) return task.state;
  const Frame& top = waker.running->stack.top();
  return top.mode == Mode::Syscall ? call_waits_.ended_by(top.submode) : task.state;
}

void Engine::on_wakeup(const trace::Event& event, Cpu& cpu) {
  const Tid tid = tid_of(part(event, Role::Tid));
  if (tid == Tid{0}) return;
  const TaskId id = task_of(tid);
  Task& task = tasks_[id];
  if (task.name == kNoName || task.name_is_stale)
    name_task(id, event.text(event.type->meaning.part(Role::Comm)));
  // It may be woken before it has gone to sleep; and one waking has two events.
  if (is_running(task.state) || task.state == TaskState::WaitCpu || task.state == TaskState::Zombie)
    return;
  if (cutter_ != nullptr) cutter_->touch(id);
  ++task.wakeups;
  if (const TaskState wait = refined_wait(cpu, task); wait != task.state) {
    if (cutter_ != nullptr) cutter_->refine_wait(id, wait);
    task.state = wait;
    if (index_ != nullptr) index_->correct_task_state(id, wait, task.info);
  }
  WakeContext context = WakeContext::Task;
  if (cpu.depth > 0)
    context =
        cpu.interrupts[cpu.depth - 1].mode == Mode::Irq ? WakeContext::Irq : WakeContext::Softirq;
  set_task_state(task, now_, TaskState::WaitCpu, Cause{cpu.task, context}.packed());
}

void Engine::on_migrate(const trace::Event& event, Cpu& cpu) {
  const TaskId id = task_of(tid_of(part(event, Role::Tid)));
  Task& task = tasks_[id];
  const auto to = static_cast<uint64_t>(part(event, Role::TargetCpu, -1));
  if (to >= cpus_.size() || task.is_idle_task()) return;
  MigrationCause cause = MigrationCause::Balance;
  if (is_blocked(task.state) || task.state == TaskState::New) {
    cause = MigrationCause::Wakeup;
  } else if (setting_affinity_ > 0 && cpu.running != nullptr &&
             names_.text(cpu.running->name).starts_with("migration/")) {
    cause = MigrationCause::Affinity;
  } else if (task.state == TaskState::WaitCpu &&
             Cause::unpacked(task.info).context != WakeContext::Preempted && task.since == now_) {
    cause = MigrationCause::Wakeup;
  }
  if (cutter_ != nullptr) cutter_->touch(id);
  ++task.migrations;
  // Not while it runs there: the switch that follows tells.
  if (!is_running(task.state)) task.cpu = static_cast<CpuIndex>(to);
  if (index_ != nullptr) index_->task_cpu(id, now_, static_cast<CpuIndex>(to), cause);
}

void Engine::make_kernel_thread(TaskId id) {
  Task& task = tasks_[id];
  task.is_kernel = true;
  if (task.stack.depth() == 1 && task.stack.top().mode == Mode::Unknown)
    reset_stack(task, Mode::Kernel);
}

void Engine::on_new_task(const trace::Event& event, Cpu& cpu) {
  const Tid tid = tid_of(part(event, Role::Tid));
  if (tid == Tid{0}) return;
  TaskId id = tasks_.find(tid);
  // Two events may tell of one birth. One that ended without a word makes room.
  if (id == kNoTask || tasks_[id].state != TaskState::New) {
    if (id != kNoTask) {
      set_task_state(tasks_[id], now_, TaskState::Dead, 0);
      descriptors_.end(id);
    }
    id = add_task(tid, now_);
    set_task_state(tasks_[id], now_, TaskState::New, 0);
  }
  Task& task = tasks_[id];
  task.saw_birth = true;
  task.parent = cpu.tid;
  name_task(id, event.text(event.type->meaning.part(Role::Comm)));
  const TaskId parent = cpu.task;
  const int64_t flags = part(event, Role::CloneFlags, -1);
  if (flags >= 0) {
    if ((flags & kCloneThread) == 0)
      set_process(id, tid);
    else if (parent != kNoTask)
      set_process(id, tasks_[parent].tgid);
  }
  set_process(id, tid_of(part(event, Role::Pid, -1)));
  if (parent != kNoTask && task.tgid == tid) inherit_owner(tasks_[parent].tgid, tid);
  if (parent != kNoTask) descriptors_.fork(parent, id, flags);
  if (parent == kNoTask || task.stack.top().mode != Mode::Unknown) return;
  if (tasks_[parent].tid == kThreadMaker || tasks_[parent].is_kernel) {
    make_kernel_thread(id);
  } else if (tasks_[parent].stack.top().mode == Mode::Syscall) {
    // It comes out of the same call as its parent does.
    task.stack.top() = Frame{.mode = Mode::User, .entered = now_};
    *task.stack.push() = Frame{
        .mode = Mode::Syscall, .submode = tasks_[parent].stack.top().submode, .entered = now_};
  }
}

// A process is whose its parent's is, and in the same container, until somebody tells otherwise.
void Engine::inherit_owner(Tid parent, Tid child) {
  const auto found = owners_.find(parent);
  if (found != owners_.end() && parent != child) owners_[child] = Owner(found->second);
}

void Engine::on_exec(Cpu& cpu) {
  if (cpu.running == nullptr) return;
  cpu.running->name_is_stale = true;
  descriptors_.exec(cpu.task);
}

void Engine::on_exit(const trace::Event& event, Cpu& cpu) {
  const TaskId id = cpu.task;
  if (id == kNoTask || tasks_[id].tid != tid_of(part(event, Role::Tid, raw(cpu.tid)))) return;
  settle(cpu, now_);
  tasks_[id].is_exiting = true;
  descriptors_.end(id);
  if (tasks_[id].tgid == tasks_[id].tid) memory_.end(tasks_[id].tgid);
  show(cpu);
}

void Engine::on_free(const trace::Event& event) {
  const TaskId id = tasks_.find(tid_of(part(event, Role::Tid)));
  if (id == kNoTask || is_running(tasks_[id].state)) return;
  see_losses(id);
  set_task_state(tasks_[id], now_, TaskState::Dead, 0);
}

void Engine::on_state_task(const trace::Event& event) {
  const Tid tid = tid_of(part(event, Role::Tid));
  if (tid == Tid{0}) return;
  const TaskId id = task_of(tid);
  Task& task = tasks_[id];
  if (task.name == kNoName) name_task(id, event.text(event.type->meaning.part(Role::Comm)));
  set_process(id, tid_of(part(event, Role::Pid, -1)));
  descriptors_.tell_process(id, static_cast<uint64_t>(part(event, Role::FileTable)));
  if (task.parent == kNoTid) task.parent = tid_of(part(event, Role::ParentPid, -1));
  if (part(event, Role::Kind) == kKernelThread && !task.is_kernel) make_kernel_thread(id);
  if (task.state != TaskState::Unknown) return;
  const int64_t status = part(event, Role::Status, -1);
  if (status == kStatusWait) set_task_state(task, now_, TaskState::WaitOther, 0);
  if (status == kStatusZombie) set_task_state(task, now_, TaskState::Zombie, 0);
}

void Engine::on_state_file(const trace::Event& event) {
  const trace::Binding& meaning = event.type->meaning;
  if (meaning.word == Word::StateDescriptor)
    return descriptors_.tell_descriptor(
        tid_of(part(event, Role::Pid, -1)), static_cast<uint64_t>(part(event, Role::FileTable)),
        static_cast<int32_t>(part(event, Role::Descriptor, -1)),
        static_cast<uint32_t>(part(event, Role::Flags)), event.text(meaning.part(Role::FileName)));
  const std::string_view peer = event.text(meaning.part(Role::Peer));
  descriptors_.tell_socket(static_cast<uint64_t>(part(event, Role::Inode)),
                           event.text(meaning.part(Role::Protocol)) == "unix",
                           peer.empty() ? event.text(meaning.part(Role::Local)) : peer);
}

void Engine::on_state_owner(const trace::Event& event) {
  Owner& owner = owners_[tid_of(part(event, Role::Pid))];
  if (event.type->meaning.word == Word::StateProcess) {
    owner.user = static_cast<uint32_t>(part(event, Role::User));
    if (const auto kb = event.integer(event.type->meaning.part(Role::Size)))
      memory_.begin(tid_of(part(event, Role::Pid)), static_cast<uint64_t>(*kb) * 1024);
    return;
  }
  owner.cgroup = names_.id(event.text(event.type->meaning.part(Role::FileName)));
  owner.container = names_.id(event.text(event.type->meaning.part(Role::Name)));
}

}  // namespace strata::state
