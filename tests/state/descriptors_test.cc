// SPDX-License-Identifier: Apache-2.0
#include "state/descriptors.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

constexpr int64_t kCloseOnExec = 02000000;

// Calls of files, each with its return.
class Calls : public Told {
 public:
  Calls() {
    at(0, 0, 5);
    returns("getpid");
  }

  Calls& call(const std::string& name, const std::vector<int64_t>& arguments, int64_t result,
              std::string_view path = {}) {
    enter(name, arguments, path);
    event("syscalls", "sys_exit_" + name, {{"ret", result}});
    return *this;
  }
  Calls& enter(const std::string& name, const std::vector<int64_t>& arguments,
               std::string_view path = {}) {
    static constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e", "f"};
    std::vector<Value> values = {{"__syscall_nr", 0}};
    for (size_t i = 0; i < arguments.size(); ++i) values.push_back({kNames[i], arguments[i]});
    if (!path.empty()) values.push_back({"__filename_val", 0, path});
    event("syscalls", "sys_enter_" + name, values);
    return *this;
  }
  Calls& opens(int64_t fd, std::string_view path, int64_t flags = 0) {
    return call("openat", {-100, 0, flags, 0}, fd, path);
  }

  TaskId id(int32_t tid) const { return engine.tasks().find(Tid{tid}); }
  FileKind kind(int32_t tid, int32_t fd) const { return engine.descriptors().kind_of(id(tid), fd); }
  size_t count(int32_t tid) const { return engine.descriptors().of(id(tid)).size(); }
  std::string name(int32_t tid, int32_t fd) const {
    const Descriptors& all = engine.descriptors();
    for (const Descriptor& descriptor : all.of(id(tid)))
      if (descriptor.fd == fd)
        return engine.names().text(all.files().files()[all.files()[descriptor.open].file].name);
    return "(closed)";
  }
  const File& file(std::string_view name) const {
    static const File kNone;
    for (const File& file : engine.descriptors().files().files())
      if (engine.names().text(file.name) == name) return file;
    return kNone;
  }
};

TEST(Descriptors, LeadToWhatWasOpenedUntilTheyAreClosed) {
  Calls calls;
  calls.opens(3, "/etc/passwd").opens(-2, "/none").call("eventfd2", {0, 0}, 4);
  EXPECT_EQ(calls.kind(5, 3), FileKind::File);
  EXPECT_EQ(calls.name(5, 3), "/etc/passwd");
  EXPECT_EQ(calls.kind(5, 4), FileKind::Event);
  EXPECT_EQ(calls.count(5), 2u);
  EXPECT_EQ(calls.file("/none").opens, 0u) << "it could not be opened";
  calls.call("close", {3}, 0);
  EXPECT_EQ(calls.name(5, 3), "(closed)");
  EXPECT_EQ(calls.count(5), 1u);
}

TEST(Descriptors, BytesAreChargedToDescriptorFileAndTask) {
  Calls calls;
  calls.opens(3, "/tmp/a").opens(4, "/tmp/b");
  calls.call("read", {3, 0, 100}, 70).call("read", {3, 0, 100}, -11).call("write", {4, 0, 8}, 8);
  calls.call("sendfile64", {4, 3, 0, 50}, 30);
  EXPECT_EQ(calls.file("/tmp/a").traffic, (Traffic{2, 0, 100, 0}));
  EXPECT_EQ(calls.file("/tmp/b").traffic, (Traffic{0, 2, 0, 38}));
  EXPECT_EQ(calls.engine.descriptors().traffic(calls.id(5)), (Traffic{2, 2, 100, 38}));
  calls.engine.reset_statistics(10);
  EXPECT_EQ(calls.file("/tmp/a").traffic, Traffic{});
}

TEST(Descriptors, ACopyLeadsToTheSameOpenFile) {
  Calls calls;
  calls.opens(3, "/tmp/a");
  calls.call("dup2", {3, 9}, 9).call("fcntl", {3, 1030, 20}, 20).call("close", {3}, 0);
  calls.call("write", {9, 0, 5}, 5).call("write", {20, 0, 6}, 6);
  EXPECT_EQ(calls.file("/tmp/a").traffic.written_bytes, 11u);
  EXPECT_EQ(calls.file("/tmp/a").opens, 1u);
  const auto all = calls.engine.descriptors().of(calls.id(5));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].open, all[1].open);
  EXPECT_FALSE(all[0].close_on_exec);
  EXPECT_TRUE(all[1].close_on_exec);
}

TEST(Descriptors, WhatWasNeverToldOfIsOfUnknownKind) {
  Calls calls;
  calls.call("read", {7, 0, 1}, 1);
  EXPECT_EQ(calls.kind(5, 7), FileKind::Unknown);
  EXPECT_EQ(calls.file("").traffic.reads, 1u);
}

TEST(Descriptors, AProcessGetsCopiesAndAThreadShares) {
  Calls calls;
  calls.opens(3, "/tmp/a");
  calls.event("task", "task_newtask", {{"pid", 8}, {"comm", 0, "t"}, {"clone_flags", 0}});
  calls.event("task", "task_newtask", {{"pid", 9}, {"comm", 0, "t"}, {"clone_flags", 0x10400}});
  calls.opens(4, "/tmp/b").call("close", {3}, 0);
  EXPECT_EQ(calls.name(8, 3), "/tmp/a");
  EXPECT_EQ(calls.count(8), 1u);
  EXPECT_EQ(calls.name(9, 4), "/tmp/b");
  EXPECT_EQ(calls.count(9), 1u);
}

TEST(Descriptors, ExecClosesThoseThatAreToBeClosedThen) {
  Calls calls;
  calls.opens(3, "/a").opens(4, "/b", kCloseOnExec).opens(5, "/c").opens(6, "/d", kCloseOnExec);
  calls.opens(7, "/e").opens(8, "/f", kCloseOnExec);
  calls.call("fcntl", {5, 2, 1}, 0).call("fcntl", {6, 2, 0}, 0);
  calls.call("ioctl", {7, 0x5451}, 0).call("ioctl", {8, 0x5450}, 0);  // FIOCLEX, FIONCLEX
  calls.event("task", "task_newtask", {{"pid", 9}, {"comm", 0, "t"}, {"clone_flags", 0x400}});
  calls.event("sched", "sched_process_exec", {{"pid", 5}, {"filename", 0, "x"}});
  EXPECT_EQ(calls.name(5, 3), "/a");
  EXPECT_EQ(calls.name(5, 4), "(closed)");
  EXPECT_EQ(calls.name(5, 5), "(closed)");
  EXPECT_EQ(calls.name(5, 6), "/d");
  EXPECT_EQ(calls.name(5, 7), "(closed)");
  EXPECT_EQ(calls.name(5, 8), "/f");
  EXPECT_EQ(calls.count(9), 6u) << "whoever shared them before keeps all";
}

TEST(Descriptors, ARangeIsClosedUpToItsEnd) {
  Calls calls;
  for (int64_t fd = 3; fd < 8; ++fd) calls.opens(fd, "/tmp/a");
  calls.call("close_range", {4, 5, 0}, 0);
  EXPECT_EQ(calls.count(5), 3u);
  calls.call("close_range", {7, 0xffffffff, 4}, 0);
  EXPECT_TRUE(calls.engine.descriptors().of(calls.id(5)).back().close_on_exec);
  calls.call("close_range", {6, 0xffffffff, 0}, 0);
  EXPECT_EQ(calls.count(5), 1u);
}

TEST(Descriptors, TheStartingStateTellsWhatWasOpenBefore) {
  Calls calls;
  calls.event("", "lttng_statedump_process_state",
              {{"tid", 7}, {"pid", 7}, {"ppid", 1}, {"name", 0, "t"}, {"type", 0}, {"status", 5}});
  const auto tell = [&](int64_t fd, std::string_view name, int64_t flags = 0) {
    calls.event("", "lttng_statedump_file_descriptor",
                {{"pid", 7}, {"fd", fd}, {"flags", flags}, {"filename", 0, name}});
  };
  tell(0, "/dev/pts/1");
  tell(4, "socket:[17]", kCloseOnExec);
  tell(5, "pipe:[18]");
  calls.event(
      "", "strata_statedump_socket",
      {{"inode", 17}, {"protocol", 0, "tcp"}, {"local", 0, "l"}, {"peer", 0, "1.2.3.4:80"}});
  EXPECT_EQ(calls.kind(7, 0), FileKind::Device);
  EXPECT_EQ(calls.kind(7, 4), FileKind::Socket);
  EXPECT_EQ(calls.name(7, 4), "1.2.3.4:80");
  EXPECT_EQ(calls.kind(7, 5), FileKind::Pipe);
}

TEST(Descriptors, TheStartingStateMayNameTablesInsteadOfProcesses) {
  Calls calls;
  for (const int64_t tid : {7, 8})
    calls.event("", "lttng_statedump_process_state",
                {{"tid", tid}, {"pid", tid}, {"name", 0, "t"}, {"file_table_address", 4096}});
  calls.event("", "lttng_statedump_file_descriptor",
              {{"file_table_address", 4096}, {"fd", 3}, {"flags", 0}, {"filename", 0, "/tmp/a"}});
  EXPECT_EQ(calls.name(7, 3), "/tmp/a");
  EXPECT_EQ(calls.name(8, 3), "/tmp/a");
}

TEST(Descriptors, AfterALossNoneIsKnown) {
  Calls calls;
  calls.opens(3, "/tmp/a");
  calls.lost().event("irq", "softirq_raise", {{"vec", 1}});
  EXPECT_EQ(calls.count(5), 0u);
  calls.opens(4, "/tmp/b");
  EXPECT_EQ(calls.count(5), 1u);
  calls.enter("openat", {-100, 0, 0, 0}, "/tmp/c");
  calls.lost().event("syscalls", "sys_exit_openat", {{"ret", 4}});
  EXPECT_EQ(calls.count(5), 0u) << "it may have been another call that returned";
}

TEST(Descriptors, ASwitchThatWasNotRecordedIsNoLoss) {
  Calls calls;
  calls.opens(3, "/tmp/a").enter("openat", {-100, 0, 0, 0}, "/tmp/b");
  calls.at(10, 0, 6).returns("read");
  calls.at(20, 0, 5).event("syscalls", "sys_exit_openat", {{"ret", 4}});
  EXPECT_EQ(calls.name(5, 3), "/tmp/a");
  EXPECT_EQ(calls.name(5, 4), "/tmp/b");
}

TEST(Descriptors, OfATaskThatEndedAreClosed) {
  Calls calls;
  calls.opens(3, "/tmp/a");
  calls.event("sched", "sched_process_exit", {{"pid", 5}, {"comm", 0, "t"}});
  EXPECT_EQ(calls.count(5), 0u);
  EXPECT_EQ(calls.file("/tmp/a").opens, 1u);
}

TEST(Descriptors, AReadOfAPipeWaitsForThePipe) {
  Calls calls;
  calls.event("", "lttng_statedump_file_descriptor",
              {{"pid", 5}, {"fd", 3}, {"flags", 0}, {"filename", 0, "pipe:[18]"}});
  calls.call("socket", {2, 1, 0}, 4);
  calls.enter("read", {3, 0, 1}).switches(5, 1, 0);
  EXPECT_EQ(calls.task(5).state, TaskState::WaitPipe);
  calls.at(10, 0, 0).switches(0, 0, 5);
  calls.at(10, 0, 5).event("syscalls", "sys_exit_read", {{"ret", 1}});
  calls.enter("read", {4, 0, 1}).switches(5, 1, 0);
  EXPECT_EQ(calls.task(5).state, TaskState::WaitNetwork);
}

TEST(Descriptors, ArgumentsAreTakenFromAnArrayOfThemAll) {
  Calls calls;
  trace::EventType type;
  type.system = "raw_syscalls";
  type.name = "sys_enter";
  type.fields = {
      {"common_pid", "", 0, 8, 8, trace::Location::InPlace, trace::ValueKind::Integer},
      {"id", "long", 8, 8, 8, trace::Location::InPlace, trace::ValueKind::Integer},
      {"args", "unsigned long[6]", 16, 48, 8, trace::Location::InPlace, trace::ValueKind::Array}};
  type.tid = type.ref("common_pid");
  type.meaning = trace::bind(trace::Tracer::Ftrace, type);
  std::vector<int64_t> record = {5, 293, 0, kCloseOnExec, 0, 0, 0, 0};  // pipe2, which tells no fd
  trace::Event event;
  event.type = &type;
  event.record = std::as_bytes(std::span(record));
  event.cpu = CpuId{0};
  calls.engine.take(event);
  calls.returns("pipe2");
  EXPECT_EQ(calls.count(5), 0u);
  record = {5, 33, 3, 8, 0, 0, 0, 0};  // dup2
  calls.engine.take(event);
  calls.event("syscalls", "sys_exit_dup2", {{"ret", 8}});
  EXPECT_EQ(calls.count(5), 2u);
}

}  // namespace
}  // namespace strata::state
