// SPDX-License-Identifier: Apache-2.0
#include "period/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "period/tables.h"

namespace strata::period {
namespace {

std::string line_of(const Table& table) {
  TextBuffer out;
  put_json(table, out);
  return std::string(out.view());
}

TEST(PeriodJson, IsReadBackAsItWas) {
  for (const Table& table : {full_table(1000, 1100), full_table(-1100, -1000), Table{}}) {
    const Result<Table> again = table_from_json(line_of(table));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, table) << line_of(table);
  }
}

TEST(PeriodJson, IsOneLineThatAnotherReaderUnderstands) {
  const std::string line = line_of(full_table(1000, 1100));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  const auto& machine = json["machines"][0];
  EXPECT_EQ(json["begin_ns"], 1000);
  EXPECT_EQ(json["source"], "live");
  EXPECT_EQ(machine["name"], "host \"one\"");
  EXPECT_EQ(machine["tasks"][0]["user_ns"], 60);
  EXPECT_EQ(machine["tasks"][0]["state"], "wait-timer");
  EXPECT_EQ(machine["tasks"][0]["exit_code"], 3);
  EXPECT_TRUE(machine["tasks"][0]["memory_bytes"].is_null());
  EXPECT_FALSE(machine["tasks"][0].contains("virt_ns"));
  EXPECT_EQ(machine["estimated"]["task"], nlohmann::json({"wait_other_ns"}));
  EXPECT_EQ(machine["latencies"][0]["histogram"],
            nlohmann::json({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(PeriodJson, BytesThatAreNoUtf8AreReplaced) {
  Table table = full_table(0, 10);
  table.machines[0].tasks[0].name = "a\xff";
  const Result<Table> again = table_from_json(line_of(table));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->machines[0].tasks[0].name, "a\xef\xbf\xbd");
}

TEST(PeriodJson, CutAnywhereItIsAnErrorAndNothingElse) {
  const std::string line = line_of(full_table(1000, 1100));
  for (size_t size = 0; size + 1 < line.size(); ++size)
    EXPECT_FALSE(table_from_json(std::string_view(line).substr(0, size))) << size;
}

TEST(PeriodJson, WhatIsWrongIsNamed) {
  const auto cause = [](const std::string& line) {
    const Result<Table> table = table_from_json(line);
    return table ? "" : table.error().cause;
  };
  const std::string begin = R"({"begin_ns":1,"end_ns":2,"source":"trace","machines":)";
  EXPECT_EQ(cause(begin + "[]}"), "");
  EXPECT_NE(cause("[]"), "");
  EXPECT_NE(cause("7"), "");
  EXPECT_NE(cause(R"({"source":"trace"})"), "");
  EXPECT_NE(cause(R"({"begin_ns":2,"end_ns":1,"source":"trace"})"), "");
  EXPECT_NE(cause(R"({"begin_ns":-9223372036854775807,"end_ns":9223372036854775807,)"
                  R"("source":"trace"})"),
            "");
  EXPECT_NE(cause(R"({"begin_ns":1,"end_ns":2,"source":"dream"})"), "");
  EXPECT_NE(cause(begin + "{}}"), "");
  EXPECT_EQ(cause(begin + R"([{"name":"a","estimated":{"task":["user_ns"]}}]})"), "");
  EXPECT_NE(cause(begin + R"([{"name":"a","estimated":{"task":["user_space_ns"]}}]})"), "")
      << "tasks have no such column";
  EXPECT_NE(cause(begin + "[7]}"), "");
  EXPECT_NE(cause(begin + R"([{"tasks":[[]]}]})"), "");
  for (const char* field :
       {R"("tid":1.5)", R"("tid":3000000000)", R"("tid":"7")", R"("user":-1)",
        R"("user":4294967296)", R"("user_ns":-1)", R"("user_ns":18446744073709551616)",
        R"("kernel":1)", R"("name":7)", R"("state":"dancing")", R"("state":"syscalls")",
        R"("state":"idle")", R"("corrections":[{"begin_ns":2,"end_ns":1}])",
        R"("corrections":[{"begin_ns":1,"end_ns":2,"from":"faults"}])"}) {
    std::string line = begin + R"([{"tasks":[{"start_ns":1,)";
    EXPECT_NE(cause((line += field) += "}]}]}"), "") << field;
  }
  EXPECT_NE(cause(begin + R"([{"unknown":{"task":["colour"]}}]})"), "");
  EXPECT_EQ(cause(begin + R"([{"name":"a"},{"name":"b"}]})"), "");
  EXPECT_NE(cause(begin + R"([{"name":"a"},{"name":"a"}]})"), "");
  const std::string latencies = begin + R"([{"latencies":[{"what":"irq","histogram":[1,2],)";
  EXPECT_EQ(cause(latencies + R"("count":3}]}]})"), "");
  EXPECT_NE(cause(latencies + R"("count":4}]}]})"), "");
}

// A letter or two of a line must not become hundreds of bytes without end.
TEST(PeriodJson, NoMoreRowsAreReadThanThereCanBe) {
  const auto array_of = [](std::string_view element, size_t count) {
    std::string array = "[";
    while (count-- > 0) (array += element) += ',';
    array.back() = ']';
    return array;
  };
  const auto cause = [](const std::string& machines) {
    const Result<Table> table = table_from_json(
        R"({"begin_ns":1,"end_ns":2,"source":"trace","machines":)" + machines + '}');
    return table ? "" : table.error().cause;
  };
  EXPECT_EQ(cause(R"([{"tasks":)" + array_of("0", 2'100'000) + "}]"),
            "the line has more rows than there can be");
  EXPECT_EQ(cause(array_of("0", 5000)), "the line has more machines than there can be");
}

TEST(PeriodJson, LinesAreReadUpToTheFirstThatIsBroken) {
  const std::string line = line_of(full_table(0, 100));
  const std::string whole = line + "\n" + line;
  TableLines both(whole, "f");
  for (const uint64_t at : {uint64_t{0}, uint64_t{line.size() + 1}}) {
    const Result<std::optional<Table>> table = both.next();
    ASSERT_TRUE(table);
    EXPECT_EQ(*table, full_table(0, 100));
    EXPECT_EQ(both.offset(), at);
  }
  const Result<std::optional<Table>> end = both.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, std::nullopt);

  const std::string broken = line + "{\n" + line;
  TableLines up_to_there(broken, "f");
  EXPECT_TRUE(up_to_there.next());
  for (int time = 0; time < 2; ++time) {
    const Result<std::optional<Table>> damaged = up_to_there.next();
    ASSERT_FALSE(damaged) << "and it stays there";
    EXPECT_EQ(damaged.error().file, "f");
    EXPECT_EQ(damaged.error().offset, line.size());
  }
}

}  // namespace
}  // namespace strata::period
