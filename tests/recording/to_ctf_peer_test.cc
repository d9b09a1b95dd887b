// SPDX-License-Identifier: Apache-2.0
//
// A kernel's trace as CTF, as Babeltrace and lttng-analyses see it.

#include <gmock/gmock.h>

#include <algorithm>

#include "ftrace/format_file.h"
#include "recording/open.h"
#include "recording/to_ctf.h"
#include "support/command.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

using test::has_program;
using test::lines_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kCommon = R"(
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

)";

struct Recorded {
  int64_t time;
  size_t type;
  std::string fields;  // what follows the common ones
  uint64_t lost = 0;
  bool lost_unknown = false;
};

// A trace of one CPU, made by hand.
class Handmade final : public trace::Trace {
 public:
  Handmade() {
    info_.path = "handmade";
    info_.kind = "handmade";
    info_.machine = "box";
    info_.kernel = "6.1";
    names_.add(Tid{42}, "worker");
  }
  void add_type(std::string_view system, const std::string& name, const std::string& fields) {
    Result<trace::EventType> type = ftrace::parse_format_file(
        system,
        "name: " + name + "\nID: " + std::to_string(types_.size() + 1) +
            "\nformat:" + std::string(kCommon) + fields + "\nprint fmt: \"\"\n",
        {});
    ASSERT_TRUE(type) << type.error().text();
    types_.push_back(std::make_unique<trace::EventType>(*std::move(type)));
  }
  void add(const Recorded& event) { events_.push_back(event); }

  std::vector<const trace::EventType*> event_types() const override {
    std::vector<const trace::EventType*> types;
    for (const auto& type : types_) types.push_back(type.get());
    return types;
  }
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override {
    std::vector<std::unique_ptr<trace::Stream>> streams;
    streams.push_back(std::make_unique<Cpu>(*this));
    return streams;
  }
  void print_fields(const trace::Event&, TextBuffer& out) const override { out.put("the text"); }
  const trace::TaskNames& task_names() const override { return names_; }
  std::optional<Span> time_span() const override {
    if (events_.empty()) return std::nullopt;
    return Span{{events_.front().time}, {events_.back().time}};
  }

 private:
  class Cpu final : public trace::Stream {
   public:
    explicit Cpu(const Handmade& trace) : trace_(trace) { event_.cpu = CpuId{1}; }
    trace::Step next() override {
      if (next_ == trace_.events_.size()) return trace::Step::End;
      const Recorded& recorded = trace_.events_[next_++];
      event_.type = trace_.types_[recorded.type].get();
      record_ = std::string("\x01\x00\x05\x02\x2a\x00\x00\x00", 8) + recorded.fields;
      event_.record = as_bytes(record_);
      event_.time = {recorded.time};
      event_.ticks = Ticks{static_cast<uint64_t>(recorded.time)};
      event_.lost = recorded.lost;
      event_.lost_unknown = recorded.lost_unknown;
      return trace::Step::Event;
    }

   private:
    const Handmade& trace_;
    std::string record_;
    size_t next_ = 0;
  };

  std::vector<std::unique_ptr<trace::EventType>> types_;
  std::vector<Recorded> events_;
  trace::TaskNames names_;
};

std::string field(const std::string& declaration, int offset, int size, bool is_signed = false) {
  return "\tfield:" + declaration + ";\toffset:" + std::to_string(offset) +
         ";\tsize:" + std::to_string(size) + ";\tsigned:" + (is_signed ? "1" : "0") + ";\n";
}

std::string number(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string text(std::string value, size_t size) {
  value.resize(size);
  return value;
}

std::vector<std::string> babeltrace(const std::string& folder, bool errors = false) {
  const test::CommandResult result =
      test::run({"sh", "-c",
                 "babeltrace2 --no-delta --clock-seconds '" + folder + "'" +
                     (errors ? " 2>&1 >/dev/null" : "")});
  EXPECT_EQ(result.status, 0);
  return lines_of(result.output);
}

struct ToCtf : testing::Test {
  TemporaryFolder temporary;
  std::string folder = temporary.file("kernel");

  void SetUp() override {
    if (!has_program("babeltrace2")) GTEST_SKIP() << "no babeltrace2 here";
  }
};

TEST_F(ToCtf, EventsAndFieldsHaveTheNamesOfLttng) {
  Handmade trace;
  trace.add_type("sched", "sched_switch",
                 field("char prev_comm[16]", 8, 16) + field("pid_t prev_pid", 24, 4, true) +
                     field("long prev_state", 32, 8, true) + field("pid_t next_pid", 40, 4, true));
  trace.add_type("irq", "softirq_entry", field("unsigned int vec", 8, 4));
  trace.add_type("irq", "irq_handler_entry",
                 field("int irq", 8, 4, true) + field("__data_loc char[] name", 12, 4));
  trace.add_type("syscalls", "sys_enter_openat",
                 field("int __syscall_nr", 8, 4, true) + field("int dfd", 16, 8) +
                     field("const char * filename", 24, 8));
  trace.add_type(
      "block", "block_rq_issue",
      field("dev_t dev", 8, 4) + field("sector_t sector", 16, 8) + field("char rwbs[8]", 24, 8));
  trace.add_type("kvm", "kvm_exit",
                 field("unsigned int exit_reason", 8, 4) + field("__data_loc u16[] values", 12, 4));
  trace.add_type("ftrace", "kernel_stack",
                 field("int size", 8, 4, true) + field("unsigned long caller[8]", 16, 64));
  trace.add_type("ftrace", "bprint", field("unsigned long ip", 8, 8));
  trace.add_type("mine", "own", field("u8 x[3]", 8, 3));
  trace.add({1'000'000'001, 0,
             text("worker", 16) + number(42, 4) + number(0, 4) + number(2, 8) + number(7, 4)});
  trace.add({1'000'000'002, 1, number(3, 4)});
  trace.add({1'000'000'003, 2, number(11, 4) + number(5 << 16 | 16, 4) + text("eth0", 8)});
  trace.add({1'000'000'004, 3,
             number(257, 4) + number(0, 4) + number(0xffffff9c, 8) + number(0x7f00, 8)});
  trace.add({1'000'000'005, 4, number(8, 4) + number(0, 4) + number(77, 8) + text("FWFSM", 8)});
  trace.add(
      {1'000'000'006, 5, number(12, 4) + number(4 << 16 | 16, 4) + number(1, 2) + number(2, 2)});
  trace.add({1'000'000'007, 6, number(2, 4) + number(0, 4) + number(500, 8) + number(600, 8)});
  trace.add({1'000'000'008, 7, number(9, 8)});
  trace.add({1'000'000'009, 8, text("abc", 4)});
  const Status status = to_ctf(trace, folder);
  ASSERT_TRUE(status) << status.error().text();

  const std::string who =
      ": { cpu_id = 1 }, { tid = 42, common_flags = 0x5, common_preempt_count = 2 }, { ";
  const std::string nobody =
      ": { cpu_id = 1 }, { tid = 0, common_flags = 0x0, common_preempt_count = 0 }, { ";
  EXPECT_THAT(
      babeltrace(folder),
      ElementsAre(
          "[1.000000001] box lttng_statedump_start" + nobody + "}",
          "[1.000000001] box lttng_statedump_process_state" + nobody +
              "tid = 42, pid = 42, ppid = 0, name = \"worker\", type = 0, mode = 0, submode = 0, "
              "status = 0 }",
          "[1.000000001] box lttng_statedump_end" + nobody + "}",
          "[1.000000001] box sched_switch" + who +
              "prev_comm = \"worker\", prev_tid = 42, prev_state = 2, next_tid = 7 }",
          "[1.000000002] box irq_softirq_entry" + who + "vec = 3 }",
          "[1.000000003] box irq_handler_entry" + who + "irq = 11, name = \"eth0\" }",
          "[1.000000004] box syscall_entry_openat" + who + "dfd = -100, filename = \"0x7f00\" }",
          // Write, sync, meta, FUA and pre-flush.
          "[1.000000005] box block_rq_issue" + who + "dev = 8, sector = 77, rwbs = 1633 }",
          "[1.000000006] box kvm_x86_exit" + who +
              "exit_reason = 12, _values_length = 2, values = [ [0] = 1, [1] = 2 ] }",
          "[1.000000007] box kernel_stack" + who +
              "size = 2, _caller_length = 2, caller = [ [0] = 500, [1] = 600 ] }",
          "[1.000000008] box bprint" + who + "ip = 9, msg = \"the text\" }",
          "[1.000000009] box own" + who + "x = [ [0] = 97, [1] = 98, [2] = 99 ] }"));
}

// The kernel's "pid" is a thread's. Which process it belongs to is told by the flags with which it
// was made, here CLONE_VM | CLONE_THREAD.
TEST_F(ToCtf, AForkTellsThreadsAndProcesses) {
  Handmade trace;
  trace.add_type("sched", "sched_process_fork",
                 field("char parent_comm[16]", 8, 16) + field("pid_t parent_pid", 24, 4, true) +
                     field("char child_comm[16]", 28, 16) + field("pid_t child_pid", 44, 4, true));
  trace.add_type("task", "task_newtask",
                 field("pid_t pid", 8, 4, true) + field("char comm[16]", 12, 16) +
                     field("unsigned long clone_flags", 32, 8) +
                     field("short oom_score_adj", 40, 2, true));
  const auto newtask = [](int tid, uint64_t flags) {
    return number(static_cast<uint64_t>(tid), 4) + text("a", 16) + number(0, 4) + number(flags, 8) +
           number(0, 2);
  };
  const auto fork = [](uint64_t parent, uint64_t child) {
    return text("a", 16) + number(parent, 4) + text("b", 16) + number(child, 4);
  };
  trace.add({1, 1, newtask(43, 0x10100)});
  trace.add({2, 0, fork(42, 43)});
  trace.add({3, 1, newtask(44, 0)});
  trace.add({4, 0, fork(43, 44)});
  trace.add({5, 1, newtask(43, 0)});  // the id again
  trace.add({6, 0, fork(42, 43)});
  ASSERT_TRUE(to_ctf(trace, folder));
  std::vector<std::string> forks;
  for (const std::string& line : babeltrace(folder))
    if (const size_t at = line.find("parent_comm"); at != std::string::npos)
      forks.push_back(line.substr(at));
  const std::string parent = "parent_comm = \"a\", parent_tid = ";
  const std::string child = ", child_comm = \"b\", child_tid = ";
  EXPECT_THAT(forks, ElementsAre(parent + "42, parent_pid = 42" + child + "43, child_pid = 42 }",
                                 parent + "43, parent_pid = 42" + child + "44, child_pid = 44 }",
                                 parent + "42, parent_pid = 42" + child + "43, child_pid = 43 }"));
}

TEST_F(ToCtf, LossesAreToldWhereTheyHappened) {
  Handmade trace;
  trace.add_type("irq", "softirq_entry", field("unsigned int vec", 8, 4));
  trace.add({1'000'000'000, 0, number(1, 4)});
  trace.add({2'000'000'000, 0, number(2, 4), 5});
  trace.add({3'000'000'000, 0, number(3, 4), 0, true});
  ToCtfCounts counts;
  ASSERT_TRUE(to_ctf(trace, folder, {}, {}, &counts));
  EXPECT_EQ(counts.events, 3u);
  EXPECT_EQ(counts.lost, 5u);
  EXPECT_EQ(counts.lost_unknown, 1u);
  const std::string errors = testing::PrintToString(babeltrace(folder, true));
  EXPECT_THAT(errors, HasSubstr("discarded 5 events between [1.000000000] and [2.000000000]"));
  EXPECT_THAT(errors, HasSubstr("discarded 1 packet between [2.000000000] and [3.000000000]"));
}

TEST_F(ToCtf, TimeThatRunsBackwardsIsAnErrorInTheEndAndTheTraceIsThere) {
  Handmade trace;
  trace.add_type("irq", "softirq_entry", field("unsigned int vec", 8, 4));
  for (const int64_t time : {20, 10, 30}) trace.add({time, 0, number(1, 4)});
  EXPECT_FALSE(to_ctf(trace, folder));
  EXPECT_EQ(babeltrace(folder).size(), 3u + 3);
}

TEST_F(ToCtf, TraceWithoutEventsAndTimesBeforeZero) {
  Handmade trace;
  trace.add_type("irq", "softirq_entry", field("unsigned int vec", 8, 4));
  ASSERT_TRUE(to_ctf(trace, temporary.file("empty")));
  trace.add({-1'500'000'000, 0, number(1, 4)});
  trace.add({250'000'000, 0, number(2, 4)});
  ASSERT_TRUE(to_ctf(trace, folder));
  const std::vector<std::string> lines = babeltrace(folder);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[3], testing::StartsWith("[-1.500000000]"));
  EXPECT_THAT(lines[4], testing::StartsWith("[0.250000000]"));
}

TEST_F(ToCtf, FolderThatHoldsSomethingIsLeftAlone) {
  Handmade trace;
  temporary.write("file", "text");
  EXPECT_FALSE(to_ctf(trace, temporary.path()));
  EXPECT_EQ(temporary.names(), std::vector<std::string>{"file"});
  ASSERT_TRUE(to_ctf(trace, folder));
  EXPECT_FALSE(to_ctf(trace, folder));
  EXPECT_TRUE(to_ctf(trace, folder, {.overwrite = true}));
}

struct When {
  uint64_t cpu;
  uint64_t time;
  auto operator<=>(const When&) const = default;
};

// "... [003]  1234.567890123: ..." of trace-cmd; a name of a task may hold brackets too.
std::optional<When> when_of_report(const std::string& line) {
  for (size_t at = line.find('['); at != std::string::npos; at = line.find('[', at + 1)) {
    When when{};
    unsigned long seconds = 0;
    char nanoseconds[10] = {};
    int end = 0;
    if (std::sscanf(line.c_str() + at, "[%lu] %lu.%9[0-9]:%n", &when.cpu, &seconds, nanoseconds,
                    &end) == 3 &&
        end > 0) {
      when.time = seconds * 1'000'000'000 + std::stoul(nanoseconds);
      return when;
    }
  }
  return std::nullopt;
}

// "[1234.567890123] host name: { cpu_id = 3 }, ..."
When when_of_babeltrace(const std::string& line) {
  When when{};
  const size_t point = line.find('.');
  when.time =
      std::stoul(line.substr(1, point - 1)) * 1'000'000'000 + std::stoul(line.substr(point + 1, 9));
  when.cpu = std::stoul(line.substr(line.find("{ cpu_id = ") + 11));
  return when;
}

struct ToCtfOfRealTrace : testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Corpus, ToCtfOfRealTrace,
                         testing::Values("lisa_sched_load", "trappy_trace", "trace2", "pair-host",
                                         "pair-guest"));

TEST_P(ToCtfOfRealTrace, HasTheEventsAndTimesThatTraceCmdReports) {
  const std::optional<std::string> corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  if (!has_program("babeltrace2") || !has_program("trace-cmd"))
    GTEST_SKIP() << "no babeltrace2 or no trace-cmd here";
  const std::string path = *corpus + "/dat/" + GetParam() + ".dat";
  const TemporaryFolder temporary;
  const Result<std::unique_ptr<trace::Trace>> trace = open_trace(path);
  ASSERT_TRUE(trace);
  const Status status = to_ctf(**trace, temporary.file("kernel"));
  ASSERT_TRUE(status) << status.error().text();

  std::vector<When> expected;
  for (const std::string& line : lines_of(test::run({"trace-cmd", "report", "-t", path}).output))
    if (const std::optional<When> when = when_of_report(line)) expected.push_back(*when);
  std::vector<When> got;
  for (const std::string& line : babeltrace(temporary.file("kernel")))
    if (line.find(" lttng_statedump_") == std::string::npos)
      got.push_back(when_of_babeltrace(line));
  std::ranges::sort(expected);
  std::ranges::sort(got);
  ASSERT_GT(expected.size(), 0u);
  EXPECT_EQ(got.size(), expected.size());
  EXPECT_TRUE(got == expected);
}

TEST_F(ToCtf, LttngAnalysesFindWhoRan) {
  const std::optional<std::string> corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  if (!has_program("lttng-cputop")) GTEST_SKIP() << "no lttng-cputop here";
  const Result<std::unique_ptr<trace::Trace>> trace = open_trace(*corpus + "/dat/pair-host.dat");
  ASSERT_TRUE(trace);
  ASSERT_TRUE(to_ctf(**trace, folder));
  const test::CommandResult result = test::run({"lttng-cputop", folder});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("CPU 1/TCG (6361)"));
}

// Forks made it stop: it wants the ids of threads and of processes.
TEST_F(ToCtf, LttngAnalysesGoThroughForks) {
  if (!has_program("lttng-schedtop")) GTEST_SKIP() << "no lttng-schedtop here";
  const Result<std::unique_ptr<trace::Trace>> trace =
      open_trace(STRATA_SOURCE_DIR "/samples/first.dat");
  ASSERT_TRUE(trace);
  ASSERT_TRUE(to_ctf(**trace, folder));
  for (const char* analysis : {"lttng-schedtop", "lttng-iousagetop", "lttng-iolatencytop"}) {
    const test::CommandResult result = test::run({analysis, folder});
    EXPECT_EQ(result.status, 0) << analysis;
  }
}

}  // namespace
}  // namespace strata::recording
