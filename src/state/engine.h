// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "state/block.h"
#include "state/blocking.h"
#include "state/counters.h"
#include "state/cpu.h"
#include "state/descriptors.h"
#include "state/index_writer.h"
#include "state/memory.h"
#include "state/mode.h"
#include "state/names.h"
#include "state/network.h"
#include "state/statistics.h"
#include "state/task.h"
#include "state/throttling.h"
#include "state/vm.h"
#include "trace/trace.h"
#include "trace/type_table.h"

namespace strata::state {

class PeriodCutter;

// To whom a process belongs, where the starting state told.
struct Owner {
  std::optional<uint32_t> user = std::nullopt;
  NameId container = kNoName;
  NameId cgroup = kNoName;
};

// What every CPU, task and virtual CPU of one machine is doing, from its events in the order of
// time, in one pass. It knows the vocabulary (trace/vocabulary.h) and no tracer's names.
//
// A task's modes are a stack: user code, the system call on top of it, guest code on top of that.
// Interrupts are on top of whatever their CPU runs, and are the CPU's. Time is charged to the top.
//
// What is not told is UNKNOWN, never guessed. Before the first event that tells, and after lost
// events, a CPU's task is known again from the next event that carries it, and a task's mode from
// the next event that implies it. What was lost on one CPU may have been anything that happened to
// tasks that no other CPU was running: their states are unknown from the last event before the loss
// on. Since that may be many tasks, each is told only when it is next looked at (losses_).
//
// Kernels now and then leave out a switch without a word, and nothing else: the next event shows
// another task. Then it is only these two tasks and the CPU of which it is not known what they did
// between the two events.
class Engine {
 public:
  // More than any machine has: what a damaged trace names is not believed.
  static constexpr CpuIndex kMostCpus = 1u << 16;

  // `index`: where states go besides; null: nowhere.
  explicit Engine(int64_t begin, IndexWriter* index = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // To be called for each trace of the machine before its events come.
  void add_trace(const trace::Trace& trace);
  void take(const trace::Event& event) { apply(event, arrive(event)); }

  // The same in two steps, for who wants to see the state in which the event found its CPU.
  struct TypeUse;
  const TypeUse* arrive(const trace::Event& event);
  void apply(const trace::Event& event, const TypeUse* use);
  struct Moment {
    TaskId task = kNoTask;
    Mode mode = Mode::Unknown;
    NameId submode = kNoName;
  };
  Moment moment(CpuId cpu) const;

  // From now on, virtual CPUs whose state changes are put there too; null: nowhere.
  void watch_vcpus(std::vector<VcpuIndex>* changed) { changed_vcpus_ = changed; }

  // From now on, what is about to change is told there, so that it can be cut into periods; null:
  // nowhere.
  void watch_periods(PeriodCutter* cutter);

  // Whether it is a kernel's: who runs, and what was lost, is true of the CPU. A program's trace
  // has meanings of its own at most, and its clock is read by the program: near a switch it may
  // seem to run where it does not any more. What is sampled beside the events is read by somebody
  // else still.
  static bool tells_of_cpus(const trace::Trace& trace);
  // Events that were lost behind the last one of a CPU, in such a trace.
  void lose_rest(CpuId cpu);
  // Charges everything up to `time`. To be called at the end; or on the way, for whoever wants to
  // look: the engine goes on from there.
  void settle_all(int64_t time);
  // The same, and tells the index what has not ended. To be called before each of its checkpoints.
  void tell_index(int64_t time);
  // The statistics begin here.
  void reset_statistics(int64_t time);

  int64_t begin() const { return begin_; }
  int64_t now() const { return now_; }
  const std::vector<Cpu>& cpus() const { return cpus_; }
  const Tasks& tasks() const { return tasks_; }
  const Vms& vms() const { return vms_; }
  const Names& names() const { return names_; }
  const Statistics& statistics() const { return statistics_; }
  const Descriptors& descriptors() const { return descriptors_; }
  const BlockDevices& block_devices() const { return block_devices_; }
  const Interfaces& interfaces() const { return interfaces_; }
  const Memory& memory() const { return memory_; }
  const Counters& counters() const { return counters_; }
  const Throttling& throttling() const { return throttling_; }
  // From entry to exit, of each line and vector by its name.
  const std::map<std::pair<Mode, NameId>, Durations>& interrupts() const { return interrupts_; }
  // Event types by the number that the statistics call them.
  const std::vector<const trace::EventType*>& types() const { return type_list_; }
  // Null: nobody told.
  const Owner* owner(Tid process) const {
    const auto found = owners_.find(process);
    return found == owners_.end() ? nullptr : &found->second;
  }
  // As it was told, or else by its process.
  std::string vm_name(VmIndex vm) const;
  // Places where events were lost, as the trace told.
  uint64_t losses() const { return losses_.size(); }
  // Switches that were not recorded: another task ran than was thought.
  uint64_t missed_switches() const { return missed_switches_; }

 private:
  using Word = trace::Word;
  using Role = trace::Role;

  const TypeUse* add_type(const trace::EventType& type, bool tells, bool is_sample = false);
  Cpu& cpu_at(CpuIndex index);
  void add_cpu(CpuIndex index);
  static int64_t part(const trace::Event& event, Role role, int64_t otherwise = 0) {
    const trace::Binding& meaning = event.type->meaning;
    const uint8_t slot =
        trace::kSlots[static_cast<size_t>(meaning.word)][static_cast<size_t>(role)];
    if (slot != trace::kNoSlot)
      load_integer(event.record, meaning.parts[slot], event.bases, otherwise);
    return otherwise;
  }

  // The task of a thread's id, which is new where it was never heard of or ended before.
  TaskId task_of(Tid tid);
  TaskId add_task(Tid tid, int64_t born);
  void see_losses(TaskId id) {
    if (tasks_[id].losses_seen != losses_.size()) [[unlikely]]
      catch_up_losses(id);
  }
  void catch_up_losses(TaskId id);
  void name_task(TaskId id, std::string_view name);
  void set_process(TaskId id, Tid tgid);
  void make_kernel_thread(TaskId id);

  // Time.
  void settle(Cpu& cpu, int64_t time);
  void show(Cpu& cpu);
  void set_task_state(Task& task, int64_t time, TaskState state, uint32_t info);
  void tell_state(const Task& task, int64_t time, TaskState state);
  void lose(Cpu& cpu);
  void miss_switch(Cpu& cpu);
  Task* forget_task(Cpu& cpu);
  void find_running(Cpu& cpu, Tid tid);

  // Frames.
  uint32_t slot_of(Task& task, CpuIndex cpu, Mode mode, NameId submode);
  void enter(Task& task, Frame& frame, CpuIndex cpu, Mode mode, NameId submode);
  void leave(const Task& task, const Frame& frame);
  void reset_stack(Task& task, Mode mode);
  void set_bottom(Task& task, CpuIndex cpu, Mode mode);
  void push(Cpu& cpu, Mode mode, NameId submode);
  // Down to what is below the topmost frame of this mode, if there is one.
  bool pop(Cpu& cpu, Mode mode);
  void unwind(Task& task, uint32_t depth);
  void enter_interrupt(Cpu& cpu, Mode mode, NameId submode);
  void leave_interrupt(Cpu& cpu, Mode mode);

  // One for each word, or several alike.
  void on_switch(const trace::Event& event, Cpu& cpu);
  void switch_out(Cpu& cpu, int64_t prev_state, TaskId next);
  void switch_in(Task& task, Cpu& cpu);
  void on_wakeup(const trace::Event& event, Cpu& cpu);
  void on_migrate(const trace::Event& event, Cpu& cpu);
  void on_new_task(const trace::Event& event, Cpu& cpu);
  void on_exit(const trace::Event& event, Cpu& cpu);
  void on_free(const trace::Event& event);
  void inherit_owner(Tid parent, Tid child);
  void on_exec(Cpu& cpu);
  void on_syscall_entry(const trace::Event& event, Cpu& cpu, NameId syscall);
  void on_syscall_exit(const trace::Event& event, Cpu& cpu);
  void on_fault(Cpu& cpu, bool in_user);
  void on_vm_entry(const trace::Event& event, Cpu& cpu);
  void on_vm_exit(const trace::Event& event, Cpu& cpu);
  void on_vm_user_exit(Cpu& cpu);
  void count_vcpu_event(Cpu& cpu, VcpuEvent event);
  void on_idle(const trace::Event& event, Cpu& cpu);
  void on_frequency(const trace::Event& event, Cpu& cpu);
  void on_state_task(const trace::Event& event);
  void on_state_owner(const trace::Event& event);
  void on_state_vm(const trace::Event& event);
  void on_state_file(const trace::Event& event);
  void on_device(const trace::Event& event, Cpu& cpu);
  void on_block(const trace::Event& event, TaskId task);
  void on_network(const trace::Event& event);
  void on_memory(const trace::Event& event, Cpu& cpu, TaskId task);
  void on_sample(const trace::Event& event, Cpu& cpu);

  NameId syscall_name(int64_t number);
  NameId vector_name(int64_t vector);
  NameId idle_level_name(int32_t level);
  NameId interrupt_name(const trace::Event& event, const TypeUse& use);
  NameId exit_name(const trace::Event& event);
  void add_guest(const trace::GuestInfo& guest);
  void name_vm(Tid process, std::string_view name);
  VcpuIndex vcpu_at(const trace::Event& event, TaskId id);
  Tid process_of_vcpu(const Task& task, std::optional<uint32_t> number);
  VcpuIndex bind_vcpu(Tid process, std::optional<uint32_t> number, TaskId id);
  void move_vcpu(const Task& task);
  void tell_vcpus_of(VmIndex vm);
  Vcpu* running_vcpu(Cpu& cpu);
  void update_vcpu(const Task& task, int64_t time);
  void set_vcpu_state(VcpuIndex index, int64_t time, VcpuState state, uint32_t info);
  TaskState wait_of(const Task& task, int64_t prev_state);
  TaskState refined_wait(const Cpu& waker, const Task& task);

  int64_t begin_;
  int64_t now_;  // the latest time of all events so far; it never goes back
  IndexWriter* index_;
  std::vector<Cpu> cpus_;
  CpuIndex cpu_count_ = 0;  // their number, without the division that a vector's size takes
  Tasks tasks_;
  Vms vms_;
  std::vector<VcpuIndex>* changed_vcpus_ = nullptr;
  PeriodCutter* cutter_ = nullptr;
  std::unordered_map<Tid, Owner> owners_;  // by process
  Names names_;
  Statistics statistics_;
  Descriptors descriptors_{tasks_, names_, losses_, now_, index_};
  BlockDevices block_devices_{index_};
  Interfaces interfaces_;
  Memory memory_;
  Counters counters_;
  Throttling throttling_;
  std::map<std::pair<Mode, NameId>, Durations> interrupts_;
  trace::TypeTable<TypeUse> types_;
  std::vector<const trace::EventType*> type_list_;
  // When each began, or one that was told later: the last event before it. They never go back, so
  // that what a task has not seen yet begins with the first of those.
  std::vector<int64_t> losses_;
  uint64_t missed_switches_ = 0;
  std::string processor_ = "x86_64";
  std::vector<NameId> syscalls_;              // by number; 0: not looked up yet
  std::unordered_map<int64_t, NameId> irqs_;  // by line
  std::vector<NameId> vectors_;               // of softirqs, by number; 0: not looked up yet
  std::vector<NameId> idle_levels_;           // the same
  CallWaits call_waits_{names_};
  uint32_t setting_affinity_ = 0;  // tasks that are in that call
  NameId affinity_call_;
};

// How events of a type are taken.
struct Engine::TypeUse {
  uint32_t number = 0;
  Word word = Word::None;
  bool tells = false;        // see tells_of_cpus()
  bool is_sample = false;    // of counters, or of cgroups
  NameId submode = kNoName;  // where all events of the type have the same
};

inline void Engine::settle(Cpu& cpu, int64_t time) {
  if (time <= cpu.since) return;
  const auto ns = static_cast<uint64_t>(time - cpu.since);
  cpu.since = time;
  cpu.ns[static_cast<size_t>(cpu.mode)] += ns;
  statistics_[cpu.slot].cpu_ns += ns;
  if (cpu.running != nullptr && cpu.depth == 0) cpu.running->cpu_ns += ns;
}

// The slot of what a task has on top of its stack.
inline uint32_t Engine::slot_of(Task& task, CpuIndex cpu, Mode mode, NameId submode) {
  RecentSlots::Entry& recent = task.slots.of(submode);
  if (recent.submode != submode || recent.cpu != cpu || recent.mode != mode) [[unlikely]]
    recent = {submode, cpu, mode, statistics_.find(task.id, cpu, mode, submode)};
  return recent.slot;
}

inline void Engine::set_task_state(Task& task, int64_t time, TaskState state, uint32_t info) {
  if (task.state == state && task.info == info) return;
  if (cutter_ != nullptr) [[unlikely]]
    tell_state(task, time, state);
  if (time > task.since) {
    task.ns[static_cast<size_t>(task.state)] += static_cast<uint64_t>(time - task.since);
    task.since = time;
  }
  task.state = state;
  task.info = info;
  task.began = task.since;
  if (index_ != nullptr) index_->task_state(task.id, task.since, state, info);
  if (task.vcpu != kNoVcpu) [[unlikely]]
    update_vcpu(task, task.since);
}

}  // namespace strata::state
