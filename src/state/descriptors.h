// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "state/descriptor_table.h"
#include "state/file_call_reader.h"
#include "state/index_writer.h"
#include "state/open_files.h"
#include "state/task.h"

namespace strata::state {

// The descriptors of every process: what each leads to, and what went through it.
//
// They are known from the calls that make and close them, so far as the tracer told these calls'
// arguments, and from the starting state. A descriptor that is used but was never told of leads to
// a file of unknown kind; so does every one after lost events, which may have been any calls.
//
// Tasks share a table as they do in the kernel: the threads of a process, and whoever was made so.
// It lives as long as one of its tasks; the sums of files and of tasks stay.
class Descriptors {
 public:
  // `losses` and `now` as the engine has them: when each loss began, and the time. `index`: where
  // descriptors go that have ended; null: nowhere.
  Descriptors(const Tasks& tasks, Names& names, const std::vector<int64_t>& losses,
              const int64_t& now, IndexWriter* index)
      : tasks_(tasks), names_(names), files_(names), losses_(losses), now_(now), index_(index) {}

  // A system call of a task, and its return.
  void enter(const trace::Event& event, TaskId task, NameId syscall);
  void leave(const trace::Event& event, TaskId task, int64_t result);
  // `flags`: with which clone was called; below 0: the event did not tell.
  void fork(TaskId parent, TaskId child, int64_t flags);
  void exec(TaskId task);
  void end(TaskId task);

  // The starting state. `address`: the kernel's, of a table; 0: not told.
  void tell_process(TaskId task, uint64_t address);
  void tell_descriptor(Tid process, uint64_t address, int32_t fd, uint32_t flags,
                       std::string_view name);
  void tell_socket(uint64_t inode, bool is_local, std::string_view address);

  // Sums begin at nothing again; what is open stays.
  void reset();
  // `on_socket` is told what goes through sockets to other machines.
  void watch(std::function<void(TaskId, const Traffic&)> on_socket, FileWatch files) {
    on_socket_ = std::move(on_socket);
    files_.watch(std::move(files));
  }

  // Tells the index of all that are open.
  void tell_open();

  std::span<const Descriptor> of(TaskId task) const;
  FileKind kind_of(TaskId task, int32_t fd) const;
  // Of the descriptor that the task's present system call is about.
  FileKind kind_in_call(TaskId task) const;
  const OpenFiles& files() const { return files_; }
  Traffic traffic(TaskId task) const;

 private:
  using TableId = uint32_t;
  static constexpr TableId kNoTable = UINT32_MAX;
  struct Table {
    DescriptorTable descriptors = {};
    Tid process = kNoTid;    // by which it is found
    TaskId owner = kNoTask;  // the first of its tasks; kNoTask: it had none yet
    uint64_t address = 0;    // the kernel's; 0: not told
    uint32_t tasks = 0;
    size_t losses_seen = 0;
  };
  // What is kept of a task.
  struct OfTask {
    TableId table = kNoTable;
    EnteredFileCall call = {};  // that has not returned
    size_t losses_seen = 0;     // when it was entered
    Traffic traffic = {};
  };

  OfTask& of_task(TaskId task);
  TableId add_table(Tid process);
  TableId find_process(Tid process);
  void join(TaskId task, TableId table);
  void part(TaskId task);
  // The task's, which is made where it has none.
  Table& table_of(TaskId task);
  Table& at(TableId table);
  // A copy that is the task's own, where it shares its table.
  Table& unshare(TaskId task);

  const Descriptor* find(TaskId task, int32_t fd) const;
  Descriptor& find_or_add(Table& table, int32_t fd);
  Descriptor& set(Table& table, const Descriptor& descriptor);
  // Those of another that are not here are from now on: its own copies, or the same ones.
  void copy_missing(Table& table, const Table& other);
  void move_missing(Table& table, Table& other);
  void open(Table& table, int64_t fd, const EnteredFileCall& call, FileKind kind,
            std::string_view name);
  void duplicate(Table& table, int32_t from, int64_t to, const EnteredFileCall& call,
                 bool close_on_exec);
  void control(Table& table, const EnteredFileCall& call, int64_t result);
  void close_range(TaskId task, const EnteredFileCall& call);
  void charge(TaskId task, int32_t fd, const Traffic& traffic);
  DescriptorRecord record_of(const Table& table, const Descriptor& descriptor);
  // Takes what has ended off its file and tells the index.
  auto ending(const Table& table, DescriptorEnd how, int64_t when) {
    return [this, &table, how, when](const Descriptor& descriptor) {
      end(table, descriptor, how, when);
    };
  }
  void end(const Table& table, const Descriptor& descriptor, DescriptorEnd how, int64_t when);

  const Tasks& tasks_;
  Names& names_;
  OpenFiles files_;
  std::function<void(TaskId, const Traffic&)> on_socket_;
  FileCallReader reader_;
  std::vector<OfTask> of_task_;
  std::vector<Table> tables_;
  std::vector<TableId> free_tables_;
  std::unordered_map<Tid, TableId> by_process_;
  std::unordered_map<uint64_t, TableId> by_address_;
  const std::vector<int64_t>& losses_;
  const int64_t& now_;
  IndexWriter* index_;
};

}  // namespace strata::state
