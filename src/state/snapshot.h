// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/engine.h"

namespace strata::state {

// What a machine's CPUs, tasks and virtual CPUs are doing at one moment, in words.
struct CpuAt {
  CpuIndex cpu = 0;
  Mode mode = Mode::Unknown;
  std::string submode;
  TaskId task = kNoTask;
  Tid tid = kNoTid;  // the task's, and its name
  std::string name;
  int64_t since = 0;

  bool operator==(const CpuAt&) const = default;
};

struct TaskAt {
  TaskId id = kNoTask;
  Tid tid{0};
  Tid pid = kNoTid;
  std::string name;
  TaskState state = TaskState::Unknown;
  std::string detail;  // which system call, interrupt, exit; of WaitCpu, since whom
  int64_t since = 0;

  bool operator==(const TaskAt&) const = default;
};

struct VcpuAt {
  VcpuIndex vcpu = 0;
  std::string vm;
  uint32_t number = 0;
  Tid tid = kNoTid;  // its thread
  VcpuState state = VcpuState::Unknown;
  std::string detail;
  int64_t since = 0;

  bool operator==(const VcpuAt&) const = default;
};

struct Snapshot {
  std::vector<CpuAt> cpus;
  std::vector<TaskAt> tasks;  // without the idle ones
  std::vector<VcpuAt> vcpus;

  bool operator==(const Snapshot&) const = default;
};

// How the task is called that a CPU runs when there is nothing to do.
constexpr std::string_view kIdleTask = "<idle>";

// "preempted by cc1 4711", "woken by bash 12 in a softirq"; `name` and `tid` are of the cause's
// task.
std::string cause_text(const Cause& cause, const std::string& name, Tid tid);

// What the engine knows after the events that it has taken.
Snapshot snapshot_of(const Engine& engine);

}  // namespace strata::state
