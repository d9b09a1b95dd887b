// SPDX-License-Identifier: Apache-2.0
#include "top/line_filter.h"

#include <gtest/gtest.h>

#include "shown_tables.h"
#include "top/file_sheets.h"
#include "top/task_sheet.h"

namespace strata::top {
namespace {

class LineFilterTest : public testing::Test {
 protected:
  // The names of the processes that match, with blanks between.
  std::string matching(std::string_view text) {
    const Result<LineFilter> filter = LineFilter::parse(text);
    if (!filter) return "error: " + filter.error().text();
    std::string names;
    for (size_t line = 0; line < tasks_.size(); ++line)
      if (filter->matches(tasks_, line, scale_, machine_)) names += tasks_.row(line).name + ' ';
    return names;
  }

  period::Table table_ = second_of_machine(0);
  period::Machine& machine_ = table_.machines[0];
  UserNames users_{false};
  Scale scale_{kSecond};
  TaskSheet tasks_{machine_, TaskLines::Processes, users_};
};

TEST_F(LineFilterTest, AWordIsLookedForInTexts) {
  EXPECT_EQ(matching("mysql"), "mysqld ");
  EXPECT_EQ(matching("MYSQL"), "mysqld ");
  EXPECT_EQ(matching("27"), "mysqld ") << "its user";
  EXPECT_EQ(matching("200"), "sh false ") << "a process, and what it made, by number";
  EXPECT_EQ(matching("nothing"), "");
}

// The database: 350 + 500 ms on CPUs of a second, 20 MB read.
TEST_F(LineFilterTest, AConditionComparesWhatIsOnScreen) {
  EXPECT_EQ(matching("cpu > 80"), "mysqld ");
  EXPECT_EQ(matching("cpu > 80%"), "mysqld ");
  EXPECT_EQ(matching("cpu > 85.1"), "");
  EXPECT_EQ(matching("proc = mysqld and io > 10M"), "mysqld ");
  EXPECT_EQ(matching("proc = mysqld and io > 20.1M"), "");
  EXPECT_EQ(matching("proc ~ \"*s*\" and not cpu > 80"), "sh false ");
  EXPECT_EQ(matching("state = 'exit 3' or user = 27"), "mysqld false ");
}

TEST_F(LineFilterTest, WhatIsNotKnownFulfilsNothing) {
  machine_.marks.set(period::RowKind::Task, period::Column::ReadBytes, period::Certainty::Unknown);
  EXPECT_EQ(matching("read >= 0"), "");
  EXPECT_EQ(matching("read < 1"), "");
}

TEST_F(LineFilterTest, HoldsForTheMachineToo) {
  const auto holds = [&](std::string_view text) {
    return LineFilter::parse(text)->holds(tasks_, scale_, machine_);
  };
  EXPECT_TRUE(holds("load > 49"));
  EXPECT_FALSE(holds("load > 51"));
  EXPECT_TRUE(holds("events = 12345"));
  EXPECT_TRUE(holds("load > 40 and proc = sh"));
  EXPECT_FALSE(holds("load > 60 and proc = sh"));
}

TEST_F(LineFilterTest, ListsWithoutSuchColumnsAreNotFiltered) {
  const FileSheet files(machine_);
  const Result<LineFilter> filter = LineFilter::parse("cpu > 80");
  EXPECT_EQ(filter->unknown_name(files), "cpu");
  EXPECT_TRUE(filter->matches(files, 0, scale_, machine_));
  EXPECT_EQ(LineFilter::parse("name = x and frob > 2")->unknown_name(tasks_), "frob");
}

TEST_F(LineFilterTest, AConditionThatMakesNoSenseSaysWhere) {
  const Result<LineFilter> filter = LineFilter::parse("cpu > ");
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().offset, 6u);
}

}  // namespace
}  // namespace strata::top
