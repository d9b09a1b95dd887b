// SPDX-License-Identifier: Apache-2.0
#include "query/row_writer.h"

#include <gmock/gmock.h>

#include "watched_trace.h"

namespace strata::query {
namespace {

std::string shown(std::string_view sql, RowStyle style) {
  const Traces none;
  const auto database = *Database::open(none, [] { return TimeFrame{}; });
  return ask(*database, sql, style);
}

constexpr std::string_view kRows =
    "SELECT 1 AS n, 'a' AS word, NULL AS none UNION ALL SELECT 200, 'longer', 1.5";

TEST(RowWriter, ATableHasNumbersToTheRightAndTextsToTheLeft) {
  EXPECT_EQ(shown(kRows, RowStyle::Table),
            "  n  word    none\n"
            "  1  a\n"
            "200  longer   1.5\n");
}

TEST(RowWriter, ATableOfManyRowsGoesOnInTheSameColumns) {
  const std::string text = shown(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
      "SELECT i, 'x' AS x FROM n",
      RowStyle::Table);
  EXPECT_THAT(text, testing::StartsWith("  i  x\n  1  x\n"));
  EXPECT_THAT(text, testing::EndsWith("\n2000  x\n"));
}

TEST(RowWriter, CharactersAreCountedAndNotBytes) {
  EXPECT_EQ(shown("SELECT 'äöü' AS a, 1 AS b UNION ALL SELECT 'abcd', 2", RowStyle::Table),
            "a     b\näöü   1\nabcd  2\n");
}

TEST(RowWriter, NothingInATableReachesTheTerminal) {
  EXPECT_EQ(shown("SELECT 'a' || char(27) || '[2J' || char(10) || char(155) AS x", RowStyle::Table),
            "x\na\\x1b[2J\\n\\x9b\n");
}

TEST(RowWriter, CsvQuotesWhatItHasTo) {
  EXPECT_EQ(shown("SELECT 'a,b' AS \"x\"\"y\", 'say \"hi\"' AS z, NULL AS n, x'00ff' AS b",
                  RowStyle::Csv),
            "\"x\"\"y\",z,n,b\n\"a,b\",\"say \"\"hi\"\"\",,00ff\n");
}

TEST(RowWriter, JsonIsAnArrayOfObjects) {
  EXPECT_EQ(shown(kRows, RowStyle::Json),
            "[{\"n\":1,\"word\":\"a\",\"none\":null},\n"
            "{\"n\":200,\"word\":\"longer\",\"none\":1.5}]\n");
  EXPECT_EQ(shown("SELECT 1 AS a WHERE 0", RowStyle::Json), "[]\n");
  EXPECT_EQ(shown("SELECT 1e999 AS a, -9223372036854775808 AS b", RowStyle::Json),
            "[{\"a\":null,\"b\":-9223372036854775808}]\n");
}

TEST(RowWriter, LinesHaveNamesAndValues) {
  EXPECT_EQ(shown("SELECT 1 AS n, 'a' AS word", RowStyle::Line), "   n = 1\nword = a\n\n");
}

}  // namespace
}  // namespace strata::query
