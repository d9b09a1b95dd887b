// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "state/durations.h"
#include "state/task.h"

namespace strata::state {

// What a task did about memory.
struct MemoryOfTask {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t pages_allocated = 0;
  uint64_t pages_freed = 0;
  Durations reclaims = {};  // memory that it had to free before it got some
  uint64_t pages_reclaimed = 0;
  bool was_killed = false;  // for the memory that it had
};

// How much memory a process uses, and what it is.
//
// The kernel tells each kind (of files, its own, swapped out, shared) by itself, when it changes;
// the starting state tells the sum. So the sum is known from the beginning by what has changed
// since, and exactly when all kinds were told.
class MemoryUse {
 public:
  enum Kind : uint8_t { Files, Own, Swapped, Shared, Count_ };

  void begin(uint64_t resident) { begin_ = static_cast<int64_t>(resident); }
  // `space`: the kernel's number of the address space; a process gets another when it executes a
  // program.
  void change(uint64_t space, Kind kind, int64_t bytes);

  std::optional<uint64_t> of(Kind kind) const;
  // In memory; empty: not told.
  std::optional<uint64_t> resident() const;
  bool is_exact() const;
  uint64_t space() const { return space_; }

 private:
  struct Told {
    int64_t first = 0;
    int64_t now = 0;
  };
  uint64_t space_ = 0;
  std::optional<int64_t> begin_;
  std::array<std::optional<Told>, Count_> told_;
};

// The memory of all processes and tasks of a machine.
class Memory {
 public:
  void allocate(TaskId task, int64_t order);
  void free(TaskId task, int64_t order);
  void begin_reclaim(TaskId task, int64_t now);
  void end_reclaim(TaskId task, int64_t pages, int64_t now);
  void kill(TaskId task) { tasks_[task].was_killed = true; }
  // `process`: whose it is; kNoTid: not that of the task that runs, but of a space told before.
  void change(Tid process, uint64_t space, int64_t kind, int64_t bytes);
  void begin(Tid process, uint64_t resident) { processes_[process].begin(resident); }
  void end(Tid process);
  void lose();
  void reset();

  const MemoryOfTask& of(TaskId task) const;
  // Null: nobody told.
  const MemoryUse* of_process(Tid process) const;

 private:
  std::unordered_map<TaskId, MemoryOfTask> tasks_;
  std::unordered_map<TaskId, int64_t> reclaiming_;  // since when
  std::unordered_map<Tid, MemoryUse> processes_;
  std::unordered_map<uint64_t, Tid> spaces_;  // whose they are
};

}  // namespace strata::state
