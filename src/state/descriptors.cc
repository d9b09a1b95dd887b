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
constexpr int64_t kCloseOnExec = 1;          // FD_CLOEXEC
constexpr int64_t kCloseOnExecOff = 0x5450;  // ioctl's FIONCLEX
constexpr int64_t kCloseOnExecOn = 0x5451;   // FIOCLEX
constexpr int64_t kRangeUnshares = 2;        // CLOSE_RANGE_UNSHARE
constexpr int64_t kRangeOnExec = 4;          // CLOSE_RANGE_CLOEXEC
constexpr int64_t kShareFiles = 0x400;       // CLONE_FILES
constexpr uint32_t kOpenOnExec = 02000000;   // O_CLOEXEC

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
  tables_[id] = {.process = process, .losses_seen = losses_.size()};
  by_process_[process] = id;
  return id;
}

Descriptors::Table& Descriptors::at(TableId id) {
  Table& table = tables_[id];
  if (table.losses_seen != losses_.size()) [[unlikely]] {
    const int64_t lost_at = losses_[table.losses_seen];
    table.losses_seen = losses_.size();
    table.descriptors.close(0, DescriptorTable::kLast, ending(table, DescriptorEnd::Lost, lost_at));
  }
  return table;
}

Descriptors::TableId Descriptors::find_process(Tid process) {
  const auto found = by_process_.find(process);
  return found == by_process_.end() ? add_table(process) : found->second;
}

Descriptors::Table& Descriptors::table_of(TaskId task) {
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
  if (before != kNoTable) {
    at(table);
    at(before);
    if (tables_[before].tasks == 1)
      move_missing(tables_[table], tables_[before]);
    else
      copy_missing(tables_[table], tables_[before]);
  }
  if (++tables_[table].tasks == 1 && tables_[table].owner == kNoTask) tables_[table].owner = task;
  part(task);
  of_task_[task].table = table;
}

void Descriptors::part(TaskId task) {
  const TableId id = std::exchange(of_task_[task].table, kNoTable);
  if (id == kNoTable || --tables_[id].tasks > 0) return;
  Table& table = tables_[id];
  at(id).descriptors.close(0, DescriptorTable::kLast, ending(table, DescriptorEnd::Exit, now_));
  if (const auto found = by_process_.find(table.process);
      found != by_process_.end() && found->second == id)
    by_process_.erase(found);
  by_address_.erase(table.address);
  free_tables_.push_back(id);
}

Descriptors::Table& Descriptors::unshare(TaskId task) {
  Table& shared = table_of(task);
  if (tables_[of_task_[task].table].tasks == 1) return shared;
  const TableId id = add_table(tasks_[task].tid);
  join(task, id);
  return at(id);
}

void Descriptors::enter(const trace::Event& event, TaskId task, NameId syscall) {
  OfTask& of = of_task(task);
  of.losses_seen = losses_.size();
  reader_.read(event, syscall, names_, of.call);
}

void Descriptors::leave(const trace::Event& event, TaskId task, int64_t result) {
  if (task >= of_task_.size() || of_task_[task].call.call == nullptr) return;
  const EnteredFileCall& call = of_task_[task].call;
  if (of_task_[task].losses_seen != losses_.size()) return;  // it may be another that returns
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(result, 0));
  if (call.call->effect == FileEffect::Close) {
    // Also where it reports an error: the descriptor is gone.
    Table& table = table_of(task);
    table.descriptors.close(call.fd, call.fd, ending(table, DescriptorEnd::Close, now_));
  } else if (result >= 0) {
    switch (call.call->effect) {
      case FileEffect::Open:
        open(table_of(task), result, call, call.kind(), call.text);
        break;
      case FileEffect::OpenPair: {
        const auto [one, other] = reader_.returned_pair(event);
        open(table_of(task), one, call, call.kind(), {});
        open(table_of(task), other, call, call.kind(), {});
        break;
      }
      case FileEffect::Accept: {
        const bool is_local = kind_of(task, call.fd) == FileKind::LocalSocket;
        open(table_of(task), result, call, is_local ? FileKind::LocalSocket : FileKind::Socket,
             reader_.returned_address(event));
        break;
      }
      case FileEffect::Duplicate:
        duplicate(table_of(task), call.fd, result, call, call.closes_on_exec());
        break;
      case FileEffect::Control:
        control(table_of(task), call, result);
        break;
      case FileEffect::Command:
        if (call.fd >= 0 && (call.command == kCloseOnExecOn || call.command == kCloseOnExecOff))
          find_or_add(table_of(task), call.fd).close_on_exec = call.command == kCloseOnExecOn;
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

DescriptorRecord Descriptors::record_of(const Table& table, const Descriptor& descriptor) {
  const File& file = files_.files()[files_[descriptor.open].file];
  return {.begin = descriptor.since,
          .end = now_,
          .process = table.process,
          .owner = table.owner,
          .fd = descriptor.fd,
          .kind = file.kind,
          .name = file.name,
          .inode = file.inode,
          .traffic = descriptor.traffic,
          .close_on_exec = descriptor.close_on_exec,
          .made_by = descriptor.made_by == nullptr ? kNoName : names_.id(descriptor.made_by->name)};
}

void Descriptors::end(const Table& table, const Descriptor& descriptor, DescriptorEnd how,
                      int64_t when) {
  if (index_ != nullptr) {
    DescriptorRecord record = record_of(table, descriptor);
    // What a loss left unknown may have been heard of again before the loss was told.
    record.end = std::max(when, record.begin);
    record.how_ended = how;
    index_->descriptor(record, true);
  }
  files_.release(descriptor.open);
}

void Descriptors::tell_open() {
  for (TableId id = 0; id < tables_.size(); ++id)
    for (const Descriptor& descriptor : at(id).descriptors.all())
      index_->descriptor(record_of(tables_[id], descriptor), false);
}

Descriptor& Descriptors::set(Table& table, const Descriptor& descriptor) {
  files_.hold(descriptor.open);
  return table.descriptors.set(descriptor, ending(table, DescriptorEnd::Replaced, now_));
}

void Descriptors::copy_missing(Table& table, const Table& other) {
  for (Descriptor descriptor : other.descriptors.all()) {
    if (table.descriptors.find(descriptor.fd) != nullptr) continue;
    descriptor.made_by = &kInheritedFile;
    descriptor.since = now_;
    descriptor.traffic = {};
    set(table, descriptor);
  }
}

// Nothing ends: what both had is one.
void Descriptors::move_missing(Table& table, Table& other) {
  for (const Descriptor& descriptor : other.descriptors.all())
    if (table.descriptors.find(descriptor.fd) == nullptr) set(table, descriptor);
  other.descriptors.close(0, DescriptorTable::kLast, [this](const Descriptor& descriptor) {
    files_.release(descriptor.open);
  });
}

void Descriptors::open(Table& table, int64_t fd, const EnteredFileCall& call, FileKind kind,
                       std::string_view name) {
  if (fd < 0 || fd > DescriptorTable::kLast) return;
  const OpenId open = files_.open(files_.file_of(kind, name));
  files_.count_open(open);
  set(table, {.fd = static_cast<int32_t>(fd),
              .open = open,
              .close_on_exec = call.closes_on_exec(),
              .made_by = call.call,
              .since = now_});
}

void Descriptors::duplicate(Table& table, int32_t from, int64_t to, const EnteredFileCall& call,
                            bool close_on_exec) {
  if (from < 0 || to < 0 || to > DescriptorTable::kLast || from == to) return;
  const OpenId open = find_or_add(table, from).open;
  set(table, {.fd = static_cast<int32_t>(to),
              .open = open,
              .close_on_exec = close_on_exec,
              .made_by = call.call,
              .since = now_});
}

void Descriptors::control(Table& table, const EnteredFileCall& call, int64_t result) {
  if (call.command == kDuplicate || call.command == kDuplicateClosing)
    duplicate(table, call.fd, result, call, call.command == kDuplicateClosing);
  if (call.command == kSetFlags && call.fd >= 0)
    find_or_add(table, call.fd).close_on_exec = (call.value & kCloseOnExec) != 0;
}

void Descriptors::close_range(TaskId task, const EnteredFileCall& call) {
  Table& table = (call.flags & kRangeUnshares) != 0 ? unshare(task) : table_of(task);
  // Both are unsigned: the last is as a rule the highest there could be.
  const int32_t last = call.other < 0 ? DescriptorTable::kLast : call.other;
  if (call.fd < 0) return;
  if ((call.flags & kRangeOnExec) != 0)
    table.descriptors.close_on_exec(call.fd, last);
  else
    table.descriptors.close(call.fd, last, ending(table, DescriptorEnd::Close, now_));
}

void Descriptors::charge(TaskId task, int32_t fd, const Traffic& traffic) {
  if (fd < 0) return;
  of_task(task).traffic += traffic;
  Descriptor& descriptor = find_or_add(table_of(task), fd);
  descriptor.traffic += traffic;
  files_.charge(descriptor.open, traffic);
  if (on_socket_ && files_.kind_of(descriptor.open) == FileKind::Socket) on_socket_(task, traffic);
}

Descriptor& Descriptors::find_or_add(Table& table, int32_t fd) {
  if (Descriptor* found = table.descriptors.find(fd)) return *found;
  const OpenId open = files_.open(files_.file_of(FileKind::Unknown, {}));
  return set(table, {.fd = fd, .open = open, .since = now_});
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
  join(child, copy);
  at(of_task_[parent].table);
  copy_missing(tables_[copy], tables_[of_task_[parent].table]);
}

void Descriptors::exec(TaskId task) {
  Table& table = unshare(task);
  table.descriptors.close_for_exec(ending(table, DescriptorEnd::Exec, now_));
}

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
  if (descriptor.made_by == nullptr) descriptor.made_by = &kFileOpenBefore;
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
  if (table.losses_seen != losses_.size()) return {};
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
