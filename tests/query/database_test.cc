// SPDX-License-Identifier: Apache-2.0
#include "query/database.h"

#include <gmock/gmock.h>

#include "query/declaration.h"
#include "watched_trace.h"

namespace strata::query {
namespace {

using testing::HasSubstr;

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    auto made = std::make_unique<WatchedTrace>();
    trace = made.get();
    trace->edit_info().path = "a.dat";
    trace->edit_info().kind = "trace.dat 7";
    trace->edit_info().machine = "web1";
    trace->edit_info().cpus = 1;
    trace->types.push_back(trace::sched_switch_type());
    trace->sources = {{0, "", {}, {}}};
    for (const int64_t time : {1000, 2000, 3000})
      trace->sources[0].events.push_back(
          {trace->types[0].get(), trace::RecordMaker(*trace->types[0], 7).bytes(), time});
    traces.push_back(std::move(made));
    database = *Database::open(traces, [] {
      return TimeFrame{Nanoseconds{1000}, Nanoseconds{3000}, false, {}};
    });
  }
  std::string ask(std::string_view sql) { return query::ask(*database, sql); }
  std::optional<uint64_t> place_of_error(std::string_view sql) {
    size_t position = 0;
    while (position < sql.size()) {
      Result<std::optional<Statement>> statement = database->prepare(sql, position);
      if (!statement) return statement.error().offset;
    }
    return std::nullopt;
  }

  Traces traces;
  WatchedTrace* trace;
  std::unique_ptr<Database> database;
};

TEST_F(DatabaseTest, TracesAreATable) {
  EXPECT_EQ(ask("SELECT path, kind, machine, cpus, clock, begin, end FROM trace"),
            "path,kind,machine,cpus,clock,begin,end\na.dat,trace.dat 7,web1,1,local,1000,3000\n");
}

TEST_F(DatabaseTest, EventTypesAreATable) {
  EXPECT_EQ(
      ask("SELECT system, name, id, meaning, fields ->> 'next_pid' AS next_pid FROM event_type"),
      "system,name,id,meaning,next_pid\nsched,sched_switch,314,SchedSwitch,pid_t\n");
}

TEST_F(DatabaseTest, NothingCanBeWritten) {
  for (const char* sql :
       {"CREATE TABLE x(a)", "CREATE TEMP TABLE x(a)", "DELETE FROM event",
        "INSERT INTO event(time) VALUES(1)", "UPDATE event SET time = 1", "DROP TABLE event",
        "ATTACH '/tmp/x' AS x", "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1",
        "VACUUM INTO '/tmp/x'", "BEGIN", "CREATE VIEW v AS SELECT 1",
        "UPDATE sqlite_master SET sql = ''", "DETACH main", "SAVEPOINT s", "ANALYZE",
        "CREATE INDEX i ON event(time)", "INSERT INTO sqlite_master(name) VALUES(1)"})
    EXPECT_THAT(ask(sql), HasSubstr("error: ")) << sql;
  EXPECT_THAT(ask("SELECT load_extension('x')"), HasSubstr("error: "));
  EXPECT_THAT(ask("CREATE TABLE x(a)"), HasSubstr("not be changed"));
}

TEST_F(DatabaseTest, WhatSqlHasBesidesTablesIsThere) {
  EXPECT_EQ(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
                "SELECT sum(i) AS s FROM n"),
            "s\n6\n");
  EXPECT_EQ(ask("SELECT time - lag(time) OVER (ORDER BY time) AS since FROM event"),
            "since\n\"\"\n1000\n1000\n");
  EXPECT_THAT(ask("SELECT name FROM pragma_table_info('event')"), HasSubstr("time\n"));
  EXPECT_EQ(ask("SELECT key FROM event, json_each(fields) WHERE time = 1000 AND key LIKE 'next%'"),
            "key\nnext_comm\nnext_pid\nnext_prio\n");
}

TEST_F(DatabaseTest, SeveralStatementsRunOneAfterTheOther) {
  EXPECT_EQ(ask("SELECT 1 AS a; -- a comment\n ; SELECT 2 AS b"), "a\n1\nb\n2\n");
}

TEST_F(DatabaseTest, AnErrorHasItsPlace) {
  EXPECT_EQ(place_of_error("SELECT 1; SELECT tme FROM event"), 17u);
  EXPECT_EQ(place_of_error("SELECT time FRM event"), 16u);
}

TEST_F(DatabaseTest, AMisspeltNameHasAHint) {
  EXPECT_THAT(ask("SELECT next_pd FROM event"), HasSubstr("next_pid"));
  EXPECT_THAT(ask("SELECT e.next_pd FROM event e"), HasSubstr("next_pid"));
  EXPECT_THAT(ask("SELECT * FROM evnt"), HasSubstr("'event'"));
}

TEST_F(DatabaseTest, ATimeIsSaidAsOnTheCommandLine) {
  EXPECT_EQ(ask("SELECT at('+1us') AS a, at('-1us') AS b"), "a,b\n2000,2000\n");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event WHERE time >= at('+1us')"), "n\n2\n");
  EXPECT_THAT(trace->watch.skips, testing::ElementsAre(2000));
  EXPECT_THAT(ask("SELECT at('soon')"), HasSubstr("error: "));
}

TEST_F(DatabaseTest, AnInterruptedStatementEndsAndTheNextOneRuns) {
  size_t position = 0;
  Result<std::optional<Statement>> statement =
      database->prepare("SELECT time FROM event", position);
  ASSERT_TRUE(statement && *statement);
  ASSERT_TRUE((*statement)->next());
  database->interrupt();
  const Result<bool> next = (*statement)->next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().cause, "interrupted");
  *statement = std::nullopt;
  EXPECT_EQ(ask("SELECT count(*) AS n FROM event"), "n\n3\n");
}

TEST_F(DatabaseTest, AStatementIsWholeWithItsSemicolon) {
  EXPECT_TRUE(Database::is_whole("SELECT 1;"));
  EXPECT_FALSE(Database::is_whole("SELECT 1"));
  EXPECT_FALSE(Database::is_whole("SELECT ';"));
}

TEST_F(DatabaseTest, EveryColumnIsDocumented) {
  for (const auto& table : database->tables()) {
    EXPECT_FALSE(table->about.empty()) << table->name;
    for (const Column& column : table->columns) EXPECT_FALSE(column.about.empty()) << column.name;
  }
  const std::string text = documentation(*database->tables()[0]);
  EXPECT_THAT(text, HasSubstr("\n  next_pid INTEGER HIDDEN,"));
  EXPECT_THAT(text, HasSubstr("-- pid_t of sched:sched_switch\n"));
}

}  // namespace
}  // namespace strata::query
