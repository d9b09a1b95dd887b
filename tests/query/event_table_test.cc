// SPDX-License-Identifier: Apache-2.0
#include "query/event_table.h"

#include <gmock/gmock.h>

#include "watched_trace.h"

namespace strata::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using trace::RecordMaker;

// Two CPUs with a switch each ten nanoseconds, and events with odd fields between them on the
// second: times 10, 20, 30, 40 on CPU 0 and 15, 25, 35 on CPU 1.
class EventTableTest : public testing::Test {
 protected:
  EventTableTest() {
    auto made = std::make_unique<WatchedTrace>();
    trace = made.get();
    trace->edit_info().path = "a.dat";
    trace->edit_info().machine = "web1";
    trace->types.push_back(trace::sched_switch_type());
    trace->types.push_back(trace::odd_type());
    trace->sources = {{0, "", {}, {}}, {1, "", {}, {}}};
    for (const int64_t time : {10, 20, 30, 40})
      add(0, time, switch_type(),
          RecordMaker(switch_type(), 7).set("next_pid", time).set("next_comm", "bash"));
    for (const int64_t time : {15, 25, 35})
      add(1, time, odd(),
          RecordMaker(odd(), 8).set("cpu", 64 + time).set("big", -1).set("path", "/tmp"));
    traces.push_back(std::move(made));
  }

  const trace::EventType& switch_type() { return *trace->types[0]; }
  const trace::EventType& odd() { return *trace->types[1]; }
  void add(size_t source, int64_t time, const trace::EventType& type, const RecordMaker& record) {
    trace->sources[source].events.push_back({&type, record.bytes(), time});
  }
  Database& database() {
    if (!database_) {
      auto opened = Database::open(traces, [] { return TimeFrame{}; });
      EXPECT_TRUE(opened) << opened.error().cause;
      database_ = *std::move(opened);
    }
    return *database_;
  }
  std::string ask(std::string_view sql, RowStyle style = RowStyle::Csv) {
    return query::ask(database(), sql, style);
  }

  Traces traces;
  WatchedTrace* trace;

 private:
  std::unique_ptr<Database> database_;
};

TEST_F(EventTableTest, EventsOfAllStreamsComeByTime) {
  EXPECT_EQ(ask("SELECT time, cpu, tid, name FROM event"),
            "time,cpu,tid,name\n"
            "10,0,7,sched_switch\n"
            "15,1,8,odd_fields\n"
            "20,0,7,sched_switch\n"
            "25,1,8,odd_fields\n"
            "30,0,7,sched_switch\n"
            "35,1,8,odd_fields\n"
            "40,0,7,sched_switch\n");
}

TEST_F(EventTableTest, AFieldIsAColumnAndNullWhereTheEventHasNone) {
  EXPECT_EQ(ask("SELECT next_pid, next_comm, path, \"values\" FROM event LIMIT 2"),
            "next_pid,next_comm,path,values\n"
            "10,bash,,\n"
            ",,/tmp,\"[0, 0, 0]\"\n");
}

TEST_F(EventTableTest, NamesAreTheSameInEitherCase) {
  EXPECT_EQ(ask("SELECT NEXT_PID FROM event WHERE Next_Comm = 'bash' LIMIT 1"), "next_pid\n10\n");
}

TEST_F(EventTableTest, AFieldThatIsCalledLikeAColumnHasAPrefix) {
  EXPECT_EQ(ask("SELECT cpu, field_cpu FROM event WHERE field_cpu IS NOT NULL LIMIT 1"),
            "cpu,field_cpu\n1,79\n");
}

TEST_F(EventTableTest, ThePrefixIsRepeatedWhereAFieldIsCalledSoToo) {
  trace->types.push_back(trace::make_type(
      901, "odd", "two",
      {{"field_cpu", "int", 8, 4, 4, trace::Location::InPlace, trace::ValueKind::Integer, true}}));
  const trace::EventType& two = *trace->types.back();
  add(1, 45, two, RecordMaker(two, 8).set("field_cpu", 3));
  EXPECT_EQ(ask("SELECT field_cpu, field_field_cpu FROM event WHERE time IN (35, 45)"),
            "field_cpu,field_field_cpu\n,99\n3,\n");
}

TEST_F(EventTableTest, AnUnsignedNumberBeyondTheRangeIsItsBits) {
  EXPECT_EQ(ask("SELECT big, big = 0xffffffffffffffff AS same FROM event WHERE time = 15"),
            "big,same\n-1,1\n");
}

TEST_F(EventTableTest, AllFieldsAreAnObject) {
  EXPECT_EQ(ask("SELECT fields ->> 'next_pid' AS pid, fields ->> '$.next_comm' AS comm FROM event "
                "WHERE time = 20"),
            "pid,comm\n20,bash\n");
  EXPECT_EQ(ask("SELECT count(*) AS whole FROM event WHERE json_valid(fields)"), "whole\n7\n");
}

TEST_F(EventTableTest, ConditionsOnTimeLeadThere) {
  EXPECT_EQ(ask("SELECT time FROM event WHERE time BETWEEN 20 AND 30"), "time\n20\n25\n30\n");
  EXPECT_THAT(trace->watch.skips, ElementsAre(20, 20));
}

TEST_F(EventTableTest, ReadingEndsSoonBehindTheLastTimeThatIsWanted) {
  constexpr int64_t kSecond = 1'000'000'000;
  for (int64_t i = 1; i <= 100; ++i)
    add(0, i * kSecond, switch_type(), RecordMaker(switch_type(), 7));
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE time < 40"), "n\n6\n");
  EXPECT_LT(trace->watch.events, 20u);
}

TEST_F(EventTableTest, AClockThatStepsBackALittleHidesNothing) {
  add(0, 1'000'000, switch_type(), RecordMaker(switch_type(), 7));
  add(0, 500, switch_type(), RecordMaker(switch_type(), 7));
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE time <= 500"), "n\n8\n");
}

TEST_F(EventTableTest, StreamsOfOtherCpusAreNotRead) {
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE cpu = 1"), "n\n3\n");
  EXPECT_THAT(trace->watch.cpus, ElementsAre(1));
}

TEST_F(EventTableTest, AnotherMachineIsNotRead) {
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE machine = 'web2'"), "n\n0\n");
  EXPECT_THAT(trace->watch.cpus, IsEmpty());
}

TEST_F(EventTableTest, AListOfValuesIsReadOnce) {
  EXPECT_EQ(ask("SELECT time FROM event WHERE tid IN (8, 9, 8.0) AND name IN ('odd_fields', 'x')"),
            "time\n15\n25\n35\n");
  EXPECT_EQ(trace->watch.cpus.size(), 2u);
}

TEST_F(EventTableTest, AnEmptyListIsNotReadAtAll) {
  EXPECT_EQ(ask("SELECT time FROM event WHERE tid IN (SELECT 1 WHERE 0)"), "time\n");
  EXPECT_THAT(trace->watch.cpus, IsEmpty());
}

TEST_F(EventTableTest, AlternativesGiveEachEventOnce) {
  add(0, 40, switch_type(),
      RecordMaker(switch_type(), 7));  // the same in every column that is shown
  const std::string all = ask("SELECT time, tid FROM event ORDER BY time");
  EXPECT_EQ(ask("SELECT time, tid FROM event WHERE tid = 7 OR time >= 10 ORDER BY time"), all);
  EXPECT_EQ(ask("SELECT time, tid FROM event WHERE time < 26 OR time > 14 ORDER BY time"), all);
  EXPECT_EQ(ask("SELECT time, tid FROM event WHERE cpu = 0 OR name = 'odd_fields' ORDER BY time"),
            all);
}

TEST_F(EventTableTest, AJoinReadsTheInnerOneForEachOuterRow) {
  EXPECT_EQ(ask("SELECT a.time AS first, b.time AS second FROM event a JOIN event b "
                "ON b.time > a.time AND b.time < a.time + 8 WHERE a.cpu = 1"),
            "first,second\n15,20\n25,30\n35,40\n");
}

TEST_F(EventTableTest, OrderByTimeSortsNothing) {
  EXPECT_THAT(ask("EXPLAIN QUERY PLAN SELECT * FROM event ORDER BY time"),
              Not(HasSubstr("B-TREE")));
  EXPECT_THAT(ask("EXPLAIN QUERY PLAN SELECT * FROM event WHERE cpu IN (0, 1) ORDER BY time"),
              Not(HasSubstr("B-TREE")));
  EXPECT_THAT(ask("EXPLAIN QUERY PLAN SELECT * FROM event ORDER BY time DESC"),
              HasSubstr("B-TREE"));
}

TEST_F(EventTableTest, ThePlanTellsWhatIsPushedDown) {
  EXPECT_THAT(
      ask("EXPLAIN QUERY PLAN SELECT * FROM event WHERE time >= 5 AND tid = 3 AND cpu IN (1, 2)"),
      HasSubstr("time>= tid= cpu=in"));
}

TEST_F(EventTableTest, NumbersOfAllKindsAreCompared) {
  const auto count = [&](const std::string& condition) {
    return ask("SELECT count(*) AS n FROM event WHERE " + condition);
  };
  EXPECT_EQ(count("time > 24.5"), "n\n4\n");
  EXPECT_EQ(count("time < 24.5"), "n\n3\n");
  EXPECT_EQ(count("time >= '25'"), "n\n4\n");
  EXPECT_EQ(count("time = 25.0"), "n\n1\n");
  EXPECT_EQ(count("time = 25.5"), "n\n0\n");
  EXPECT_EQ(count("time > NULL"), "n\n0\n");
  EXPECT_EQ(count("time < 1e30"), "n\n7\n");
  EXPECT_EQ(count("time > -1e30"), "n\n7\n");
  EXPECT_EQ(count("time < 'later'"), "n\n7\n");  // a text is more than any number
  EXPECT_EQ(count("time > 9223372036854775807"), "n\n0\n");
  EXPECT_EQ(count("time >= -9223372036854775808"), "n\n7\n");
}

TEST_F(EventTableTest, TextsAreComparedAsTheStatementSays) {
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE name = 'SCHED_SWITCH'"), "n\n0\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE name = 'SCHED_SWITCH' COLLATE NOCASE"),
            "n\n4\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE name LIKE 'sched%'"), "n\n4\n");
}

TEST_F(EventTableTest, AThreadHasTheNameThatTheTraceTold) {
  trace->names.add(Tid(8), "kvm");
  EXPECT_EQ(ask("SELECT DISTINCT tid, comm FROM event WHERE tid = 8"), "tid,comm\n8,kvm\n");
}

TEST_F(EventTableTest, NamesAreLearntFromEventsThatAreNotWanted) {
  add(0, 50, switch_type(),
      RecordMaker(switch_type(), 7).set("next_pid", 9).set("next_comm", "late"));
  add(1, 51, odd(), RecordMaker(odd(), 9));
  EXPECT_EQ(ask("SELECT comm FROM event WHERE tid = 9"), "comm\nlate\n");
}

TEST_F(EventTableTest, AThreadThatNobodyKnowsIsNull) {
  trace->types[1]->tid = {};
  EXPECT_EQ(ask("SELECT DISTINCT tid, comm FROM event WHERE cpu = 1"), "tid,comm\n,\n");
}

TEST_F(EventTableTest, WhereEventsDoNotTellTheirThreadTheSwitchBeforeIsReadToo) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::string sql = "SELECT tid FROM event WHERE time >= " + std::to_string(kSecond);
  ask(sql);
  EXPECT_THAT(trace->watch.skips, ElementsAre(kSecond, kSecond));
  trace->watch = {};
  trace->types[1]->tid = {};
  ask(sql);
  EXPECT_THAT(trace->watch.skips, ElementsAre(0.9 * kSecond, 0.9 * kSecond));
  trace->watch = {};
  ask("SELECT cpu FROM event WHERE time >= " + std::to_string(kSecond));
  EXPECT_THAT(trace->watch.skips, ElementsAre(kSecond, kSecond));
}

TEST_F(EventTableTest, LostEventsAreCounted) {
  trace->sources[0].events[2].lost = 12;
  trace->sources[1].events[1].lost_unknown = true;
  EXPECT_EQ(ask("SELECT sum(lost) AS lost, sum(lost_unknown) AS places FROM event"),
            "lost,places\n12,1\n");
}

TEST_F(EventTableTest, WhatCannotBeReadIsToldOnceAndTheRestIsThere) {
  trace->sources[0].error = Error{"a.dat", 4096, "the page is torn"};
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event"), "n\n7\n");
  ASSERT_EQ(database().take_problems().size(), 1u);
  ask("SELECT a.time, b.time FROM event a, event b");
  EXPECT_THAT(database().take_problems(), IsEmpty());
}

TEST_F(EventTableTest, FieldsBeyondTheColumnsAreInTheObject) {
  std::vector<trace::Field> fields;
  for (uint32_t i = 0; i < 3000; ++i)
    fields.push_back({"many_" + std::to_string(i), "int", 8 + 4 * i, 4, 4, trace::Location::InPlace,
                      trace::ValueKind::Integer, true});
  trace->types.push_back(trace::make_type(902, "odd", "many", fields));
  const trace::EventType& many = *trace->types.back();
  add(1, 60, many, RecordMaker(many, 8).set("many_1", 11).set("many_2999", 12));
  EXPECT_EQ(ask("SELECT many_1, fields ->> 'many_2999' AS far FROM event WHERE time = 60"),
            "many_1,far\n11,12\n");
  EXPECT_THAT(ask("SELECT many_2999 FROM event"), HasSubstr("fields ->> 'many_2999'"));
  // Those of events with a meaning come first.
  EXPECT_EQ(ask("SELECT next_pid FROM event WHERE time = 10"), "next_pid\n10\n");
}

TEST_F(EventTableTest, NamesOfFieldsMayHoldAnything) {
  trace->types.push_back(trace::make_type(
      903, "odd", "names",
      {{"a\"b; DROP TABLE x", "int", 8, 4, 4, trace::Location::InPlace, trace::ValueKind::Integer,
        true},
       {"", "int", 12, 4, 4, trace::Location::InPlace, trace::ValueKind::Integer, true},
       {"select", "int", 16, 4, 4, trace::Location::InPlace, trace::ValueKind::Integer, true}}));
  const trace::EventType& names = *trace->types.back();
  add(1, 60, names, RecordMaker(names, 8).set("a\"b; DROP TABLE x", 1).set("select", 2));
  EXPECT_EQ(ask("SELECT \"a\"\"b; DROP TABLE x\" AS a, \"select\" AS b FROM event WHERE time = 60"),
            "a,b\n1,2\n");
}

}  // namespace
}  // namespace strata::query
