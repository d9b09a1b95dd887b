// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "period/table.h"
#include "state/engine.h"
#include "trace/type_table.h"

namespace strata::state {

// Cuts what an engine finds into periods.
//
// The engine goes on as without: its sums grow over the whole, and a period is the difference of
// what they are, or would be, at its edges. So that a task that does nothing costs nothing, the
// engine says which one is about to change (touch()): what it was at the last edge follows from
// what it is then, since nothing has changed meanwhile. Only when this is there does the engine
// call anything of it.
//
// The engine may learn later that something was otherwise: what a wait was for when it ends, and
// that events were lost from the last one before on. What lies before the last edge was told
// already, and becomes a period::Correction.
class PeriodCutter {
 public:
  // Periods begin now. The engine must outlive it.
  PeriodCutter(Engine& engine, int64_t begin);
  PeriodCutter(const PeriodCutter&) = delete;
  PeriodCutter& operator=(const PeriodCutter&) = delete;
  ~PeriodCutter();

  // To be called for each event before the engine takes it.
  void count(const trace::Event& event);
  // Events that were lost behind the last one.
  void count_lost(CpuId cpu, uint64_t events, bool more_than_these);

  // What happened since the last edge up to `time`, which no event has reached that the engine took
  // (but at the very end). The next period begins there.
  period::Machine cut(int64_t time, const std::string& machine);

  // What the engine calls before it changes something.
  void touch(TaskId id);
  void change_state(TaskId id, int64_t time, TaskState state);
  // What the task waits for, since it began to.
  void refine_wait(TaskId id, TaskState state);
  // From the CPU's last event on.
  void lose_cpu(CpuIndex index);
  void change_vcpu(VcpuIndex index, int64_t time, VcpuState state, uint32_t info);
  void begin_call(const trace::Event& event, TaskId id, NameId syscall);
  void end_call(TaskId id);
  void lose_block(int64_t time);
  void charge_socket(TaskId id, const Traffic& traffic);
  // What counters counted, by Engine::counters(); kNoTask: of nobody that is known.
  void charge_counters(TaskId id, CpuIndex cpu, std::span<const uint64_t> counts);
  void change_file(FileId id) { touched_file(id); }
  // Traffic that was taken for that of another file.
  void move_traffic(FileId from, FileId to, const Traffic& traffic);

 private:
  using States = std::array<uint64_t, kTaskStates>;

  // A task that changed since the last edge, and what it was then.
  struct Touched {
    TaskId id = kNoTask;
    TaskState before = TaskState::Unknown;
    bool was_there = false;
    bool had_ended = false;
    States ns = {};
    uint32_t faults = 0;
    uint32_t major_faults = 0;
    uint32_t migrations = 0;
    uint32_t wakeups = 0;
    Traffic traffic = {};
    BlockBytes block = {};
    // Counted since.
    uint64_t preemptions = 0;
    uint64_t sleeps = 0;
    uint64_t syscalls = 0;
    Traffic sockets = {};
    std::vector<uint64_t> counts = {};  // by Counters::names(); empty: nothing
    period::Corrections corrections = {};
  };
  struct TouchedFile {
    FileId id = 0;
    uint64_t opens = 0;
    Traffic traffic = {};
  };
  struct CpuBase {
    bool is_there = false;
    std::array<uint64_t, kModes> ns = {};
    uint64_t unknown_task_ns = 0;
    uint64_t events = 0;  // from here on: counted since
    uint64_t switches = 0;
    uint64_t lost_events = 0;
    uint64_t losses = 0;
    std::vector<uint64_t> counts = {};  // as of tasks
    period::Corrections corrections = {};
  };
  struct VcpuBase {
    std::array<uint64_t, kVcpuStates> ns = {};
    std::map<NameId, ExitSum> exits = {};
    std::array<uint64_t, kVcpuEvents> events = {};
    period::Corrections corrections = {};
    std::map<NameId, period::Corrections> exit_corrections = {};
    std::map<TaskId, uint64_t> preempters = {};  // since: who took its CPU, and for how long
  };
  struct DeviceBase {
    BlockDevice device = {};
    period::Corrections corrections = {};
  };

  Touched& touched(TaskId id) {
    touch(id);
    return touched_[touched_at_[id] - 1];
  }
  TouchedFile& touched_file(FileId id);
  void put_right(TaskId id, int64_t begin, TaskState state);
  void correct(period::Corrections& corrections, int64_t begin, std::optional<period::Column> from,
               std::optional<period::Column> to, uint64_t weight = 1) const;
  CpuBase& cpu_base(CpuIndex index);
  VcpuBase& vcpu_base(VcpuIndex index);
  CpuBase cpu_at(CpuIndex index, int64_t time) const;
  VcpuBase vcpu_at(VcpuIndex index, int64_t time) const;
  void charge_preempter(const Vcpu& vcpu, int64_t time, VcpuBase& base) const;
  std::string preempter(const VcpuBase& base) const;
  static BlockDevice device_at(const BlockDevice& device, int64_t time);

  void cut_cpus(int64_t time, period::Machine& machine);
  void cut_tasks(int64_t time, period::Machine& machine);
  period::TaskRow task_row(const Touched& touched, int64_t time);
  void describe(TaskId id, period::TaskRow& row) const;
  template <typename Values>
  void put_counts(const std::vector<uint64_t>& counts, Values& values) const;
  enum Counted : uint8_t { kThread = 1, kProcess = 2 };
  void count(TaskId id, Counted what, bool is_one, uint64_t& sum);
  bool is_memory_told() const;
  std::string device_name(const BlockDevice& device) const;
  void cut_vcpus(int64_t time, period::Machine& machine);
  void cut_files(period::Machine& machine);
  void cut_devices(int64_t time, period::Machine& machine);
  void cut_interfaces(period::Machine& machine);
  void cut_latencies(period::Machine& machine);
  void mark(period::Machine& machine) const;
  void mark_counters(period::Machine& machine) const;
  static bool has_ended(const Task& task) {
    return task.is_exiting || task.state == TaskState::Zombie || task.state == TaskState::Dead;
  }
  bool saw(trace::Word word) const { return seen_[static_cast<size_t>(word)]; }

  Engine& engine_;
  int64_t edge_;  // the last one
  uint64_t missed_switches_;
  std::bitset<trace::kWords> seen_;  // words that have come
  std::vector<Touched> touched_;
  std::vector<uint32_t> touched_at_;  // by task: where in touched_, + 1; 0: not touched
  std::vector<TouchedFile> files_;
  std::vector<uint32_t> files_at_;  // by file, the same
  std::vector<CpuBase> cpus_;
  std::vector<VcpuBase> vcpus_;
  std::map<DeviceId, DeviceBase> devices_;
  Interfaces interfaces_;
  std::map<std::pair<Mode, NameId>, Durations> interrupts_;
  period::Histogram run_queue_;
  std::map<NameId, period::Histogram> syscalls_;
  trace::TypeTable<trace::FieldRef> exit_arguments_;
  std::unordered_map<TaskId, uint32_t> exit_codes_;  // of tasks that are ending
  struct GroupExit {
    uint32_t code = 0;
    int64_t edge = 0;  // before it
  };
  std::unordered_map<Tid, GroupExit> group_exits_;  // by process
  bool lost_uncounted_ = false;                     // since the last edge
  bool memory_is_estimated_ = false;
  std::unordered_map<Tid, std::string> vm_names_;  // by process, at this edge
  std::vector<uint8_t> counted_;                   // by task: as what it is counted
  uint64_t threads_ = 0;
  uint64_t processes_ = 0;
};

}  // namespace strata::state
