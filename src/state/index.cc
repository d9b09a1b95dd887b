// SPDX-License-Identifier: Apache-2.0
#include "state/index.h"

#include <charconv>

#include "state/index_writer.h"

namespace strata::state {
namespace {

// Takes a number from the front of `text`, and the character behind it. False: there is none.
template <typename T>
bool take_number(std::string_view& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return true;
}

bool take_tid(std::string_view& text, Tid& tid) {
  int32_t number = 0;
  if (!take_number(text, number)) return false;
  tid = Tid{number};
  return true;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

Result<Index> Index::open(const std::string& path, uint64_t source) {
  Result<history::History> history = history::History::open(path, source);
  if (!history) return history.error();
  Result<history::Records> records =
      history::Records::open(IndexWriter::records_path(path), source);
  if (!records) return std::move(records).error();
  Index index(*std::move(history), *std::move(records));
  for (history::Row row = 0; row < index.history_.rows(); ++row) {
    if (!index.add_row(row, index.history_.key(row)))
      return Error{path, std::nullopt, "has a row that is none of the state's"};
  }
  return index;
}

bool Index::add_row(history::Row row, std::string_view key) {
  if (take_prefix(key, "name/")) {
    names_.emplace_back(key);
    return true;
  }
  if (take_prefix(key, "vm/")) {
    Tid process{};
    if (!take_tid(key, process)) return false;
    vm_names_[process] = key;
    return true;
  }
  if (take_prefix(key, "device/")) {
    uint32_t device = 0;
    if (!take_number(key, device)) return false;
    device_names_[DeviceId{device}] = key;
    return true;
  }
  if (take_prefix(key, "cpu/")) return add_cpu_row(row, key);
  if (take_prefix(key, "task/")) return add_task_row(row, key);
  if (take_prefix(key, "vcpu/")) return add_vcpu_row(row, key);
  return false;
}

bool Index::add_cpu_row(history::Row row, std::string_view key) {
  CpuIndex cpu = 0;
  if (!take_number(key, cpu)) return false;
  if (key.empty())
    cpus_[cpu].mode = row;
  else if (key == "task")
    cpus_[cpu].task = row;
  else if (key == "frequency")
    cpus_[cpu].frequency = row;
  else
    return false;
  return true;
}

// Tasks come in the order of their numbers.
bool Index::add_task_row(history::Row row, std::string_view key) {
  TaskId id = 0;
  if (!take_number(key, id) || id > tasks_.size()) return false;
  if (id == tasks_.size()) {
    TaskRows task{.state = row};
    if (!take_tid(key, task.tid) || !take_number(key, task.born)) return false;
    tasks_.push_back(task);
    return true;
  }
  if (key == "name")
    tasks_[id].name = row;
  else if (key == "process")
    tasks_[id].process = row;
  else if (key == "cpu")
    tasks_[id].cpu = row;
  else
    return false;
  return true;
}

bool Index::add_vcpu_row(history::Row row, std::string_view key) {
  VcpuIndex id = 0;
  VcpuRows vcpu{.state = row};
  if (!take_number(key, id) || id > vcpus_.size()) return false;
  if (take_prefix(key, "is "))
    return id < vcpus_.size() && take_tid(key, vcpus_[id].process) &&
           take_number(key, vcpus_[id].number);
  if (take_prefix(key, "guest ")) {
    GuestCpuName guest{.vcpu = id};
    if (!take_number(key, guest.cpu)) return false;
    guest.machine = key;
    std::erase_if(guests_, [&](const GuestCpuName& known) { return known.vcpu == id; });
    guests_.push_back(std::move(guest));
    return true;
  }
  if (id != vcpus_.size() || !take_tid(key, vcpu.process) || !take_number(key, vcpu.number) ||
      !take_tid(key, vcpu.tid))
    return false;
  vcpus_.push_back(vcpu);
  return true;
}

const std::string& Index::name(NameId id) const { return names_[id < names_.size() ? id : 0]; }

std::string Index::vm_name(Tid process) const {
  const auto found = vm_names_.find(process);
  return found != vm_names_.end() ? found->second : "vm-" + std::to_string(raw(process));
}

const std::string& Index::device_name(DeviceId device) const {
  const auto found = device_names_.find(device);
  return found != device_names_.end() ? found->second : names_.front();
}

history::Records::Walk Index::records(RecordKind kind, int64_t begin, int64_t end,
                                      std::optional<int64_t> subject) {
  return {records_, static_cast<uint8_t>(kind), begin, end, subject};
}

Result<uint32_t> Index::info_at(std::optional<history::Row> row, int64_t time, uint32_t otherwise) {
  if (!row) return otherwise;
  Result<std::optional<history::Interval>> at = history_.at(*row, time);
  if (!at) return at.error();
  if (*at) return (*at)->info;
  std::optional<uint32_t> first;
  // It has few intervals: what a task is called changes rarely.
  Status seen = history_.each(*row, time, history_.end(), [&](const history::Interval& interval) {
    if (!first) first = interval.info;
  });
  if (!seen) return seen.error();
  return first.value_or(otherwise);
}

Result<std::string> Index::name_at(TaskId task, int64_t time) {
  if (task >= tasks_.size()) return std::string();
  if (tasks_[task].tid == Tid{0}) return std::string(kIdleTask);
  const Result<uint32_t> info = info_at(tasks_[task].name, time, kNoName);
  if (!info) return info.error();
  return name(*info);
}

Result<Tid> Index::process_at(TaskId task, int64_t time) {
  if (task >= tasks_.size()) return kNoTid;
  const Result<uint32_t> info =
      info_at(tasks_[task].process, time, static_cast<uint32_t>(raw(kNoTid)));
  if (!info) return info.error();
  return Tid{static_cast<int32_t>(*info)};
}

Result<std::string> Index::cause_at(uint32_t info, int64_t time) {
  const Cause cause = Cause::unpacked(info);
  if (cause.task == kNoTask || cause.task >= tasks_.size())
    return cause_text({kNoTask, cause.context}, "", kNoTid);
  const Tid tid = tasks_[cause.task].tid;
  Result<std::string> name = name_at(cause.task, time);
  if (!name) return name;
  return cause_text(cause, *name, tid);
}

Result<std::string> Index::detail(TaskState state, uint32_t info, int64_t time) {
  return state == TaskState::WaitCpu ? cause_at(info, time) : name(info);
}

Result<Snapshot> Index::at(int64_t time) {
  Snapshot all;
  for (const auto& add : {&Index::add_cpus, &Index::add_tasks, &Index::add_vcpus})
    if (Status added = (this->*add)(time, all); !added) return added.error();
  return all;
}

Status Index::add_cpus(int64_t time, Snapshot& all) {
  for (const auto& [cpu, rows] : cpus_) {
    Result<std::optional<history::Interval>> mode = history_.at(rows.mode, time);
    if (!mode) return mode.error();
    if (!*mode || (*mode)->state >= kModes) continue;
    Result<std::optional<history::Interval>> task = history_.at(rows.task, time);
    if (!task) return task.error();
    const TaskId id = *task ? (*task)->info - 1 : kNoTask;
    Result<std::string> called = name_at(id, time);
    if (!called) return called.error();
    all.cpus.push_back({.cpu = cpu,
                        .mode = Mode((*mode)->state),
                        .submode = name((*mode)->info),
                        .task = id,
                        .tid = id < tasks_.size() ? tasks_[id].tid : kNoTid,
                        .name = *std::move(called),
                        .since = (*mode)->begin});
  }
  return {};
}

Status Index::add_tasks(int64_t time, Snapshot& all) {
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    if (tasks_[id].tid == Tid{0} || tasks_[id].born > time) continue;
    Result<std::optional<history::Interval>> at = history_.at(tasks_[id].state, time);
    if (!at) return at.error();
    if (!*at || (*at)->state >= kTaskStates) continue;
    const auto state = TaskState((*at)->state);
    Result<std::string> name = name_at(id, time);
    if (!name) return name.error();
    Result<Tid> process = process_at(id, time);
    if (!process) return process.error();
    Result<std::string> why = detail(state, (*at)->info, time);
    if (!why) return why.error();
    all.tasks.push_back({.id = id,
                         .tid = tasks_[id].tid,
                         .pid = *process,
                         .name = *std::move(name),
                         .state = state,
                         .detail = *std::move(why),
                         .since = (*at)->begin});
  }
  return {};
}

Status Index::add_vcpus(int64_t time, Snapshot& all) {
  for (VcpuIndex id = 0; id < vcpus_.size(); ++id) {
    Result<std::optional<history::Interval>> at = history_.at(vcpus_[id].state, time);
    if (!at) return at.error();
    if (!*at || (*at)->state >= kVcpuStates) continue;
    const auto state = VcpuState((*at)->state);
    Result<std::string> why =
        state == VcpuState::Preempted ? cause_at((*at)->info, time) : name((*at)->info);
    if (!why) return why.error();
    all.vcpus.push_back({.vcpu = id,
                         .vm = vm_name(vcpus_[id].process),
                         .number = vcpus_[id].number,
                         .tid = vcpus_[id].tid,
                         .state = state,
                         .detail = *std::move(why),
                         .since = (*at)->begin});
  }
  return {};
}

}  // namespace strata::state
