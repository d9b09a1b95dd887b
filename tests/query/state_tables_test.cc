// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>

#include "watched_trace.h"

namespace strata::query {
namespace {

using testing::HasSubstr;
using trace::Field;
using trace::Location;
using trace::RecordMaker;
using trace::ValueKind;

// bash (7) reads, and waits for what it reads; the idle task is woken by an interrupt and wakes it;
// then it gives way to cc (8), which is still running at the end.
class StateTablesTest : public testing::Test {
 protected:
  StateTablesTest() {
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    auto made = std::make_unique<WatchedTrace>();
    trace_ = made.get();
    trace_->edit_info().path = folder_.file("a.dat");
    trace_->edit_info().machine = "web1";
    trace_->sources = {{0, "", {}, {}}};
    auto number = [](const char* name, uint32_t offset) {
      return Field{name, "int", offset, 4, 4, Location::InPlace, ValueKind::Integer, true};
    };
    trace_->types.push_back(trace::sched_switch_type());
    trace_->types.push_back(
        trace::make_type(1, "sched", "sched_waking",
                         {{"comm", "char[16]", 8, 16, 1, Location::InPlace, ValueKind::Text, true},
                          number("pid", 24),
                          number("prio", 28),
                          number("target_cpu", 32)}));
    trace_->types.push_back(
        trace::make_type(2, "syscalls", "sys_enter_read", {number("__syscall_nr", 8)}));
    trace_->types.push_back(trace::make_type(3, "syscalls", "sys_exit_read",
                                             {number("__syscall_nr", 8), number("ret", 16)}));

    add(100, 0, 0, {{"next_pid", 7}}, "bash");
    add(200, 2, 7, {});
    add(300, 0, 7, {{"prev_pid", 7}, {"prev_state", 1}}, "swapper");
    add(500, 1, 0, {{"pid", 7}}, "");
    add(600, 0, 0, {{"next_pid", 7}}, "bash");
    add(700, 3, 7, {});
    add(900, 0, 7, {{"prev_pid", 7}, {"next_pid", 8}}, "cc");
    add(1000, 2, 8, {});
    traces_.push_back(std::move(made));
    database_ = *Database::open(traces_, [] { return TimeFrame{}; });
  }

  void add(int64_t time, size_t type, int32_t tid,
           const std::vector<std::pair<std::string, int64_t>>& values, std::string_view next = "") {
    RecordMaker record(*trace_->types[type], tid);
    for (const auto& [name, value] : values) record.set(name, value);
    if (type == 0) record.set("next_comm", next);
    trace_->sources[0].events.push_back({trace_->types[type].get(), record.bytes(), time});
  }
  std::string ask(std::string_view sql) { return query::ask(*database_, sql); }

  test::TemporaryFolder folder_;
  Traces traces_;
  WatchedTrace* trace_;
  std::unique_ptr<Database> database_;
};

TEST_F(StateTablesTest, SlicesAreWhatTheCpuRan) {
  EXPECT_EQ(ask("SELECT begin, end, duration, machine, cpu, tid, comm FROM sched_slice "
                "WHERE begin >= 100 ORDER BY begin"),
            "begin,end,duration,machine,cpu,tid,comm\n"
            "100,300,200,web1,0,7,bash\n"
            "300,600,300,web1,0,0,<idle>\n"
            "600,900,300,web1,0,7,bash\n"
            "900,1000,100,web1,0,8,cc\n");
}

TEST_F(StateTablesTest, ConditionsOnTimeAndCpuAreThoseOfSql) {
  EXPECT_EQ(ask("SELECT tid FROM sched_slice WHERE begin < 650 AND end > 550 ORDER BY begin"),
            "tid\n0\n7\n");
  EXPECT_EQ(ask("SELECT tid FROM sched_slice WHERE begin = 600"), "tid\n7\n");
  EXPECT_EQ(ask("SELECT tid FROM sched_slice WHERE end = 600"), "tid\n0\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM sched_slice WHERE cpu = 1"), "n\n0\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM sched_slice WHERE machine = 'web2'"), "n\n0\n");
  EXPECT_THAT(ask("EXPLAIN QUERY PLAN SELECT * FROM sched_slice WHERE begin < 5 AND end > 3 "
                  "AND cpu = 0"),
              HasSubstr("begin<= end>= cpu="));
}

TEST_F(StateTablesTest, ASystemCallIsFromEntryToExitWithItsWaits) {
  EXPECT_EQ(ask("SELECT begin, end, tid, comm, name, running_ns, waiting_ns, blocked_ns "
                "FROM syscall"),
            "begin,end,tid,comm,name,running_ns,waiting_ns,blocked_ns\n"
            "200,700,7,bash,read,200,100,200\n");
}

TEST_F(StateTablesTest, AWakeUpTellsWhoAndHowLongItTookToRun) {
  EXPECT_EQ(ask("SELECT begin, duration, tid, waker_tid, waker_comm, context FROM wakeup"),
            "begin,duration,tid,waker_tid,waker_comm,context\n500,100,7,0,<idle>,task\n");
}

TEST_F(StateTablesTest, StatesAreWhatThreadsDid) {
  EXPECT_EQ(ask("SELECT begin, end, state, detail FROM state WHERE tid = 7 AND begin >= 200 "
                "AND begin < 700 ORDER BY begin"),
            "begin,end,state,detail\n"
            "200,300,syscall,read\n"
            "300,500,wait-other,read\n"
            "500,600,wait-cpu,woken by <idle>\n"
            "600,700,syscall,read\n");
}

TEST_F(StateTablesTest, ThreadsHaveTheirTimes) {
  EXPECT_EQ(ask("SELECT tid, comm, running_ns, waiting_ns, blocked_ns FROM thread ORDER BY tid"),
            "tid,comm,running_ns,waiting_ns,blocked_ns\n"
            "7,bash,500,200,200\n"
            "8,cc,100,0,0\n");
}

TEST_F(StateTablesTest, TheTimesOfACpuAddUpToTheSpan) {
  EXPECT_EQ(ask("SELECT unknown_ns + idle_ns + user_ns + syscall_ns + trap_ns + irq_ns + "
                "softirq_ns + virt_ns + kernel_ns AS all_ns, idle_ns, syscall_ns FROM cpu"),
            "all_ns,idle_ns,syscall_ns\n900,300,200\n");
}

TEST_F(StateTablesTest, WithoutVirtualMachinesTheirTablesAreEmpty) {
  EXPECT_EQ(ask("SELECT count(*) AS n FROM vm"), "n\n0\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM vcpu"), "n\n0\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM vm_exit"), "n\n0\n");
}

TEST_F(StateTablesTest, AnIndexThatCannotBeMadeFailsTheStatement) {
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  EXPECT_THAT(ask("SELECT * FROM cpu"), HasSubstr("error: "));
  EXPECT_THAT(ask("SELECT * FROM sched_slice"), HasSubstr("error: "));
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event"), "n\n8\n");
}

}  // namespace
}  // namespace strata::query
