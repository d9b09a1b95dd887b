// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "state/mode.h"
#include "state/names.h"

namespace strata::state {

// Tasks are numbered in the order in which they are heard of. A thread's id comes again after it
// ended; its number does not.
using TaskId = uint32_t;
constexpr TaskId kNoTask = UINT32_MAX;
using VcpuIndex = uint32_t;
constexpr VcpuIndex kNoVcpu = UINT32_MAX;
using CpuIndex = uint32_t;
constexpr CpuIndex kNoCpu = UINT32_MAX;

// Which slot of the statistics (see Statistics) a task had in this mode lately: it makes the same
// few system calls again and again.
class RecentSlots {
 public:
  struct Entry {
    NameId submode = kNoName;
    CpuIndex cpu = kNoCpu;
    Mode mode = Mode::Unknown;
    uint32_t slot = 0;
  };
  Entry& of(NameId submode) { return entries_[submode % kEntries]; }

 private:
  static constexpr uint32_t kEntries = 4;
  std::array<Entry, kEntries> entries_;
};

// One level of a stack of modes.
struct Frame {
  Mode mode = Mode::Unknown;
  NameId submode = kNoName;  // which system call, interrupt line, vector
  uint32_t slot = 0;         // of the statistics, where time is charged; see Statistics
  CpuIndex cpu = kNoCpu;     // that the slot is of
  int64_t entered = 0;
  uint64_t cpu_at_entry = 0;  // the task's time on CPUs so far
};

// Modes of a task without interrupts, which are their CPU's: user, system call, trap, guest. The
// bottom is always there. Deeper than this they do not nest; what would is a sign of events that
// went missing, and is dropped.
class ModeStack {
 public:
  static constexpr uint32_t kDeepest = 5;

  Frame& top() { return frames_[depth_ - 1]; }
  const Frame& top() const { return frames_[depth_ - 1]; }
  uint32_t depth() const { return depth_; }
  Frame& operator[](uint32_t level) { return frames_[level]; }
  const Frame& operator[](uint32_t level) const { return frames_[level]; }
  Frame* push() { return depth_ == kDeepest ? nullptr : &frames_[depth_++]; }
  // Not the bottom.
  void pop() { --depth_; }

 private:
  std::array<Frame, kDeepest> frames_;
  uint32_t depth_ = 1;
};

// Why a task moved to another CPU.
enum class MigrationCause : uint8_t { None, Wakeup, Balance, Affinity, Count_ };
std::string_view name_of(MigrationCause cause);

// From where a task was woken.
enum class WakeContext : uint8_t { Preempted, Task, Irq, Softirq };

// Who made a task wait for its CPU, or rather end its other waiting: whoever preempted it or woke
// it, in one number as the history keeps it.
struct Cause {
  TaskId task = kNoTask;
  WakeContext context = WakeContext::Preempted;

  uint32_t packed() const {
    return (task == kNoTask ? 0 : task + 1) << 2 | static_cast<uint32_t>(context);
  }
  static Cause unpacked(uint32_t info) {
    return {info >> 2 == 0 ? kNoTask : (info >> 2) - 1, static_cast<WakeContext>(info & 3)};
  }
};

// A thread, from its birth, or when it was first heard of, to its end.
struct Task {
  // What most events look at lies side by side.
  TaskId id = kNoTask;
  Tid tid{0};
  CpuIndex cpu = kNoCpu;  // that it runs on or ran on last
  VcpuIndex vcpu = kNoVcpu;
  TaskState state = TaskState::Unknown;
  bool saw_birth = false;
  bool is_kernel = false;  // a thread of the kernel's own
  bool is_exiting = false;
  bool name_is_stale = false;  // it executes another program; the next switch tells the name
  uint32_t info = 0;           // of the state: the submode; of WaitCpu a Cause
  NameId name = kNoName;
  uint32_t losses_seen = 0;      // see Engine
  int64_t began = 0;             // the state
  int64_t since = 0;             // what was before is in `ns`
  uint64_t cpu_ns = 0;           // charged to it, without interrupts
  int64_t fault_at = INT64_MIN;  // of the last page fault that it has not slept in
  ModeStack stack;
  RecentSlots slots;

  Tid tgid = kNoTid;  // of its process; kNoTid: not told
  Tid parent = kNoTid;
  int64_t born = 0;  // or first heard of, which `saw_birth` tells apart
  uint32_t faults = 0;
  uint32_t major_faults = 0;  // of these, those that it slept in
  uint32_t migrations = 0;
  uint32_t wakeups = 0;
  std::array<uint64_t, kTaskStates> ns = {};  // how long it was in each state before

  bool is_idle_task() const { return tid == Tid{0}; }
};

// All tasks of a machine, and which of them a thread's id means now.
class Tasks {
 public:
  Task& operator[](TaskId id) { return (*blocks_[id / kBlock])[id % kBlock]; }
  const Task& operator[](TaskId id) const { return (*blocks_[id / kBlock])[id % kBlock]; }
  size_t size() const { return size_; }

  TaskId find(Tid tid) const {
    const auto number = static_cast<uint32_t>(raw(tid));
    if (number >= kPaged) [[unlikely]]
      return find_odd(tid);
    const auto& page = pages_[number / kPage];
    return page ? (*page)[number % kPage] : kNoTask;
  }
  // From now on `tid` means this new one.
  TaskId add(Tid tid, int64_t born);
  // An idle task, of which each CPU has its own, all called 0.
  TaskId add_idle(int64_t born);

  // All, in the order of their numbers.
  class Iterator {
   public:
    Iterator(const Tasks& tasks, size_t id) : tasks_(tasks), id_(id) {}
    const Task& operator*() const { return tasks_[static_cast<TaskId>(id_)]; }
    Iterator& operator++() {
      ++id_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }

   private:
    const Tasks& tasks_;
    size_t id_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  static constexpr uint32_t kPage = 1024;
  static constexpr uint32_t kPaged = 1u << 22;  // the kernel has no larger ones
  using Page = std::array<TaskId, kPage>;

  TaskId find_odd(Tid tid) const;

  static constexpr uint32_t kBlock = 64;  // of tasks, which stay where they are

  std::vector<std::unique_ptr<std::array<Task, kBlock>>> blocks_;
  size_t size_ = 0;
  std::vector<std::unique_ptr<Page>> pages_ = std::vector<std::unique_ptr<Page>>(kPaged / kPage);
  std::unordered_map<Tid, TaskId> odd_;  // ids that no kernel gives
};

}  // namespace strata::state
