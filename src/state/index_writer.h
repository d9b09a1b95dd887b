// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "history/records.h"
#include "history/writer.h"
#include "state/index_records.h"
#include "state/mode.h"
#include "state/names.h"
#include "state/task.h"
#include "state/vm.h"

namespace strata::state {

// Writes what a machine's CPUs, tasks and virtual CPUs do into a history. Rows go by their keys, in
// the order in which things are heard of; docs/state.md lists them:
//
//   cpu/N             its Mode, info the submode (a name)
//   cpu/N/task        which task, info its number + 1
//   cpu/N/frequency   info kHz
//   task/N TID BORN   its TaskState; info the submode, of WaitCpu the packed Cause
//   task/N/cpu        info the CPU, state the MigrationCause that led there
//   task/N/name       info the name
//   task/N/process    info the process's id
//   vcpu/N VM NUMBER TID   its VcpuState
//   vcpu/N/is VM NUMBER    no intervals: what it is after all; the last of them counts
//   vcpu/N/guest CPU MACHINE   no intervals: which CPU of which other machine it is
//   vm/PROCESS NAME   no intervals: what a virtual machine is called
//   device/NUMBER NAME   no intervals: what a block device is called
//   name/TEXT         no intervals: the n-th of them is name n + 1
//
// Descriptors and requests to block devices go into a file of records beside it (index_records.h).
class IndexWriter {
 public:
  // `path`: of the history; its records are in records_path(path).
  static Result<IndexWriter> create(const std::string& path, uint64_t source);
  static std::string records_path(const std::string& path) { return path + ".records"; }

  // Up to `time` all is known. What has not ended was told by the engine just before.
  Status checkpoint(int64_t time);
  Status finish(int64_t time);
  uint64_t intervals() const { return history_.intervals(); }

  void add_cpu(CpuIndex cpu, int64_t time);
  void add_task(TaskId id, Tid tid, int64_t born);
  void add_vcpu(VcpuIndex vcpu, Tid process, uint32_t number, Tid tid);

  void cpu_mode(CpuIndex cpu, int64_t time, Mode mode, NameId submode) {
    history_.set(cpus_[cpu].mode, time, static_cast<history::State>(mode), submode);
  }
  void cpu_task(CpuIndex cpu, int64_t time, TaskId task) {
    history_.set(cpus_[cpu].task, time, task != kNoTask, task + 1);
  }
  void cpu_frequency(CpuIndex cpu, int64_t time, uint32_t khz);
  void task_state(TaskId task, int64_t time, TaskState state, uint32_t info) {
    history_.set(tasks_[task], time, static_cast<history::State>(state), info);
  }
  // What the task's state has been since it began, after all.
  void correct_task_state(TaskId task, TaskState state, uint32_t info) {
    history_.correct(tasks_[task], static_cast<history::State>(state), info);
  }
  void task_cpu(TaskId task, int64_t time, CpuIndex cpu, MigrationCause cause);
  void task_name(TaskId task, int64_t time, NameId name);
  void task_process(TaskId task, int64_t time, Tid process);
  void vcpu_state(VcpuIndex vcpu, int64_t time, VcpuState state, uint32_t info) {
    history_.set(vcpus_[vcpu].state, time, static_cast<history::State>(state), info);
  }
  void vcpu_identity(VcpuIndex vcpu, Tid process, uint32_t number);
  void vcpu_guest(const GuestCpuName& guest);
  void vm_name(Tid process, std::string_view name);
  // It has ended; or not, and is told again before the next checkpoint.
  void descriptor(const DescriptorRecord& record, bool has_ended);
  void block_request(BlockRecord record, bool has_ended);
  void device_name(DeviceId device, std::string_view name);
  // Names that have come since the last call.
  void add_names(const Names& names);

 private:
  struct CpuRows {
    history::Row mode = 0;
    history::Row task = 0;
  };
  struct VcpuRow {
    history::Row state = 0;
    Tid process = kNoTid;
    uint32_t number = 0;
  };
  IndexWriter(history::Writer history, history::RecordWriter records)
      : history_(std::move(history)), records_(std::move(records)) {}
  history::Row task_row(TaskId task, std::string_view what);
  void add_record(RecordKind kind, size_t values, const history::Record& record, bool has_ended);

  history::Writer history_;
  history::RecordWriter records_;
  std::vector<CpuRows> cpus_;
  std::vector<history::Row> tasks_;
  std::vector<Tid> tids_;  // of each
  std::vector<VcpuRow> vcpus_;
  size_t names_ = 1;
};

}  // namespace strata::state
