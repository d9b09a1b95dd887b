// SPDX-License-Identifier: Apache-2.0
//
// Tables of what comes many at once: descriptors, requests to block devices; and of counters.
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

Field number(const char* name, uint32_t offset) {
  return Field{name, "long", offset, 8, 8, Location::InPlace, ValueKind::Integer, true};
}

class RecordTablesTest : public testing::Test {
 protected:
  RecordTablesTest() {
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    auto made = std::make_unique<WatchedTrace>();
    trace_ = made.get();
    trace_->edit_info().path = folder_.file("a.dat");
    trace_->edit_info().machine = "web1";
    trace_->sources = {{0, "", {}, {}}, {1, "", {}, {}}};
    traces_.push_back(std::move(made));
  }

  size_t add_type(std::string system, std::string name, const std::vector<const char*>& fields) {
    std::vector<Field> numbers;
    for (const char* field : fields)
      numbers.push_back(number(field, 8 + 8 * static_cast<uint32_t>(numbers.size())));
    trace_->types.push_back(trace::make_type(static_cast<uint32_t>(trace_->types.size()),
                                             std::move(system), std::move(name), numbers));
    return trace_->types.size() - 1;
  }
  void add(int64_t time, size_t type, int32_t tid,
           const std::vector<std::pair<std::string, int64_t>>& values, size_t cpu = 0) {
    RecordMaker record(*trace_->types[type], tid);
    for (const auto& [name, value] : values) record.set(name, value);
    trace_->sources[cpu].events.push_back({trace_->types[type].get(), record.bytes(), time});
  }
  void open() {
    database_ = *Database::open(traces_, [] { return TimeFrame{}; });
  }
  std::string ask(std::string_view sql) { return query::ask(*database_, sql); }

  test::TemporaryFolder folder_;
  Traces traces_;
  WatchedTrace* trace_;
  std::unique_ptr<Database> database_;
};

class Descriptors : public RecordTablesTest {
 protected:
  Descriptors() {
    const size_t enter_open = add_type("syscalls", "sys_enter_open", {"__syscall_nr", "a", "b"});
    const size_t exit_open = add_type("syscalls", "sys_exit_open", {"__syscall_nr", "ret"});
    const size_t enter_read = add_type("syscalls", "sys_enter_read", {"__syscall_nr", "fd"});
    const size_t exit_read = add_type("syscalls", "sys_exit_read", {"__syscall_nr", "ret"});
    const size_t enter_close = add_type("syscalls", "sys_enter_close", {"__syscall_nr", "fd"});
    const size_t exit_close = add_type("syscalls", "sys_exit_close", {"__syscall_nr", "ret"});
    for (const int32_t tid : {7, 8}) {
      const int64_t at = tid * 1000;
      add(at, enter_open, tid, {});
      add(at + 100, exit_open, tid, {{"ret", 3}});
      add(at + 200, enter_read, tid, {{"fd", 3}});
      add(at + 300, exit_read, tid, {{"ret", 70}});
      if (tid == 8) continue;
      add(at + 400, enter_close, tid, {{"fd", 3}});
      add(at + 500, exit_close, tid, {{"ret", 0}});
    }
    open();
  }
};

TEST_F(Descriptors, LastFromOpeningToClosing) {
  EXPECT_EQ(ask("SELECT begin, end, duration, machine, pid, fd, kind, reads, read_bytes, "
                "opened_by, closed_by FROM fd ORDER BY begin"),
            "begin,end,duration,machine,pid,fd,kind,reads,read_bytes,opened_by,closed_by\n"
            "7100,7500,400,web1,7,3,file,1,70,open,close\n"
            "8100,8300,200,web1,8,3,file,1,70,open,\n");
}

TEST_F(Descriptors, ConditionsAreThoseOfSql) {
  const auto begins = [&](const std::string& where) {
    return ask("SELECT begin FROM fd WHERE " + where + " ORDER BY 1");
  };
  EXPECT_EQ(begins("pid = 8"), "begin\n8100\n");
  EXPECT_EQ(begins("pid IN (7, 8, 9)"), "begin\n7100\n8100\n");
  EXPECT_EQ(begins("begin < 7500 AND end > 7200"), "begin\n7100\n");
  EXPECT_EQ(begins("end = 7500"), "begin\n7100\n");
  EXPECT_EQ(begins("end > 7500"), "begin\n8100\n");
  EXPECT_EQ(begins("begin = 7100 AND machine = 'web2'"), "begin\n");
  EXPECT_EQ(begins("pid = NULL"), "begin\n");
  EXPECT_THAT(ask("EXPLAIN QUERY PLAN SELECT * FROM fd WHERE pid = 7 AND begin < 5 AND end > 3"),
              HasSubstr("pid= begin<= end>="));
}

TEST_F(RecordTablesTest, ARequestHasItsTimesAndItsThread) {
  const std::vector<const char*> fields = {"dev", "sector", "nr_sector", "rwbs"};
  const size_t queue = add_type("block", "block_bio_queue", fields);
  const size_t issue = add_type("block", "block_rq_issue", fields);
  const size_t complete = add_type("block", "block_rq_complete", fields);
  const std::vector<std::pair<std::string, int64_t>> place = {
      {"dev", 8 << 20 | 1}, {"sector", 100}, {"nr_sector", 8}, {"rwbs", 1}};
  add(100, queue, 7, place);
  add(130, issue, 9, place);
  add(190, complete, 0, place);
  open();
  EXPECT_EQ(ask("SELECT begin, end, tid, device, wished_of, sector, bytes, operation, queued, "
                "issued, completed, waiting_ns, device_ns, merged FROM block_io WHERE tid = 7"),
            "begin,end,tid,device,wished_of,sector,bytes,operation,queued,issued,completed,"
            "waiting_ns,device_ns,merged\n"
            "100,190,7,8:1,8:1,100,4096,write,100,130,190,30,60,0\n");
  EXPECT_EQ(ask("SELECT count(*) FROM block_io WHERE tid = 9"), "count(*)\n0\n");
}

class CounterTable : public RecordTablesTest {
 protected:
  CounterTable() {
    trace_->edit_info().properties = {{"counters", "cycles,cache_misses"}};
    const size_t reading =
        add_type("", "counters_sched_switch", {"next_tid", "cycles", "cache_misses"});
    const auto read = [&](int64_t time, int32_t tid, int64_t next, int64_t cycles, size_t cpu = 0) {
      add(time, reading, tid,
          {{"next_tid", next}, {"cycles", cycles}, {"cache_misses", cycles / 10}}, cpu);
    };
    read(100, 0, 7, 1000);
    read(200, 7, 8, 1500);
    read(300, 8, 0, 1510);
    read(400, 9, 0, 1600);  // that it ran nobody had told
    read(1'000'000'000, 0, 7, 1650);
    read(250, 0, 5, 20, 1);
    read(260, 5, 0, 50, 1);
    open();
  }
};

TEST_F(CounterTable, AReadingTellsWhatWasCountedAndWhoRan) {
  EXPECT_EQ(ask("SELECT begin, end, machine, cpu, tid, value, counted FROM counter "
                "WHERE name = 'cycles' ORDER BY cpu, begin"),
            "begin,end,machine,cpu,tid,value,counted\n"
            "100,200,web1,0,7,1500,500\n"
            "200,300,web1,0,8,1510,10\n"
            "300,400,web1,0,,1600,90\n"
            "400,1000000000,web1,0,0,1650,50\n"
            "250,260,web1,1,5,50,30\n");
  EXPECT_EQ(ask("SELECT sum(counted) FROM counter WHERE name = 'cache-misses' AND cpu = 0"),
            "sum(counted)\n65\n");
}

TEST_F(CounterTable, ConditionsLeaveTheRowsAsTheyAre) {
  const auto ends = [&](const std::string& where) {
    return ask("SELECT end FROM counter WHERE name = 'cycles' AND " + where + " ORDER BY end");
  };
  EXPECT_EQ(ends("begin >= 200 AND end <= 400"), "end\n260\n300\n400\n");
  EXPECT_EQ(ends("tid = 7"), "end\n200\n");
  EXPECT_EQ(ends("cpu = 1"), "end\n260\n");
  EXPECT_EQ(ends("machine = 'web2'"), "end\n");
  EXPECT_EQ(ends("begin < 350 AND end > 350"), "end\n400\n");
  // The reading before it is far back.
  EXPECT_EQ(ends("end >= 900000000"), "end\n1000000000\n");
}

}  // namespace
}  // namespace strata::query
