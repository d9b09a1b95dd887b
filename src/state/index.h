// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "history/history.h"
#include "history/records.h"
#include "state/index_records.h"
#include "state/snapshot.h"
#include "state/task.h"

namespace strata::state {

// What a machine did, as an IndexWriter has written it down: the history's rows by what they are
// of, and what their numbers mean.
class Index {
 public:
  // `source`: what it should have been made from. An error means that it is to be made anew.
  static Result<Index> open(const std::string& path, uint64_t source);

  struct CpuRows {
    history::Row mode = 0;
    history::Row task = 0;
    std::optional<history::Row> frequency = std::nullopt;
  };
  struct TaskRows {
    Tid tid{0};
    int64_t born = 0;
    history::Row state = 0;
    std::optional<history::Row> name = std::nullopt;
    std::optional<history::Row> process = std::nullopt;
    std::optional<history::Row> cpu = std::nullopt;
  };
  struct VcpuRows {
    Tid process = kNoTid;
    uint32_t number = 0;
    Tid tid = kNoTid;
    history::Row state = 0;
  };
  const std::map<CpuIndex, CpuRows>& cpus() const { return cpus_; }
  const std::vector<TaskRows>& tasks() const { return tasks_; }  // by TaskId
  const std::vector<VcpuRows>& vcpus() const { return vcpus_; }  // by VcpuIndex
  // Which virtual CPUs are CPUs of machines whose traces were there too.
  const std::vector<GuestCpuName>& guests() const { return guests_; }
  history::History& history() { return history_; }

  // Descriptors and requests to block devices that have a part between two times, in no order.
  // With a thread's id, or a process's, those of others may be among them.
  history::Records::Walk records(RecordKind kind, int64_t begin, int64_t end,
                                 std::optional<int64_t> subject = std::nullopt);
  // Empty: nobody told.
  const std::string& device_name(DeviceId device) const;

  // Nothing more comes, and nothing was cut off.
  bool is_complete() const { return history_.is_complete() && records_.is_complete(); }

  // The text of a number that an interval's info is. Empty: there is none.
  const std::string& name(NameId id) const;
  // A machine's name where it was told, or else one made from its process.
  std::string vm_name(Tid process) const;

  // What a task was called at a time, or first.
  Result<std::string> name_at(TaskId task, int64_t time);
  Result<Tid> process_at(TaskId task, int64_t time);
  // Who preempted or woke, in words.
  Result<std::string> cause_at(uint32_t info, int64_t time);

  Result<Snapshot> at(int64_t time);

 private:
  Index(history::History history, history::Records records)
      : history_(std::move(history)), records_(std::move(records)) {}
  bool add_row(history::Row row, std::string_view key);
  bool add_cpu_row(history::Row row, std::string_view key);
  bool add_task_row(history::Row row, std::string_view key);
  bool add_vcpu_row(history::Row row, std::string_view key);
  Result<std::string> detail(TaskState state, uint32_t info, int64_t time);
  // A row's info at a time, or the first that it ever had.
  Result<uint32_t> info_at(std::optional<history::Row> row, int64_t time, uint32_t otherwise);
  Status add_cpus(int64_t time, Snapshot& all);
  Status add_tasks(int64_t time, Snapshot& all);
  Status add_vcpus(int64_t time, Snapshot& all);

  history::History history_;
  history::Records records_;
  std::map<CpuIndex, CpuRows> cpus_;
  std::vector<TaskRows> tasks_;
  std::vector<VcpuRows> vcpus_;
  std::vector<GuestCpuName> guests_;
  std::vector<std::string> names_ = {""};
  std::unordered_map<Tid, std::string> vm_names_;
  std::unordered_map<DeviceId, std::string> device_names_;
};

}  // namespace strata::state
