// SPDX-License-Identifier: Apache-2.0
#include "state/descriptors.h"

#include <algorithm>
#include <string>
#include <utility>

namespace strata::state {
namespace {

constexpr int64_t kDuplicate = 0;  // fcntl's F_DUPFD
constexpr int64_t kSetFlags = 2;   // F_SETFD
constexpr int64_t kDuplicateClosing = 1030;
constexpr int64_t kCloseOnExec = 1;         // FD_CLOEXEC
constexpr int64_t kRangeUnshares = 2;       // CLOSE_RANGE_UNSHARE
constexpr int64_t kRangeOnExec = 4;         // CLOSE_RANGE_CLOEXEC
constexpr int64_t kShareFiles = 0x400;      // CLONE_FILES
constexpr uint32_t kOpenOnExec = 02000000;  // O_CLOEXEC

}  // namespace

Descriptors::OfTask& Descriptors::of_task(TaskId task) {
  if (task >= of_task_.size()) of_task_.resize(task + 1);
  return of_task_[task];
}

Descriptors::TableId Descriptors::add_table(Tid process) {
  TableId id = static_cast<TableId>(tables_.size());
  if (free_tables_.empty()) {
    tables_.emplace_back();
  } else {
    id = free_tables_.back();
    free_tables_.pop_back();
  }
  tables_[id] = {.process = process, .losses_seen = losses_};
  by_process_[process] = id;
  return id;
}

DescriptorTable& Descriptors::at(TableId id) {
  Table& table = tables_[id];
  if (table.losses_seen != losses_) {
    table.losses_seen = losses_;
    table.descriptors.close(0, DescriptorTable::kLast, files_);
  }
  return table.descriptors;
}

Descriptors::TableId Descriptors::find_process(Tid process) {
  const auto found = by_process_.find(process);
  return found == by_process_.end() ? add_table(process) : found->second;
}

DescriptorTable& Descriptors::table_of(TaskId task) {
  if (of_task(task).table == kNoTable) {
    const Tid process = tasks_[task].tgid;
    join(task, find_process(process == kNoTid ? tasks_[task].tid : process));
  }
  return at(of_task_[task].table);
}

// What was known of the task's descriptors so far is known of the table.
void Descriptors::join(TaskId task, TableId table) {
  const TableId before = of_task(task).table;
  if (before == table) return;
  if (before != kNoTable) at(table).add_missing(at(before), files_);
  ++tables_[table].tasks;
  part(task);
  of_task_[task].table = table;
}

void Descriptors::part(TaskId task) {
  const TableId id = std::exchange(of_task_[task].table, kNoTable);
  if (id == kNoTable || --tables_[id].tasks > 0) return;
  Table& table = tables_[id];
  table.descriptors.close(0, DescriptorTable::kLast, files_);
  if (const auto found = by_process_.find(table.process);
      found != by_process_.end() && found->second == id)
    by_process_.erase(found);
  by_address_.erase(table.address);
  free_tables_.push_back(id);
}

DescriptorTable& Descriptors::unshare(TaskId task) {
  DescriptorTable& shared = table_of(task);
  if (tables_[of_task_[task].table].tasks == 1) return shared;
  const TableId id = add_table(tasks_[task].tid);
  join(task, id);
  return at(id);
}

void Descriptors::enter(const trace::Event& event, TaskId task, NameId syscall) {
  OfTask& of = of_task(task);
  of.losses_seen = losses_;
  reader_.read(event, syscall, names_, of.call);
}

void Descriptors::leave(const trace::Event& event, TaskId task, int64_t result) {
  if (task >= of_task_.size() || of_task_[task].call.call == nullptr) return;
  const EnteredFileCall& call = of_task_[task].call;
  if (of_task_[task].losses_seen != losses_) return;  // it may be another that returns
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(result, 0));
  if (call.call->effect == FileEffect::Close) {
    // Also where it reports an error: the descriptor is gone.
    table_of(task).close(call.fd, call.fd, files_);
  } else if (result >= 0) {
    switch (call.call->effect) {
      case FileEffect::Open:
        open(table_of(task), result, call.kind(), call.text, call.closes_on_exec());
        break;
      case FileEffect::OpenPair: {
        const auto [one, other] = reader_.returned_pair(event);
        open(table_of(task), one, call.kind(), {}, call.closes_on_exec());
        open(table_of(task), other, call.kind(), {}, call.closes_on_exec());
        break;
      }
      case FileEffect::Accept: {
        const bool is_local = kind_of(task, call.fd) == FileKind::LocalSocket;
        open(table_of(task), result, is_local ? FileKind::LocalSocket : FileKind::Socket,
             reader_.returned_address(event), call.closes_on_exec());
        break;
      }
      case FileEffect::Duplicate:
        duplicate(table_of(task), call.fd, result, call.closes_on_exec());
        break;
      case FileEffect::Control:
        control(table_of(task), call, result);
        break;
      case FileEffect::CloseRange:
        close_range(task, call);
        break;
      case FileEffect::Read:
        charge(task, call.fd, {.reads = 1, .read_bytes = bytes});
        break;
      case FileEffect::Write:
        charge(task, call.fd, {.writes = 1, .written_bytes = bytes});
        break;
      case FileEffect::Transfer:
        charge(task, call.fd, {.reads = 1, .read_bytes = bytes});
        charge(task, call.other, {.writes = 1, .written_bytes = bytes});
        break;
      case FileEffect::Unshare:
        if ((call.flags & kShareFiles) != 0) unshare(task);
        break;
      default:
        break;
    }
  }
  // A connection may be on its way when the call returns: EINPROGRESS.
  if (call.call->effect == FileEffect::Connect && !call.text.empty() && call.fd >= 0) {
    const OpenId open = find_or_add(table_of(task), call.fd).open;
    files_.identify(open, files_.file_of(FileKind::Socket, call.text));
  }
  of_task_[task].call.call = nullptr;
}

void Descriptors::open(DescriptorTable& table, int64_t fd, FileKind kind, std::string_view name,
                       bool close_on_exec) {
  if (fd < 0 || fd > DescriptorTable::kLast) return;
  const OpenId open = files_.open(files_.file_of(kind, name));
  files_.count_open(open);
  table.set({static_cast<int32_t>(fd), open, close_on_exec}, files_);
}

void Descriptors::duplicate(DescriptorTable& table, int32_t from, int64_t to, bool close_on_exec) {
  if (from < 0 || to < 0 || to > DescriptorTable::kLast || from == to) return;
  const OpenId open = find_or_add(table, from).open;
  table.set({static_cast<int32_t>(to), open, close_on_exec}, files_);
}

void Descriptors::control(DescriptorTable& table, const EnteredFileCall& call, int64_t result) {
  if (call.command == kDuplicate || call.command == kDuplicateClosing)
    duplicate(table, call.fd, result, call.command == kDuplicateClosing);
  if (call.command == kSetFlags && call.fd >= 0)
    find_or_add(table, call.fd).close_on_exec = (call.value & kCloseOnExec) != 0;
}

void Descriptors::close_range(TaskId task, const EnteredFileCall& call) {
  DescriptorTable& table = (call.flags & kRangeUnshares) != 0 ? unshare(task) : table_of(task);
  // Both are unsigned: the last is as a rule the highest there could be.
  const int32_t last = call.other < 0 ? DescriptorTable::kLast : call.other;
  if (call.fd < 0) return;
  if ((call.flags & kRangeOnExec) != 0)
    table.close_on_exec(call.fd, last);
  else
    table.close(call.fd, last, files_);
}

void Descriptors::charge(TaskId task, int32_t fd, const Traffic& traffic) {
  if (fd < 0) return;
  of_task(task).traffic += traffic;
  const OpenId open = find_or_add(table_of(task), fd).open;
  files_.charge(open, traffic);
  if (on_socket_ && files_.kind_of(open) == FileKind::Socket) on_socket_(task, traffic);
}

Descriptor& Descriptors::find_or_add(DescriptorTable& table, int32_t fd) {
  if (Descriptor* found = table.find(fd)) return *found;
  return table.set({fd, files_.open(files_.file_of(FileKind::Unknown, {})), false}, files_);
}

void Descriptors::fork(TaskId parent, TaskId child, int64_t flags) {
  if (of_task(child).table != kNoTable) return;  // two events may tell of one birth
  const bool is_thread = tasks_[child].tgid != kNoTid && tasks_[child].tgid != tasks_[child].tid;
  const EnteredFileCall& call = of_task(parent).call;
  if (flags < 0 && call.call != nullptr && call.call->effect == FileEffect::Clone)
    flags = call.flags;
  table_of(parent);
  if (flags < 0 ? is_thread : (flags & kShareFiles) != 0)
    return join(child, of_task_[parent].table);
  const TableId copy = add_table(tasks_[child].tid);
  at(copy).add_missing(at(of_task_[parent].table), files_);
  join(child, copy);
}

void Descriptors::exec(TaskId task) { unshare(task).close_for_exec(files_); }

void Descriptors::end(TaskId task) {
  if (task >= of_task_.size()) return;
  part(task);
  of_task_[task].call = {};
}

void Descriptors::tell_process(TaskId task, uint64_t address) {
  const Tid process = tasks_[task].tgid;
  if (process == kNoTid) return;
  const TableId table = find_process(process);
  join(task, table);
  if (address == 0) return;
  const auto [found, is_new] = by_address_.emplace(address, table);
  if (!is_new) return join(task, found->second);
  by_address_.erase(std::exchange(tables_[table].address, address));
}

void Descriptors::tell_descriptor(Tid process, uint64_t address, int32_t fd, uint32_t flags,
                                  std::string_view name) {
  if (fd < 0) return;
  TableId id = kNoTable;
  if (process != kNoTid) {
    id = find_process(process);
  } else if (const auto found = by_address_.find(address); found != by_address_.end()) {
    id = found->second;
  } else {
    return;
  }
  Descriptor& descriptor = find_or_add(at(id), fd);
  if (files_.kind_of(descriptor.open) != FileKind::Unknown) return;  // a call told more
  files_.identify(descriptor.open, files_.file_of(kind_of_name(name), name));
  descriptor.close_on_exec = (flags & kOpenOnExec) != 0;
}

void Descriptors::tell_socket(uint64_t inode, bool is_local, std::string_view address) {
  files_.describe(FileKind::Socket, "socket:[" + std::to_string(inode) + ']',
                  is_local ? FileKind::LocalSocket : FileKind::Socket, address);
}

void Descriptors::reset() {
  files_.reset();
  for (OfTask& of : of_task_) of.traffic = {};
}

std::span<const Descriptor> Descriptors::of(TaskId task) const {
  if (task >= of_task_.size() || of_task_[task].table == kNoTable) return {};
  const Table& table = tables_[of_task_[task].table];
  if (table.losses_seen != losses_) return {};
  return table.descriptors.all();
}

const Descriptor* Descriptors::find(TaskId task, int32_t fd) const {
  if (of(task).empty()) return nullptr;
  return tables_[of_task_[task].table].descriptors.find(fd);
}

FileKind Descriptors::kind_of(TaskId task, int32_t fd) const {
  const Descriptor* descriptor = find(task, fd);
  return descriptor == nullptr ? FileKind::Unknown : files_.kind_of(descriptor->open);
}

FileKind Descriptors::kind_in_call(TaskId task) const {
  if (task >= of_task_.size() || of_task_[task].call.call == nullptr) return FileKind::Unknown;
  return kind_of(task, of_task_[task].call.fd);
}

Traffic Descriptors::traffic(TaskId task) const {
  return task < of_task_.size() ? of_task_[task].traffic : Traffic{};
}

}  // namespace strata::state
