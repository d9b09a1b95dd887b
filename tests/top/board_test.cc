// SPDX-License-Identifier: Apache-2.0
//
// Keys in, a grid out.
#include "top/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shown_tables.h"

namespace strata::top {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BoardTest : public testing::Test {
 protected:
  BoardTest() { board_.show(second_of_machine(kSecond)); }

  Order press(KeyCode code) { return board_.press({code}); }
  Order type(std::u32string_view text) {
    Order last;
    for (const char32_t character : text) last = board_.press(character_key(character));
    return last;
  }
  std::string drawn(unsigned width = 80, unsigned height = 24) {
    grid_.resize(width, height);
    board_.draw(moment_, grid_);
    return text_of_grid(grid_);
  }
  // The names in the list, from its heading down.
  std::vector<std::string> names(unsigned width = 80) {
    const std::string text = drawn(width);
    std::vector<std::string> found;
    bool is_list = false;
    for (unsigned row = 0; row + 1 < grid_.height(); ++row) {
      const std::string line = text_of_row(grid_, row);
      if (is_list && !line.empty()) found.push_back(line.substr(line.find_last_of(' ') + 1));
      if (line.ends_with("NAME")) is_list = true;
    }
    return found;
  }

  UserNames users_{false};
  Board board_{users_};
  Moment moment_;
  Grid grid_{80, 24};
};

TEST_F(BoardTest, TheHeaderTellsPeriodLoadAndWhatIsUnknown) {
  moment_.going = Going::Paused;
  moment_.behind = 3;
  const std::string text = drawn();
  EXPECT_THAT(text, HasSubstr("db1 1.000000000 # 2.000000000 PAUSED -3"));
  EXPECT_THAT(text, HasSubstr("2 CPUs: user 40.0  system 10.0"));
  EXPECT_THAT(text, HasSubstr("idle 50.0 %"));
  EXPECT_THAT(text, HasSubstr("5 processes  7 threads"));
  EXPECT_THAT(text, HasSubstr("12.3k events/s"));
}

TEST_F(BoardTest, TheHeaderTellsHowManyCameSinceThePeriodBefore) {
  period::Table next = second_of_machine(2 * kSecond);
  next.machines[0].values.set(period::Column::Processes, 8);
  next.machines[0].values.set(period::Column::Threads, 6);
  board_.show(next);
  EXPECT_THAT(drawn(), HasSubstr("8 processes (+3)  6 threads (-1)"));
  board_.show(second_of_machine(7 * kSecond));
  EXPECT_THAT(drawn(), Not(HasSubstr("(-"))) << "that is not the period after it";
}

TEST_F(BoardTest, ProcessesAreTheSumOfTheirThreadsAndSortedByCpu) {
  EXPECT_EQ(names()[0], "mysqld");
  const std::string text = drawn();
  // 300 + 50 + 500 ms, of which 800 in its own code, and 650 + 500 blocked, most of it by a disk.
  EXPECT_THAT(text, HasSubstr(" 85.0   80.0    5.0"));
  EXPECT_THAT(text, HasSubstr("115.0"));
  EXPECT_THAT(text, HasSubstr("exit 3     12.3"));
}

TEST_F(BoardTest, ThreadsAreToldApart) {
  type(U"t");
  EXPECT_EQ(names()[0], "worker");
  EXPECT_EQ(names()[1], "mysqld");
  EXPECT_THAT(drawn(), HasSubstr("CPU threads 5 by cpu"));
}

TEST_F(BoardTest, NamesCannotMoveTheTerminal) { EXPECT_THAT(drawn(), HasSubstr("a?[2J??")); }

TEST_F(BoardTest, TimesAreExactToTheNanosecondWhenAskedFor) {
  type(U"%");
  EXPECT_THAT(drawn(120), HasSubstr("123,456,789"));
  EXPECT_THAT(drawn(120), HasSubstr("CPU ns"));
}

TEST_F(BoardTest, SortsByAnyColumnAndInverts) {
  type(U"M");
  EXPECT_EQ(names()[0], "mysqld");
  EXPECT_TRUE(board_.sort_by("pid"));
  EXPECT_EQ(names(), (std::vector<std::string>{"mysqld", "sh", "false", "a?[2J??"}));
  type(U"I");
  EXPECT_EQ(names(), (std::vector<std::string>{"a?[2J??", "false", "sh", "mysqld"}));
  type(U"s");
  EXPECT_THAT(drawn(), HasSubstr("sort by"));
  press(KeyCode::Up);
  press(KeyCode::Up);
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), Not(HasSubstr("sort by")));
  EXPECT_FALSE(board_.sort_by("frob"));
}

TEST_F(BoardTest, AColumnIsChosenFromAMenu) {
  EXPECT_THAT(drawn(), Not(HasSubstr("PPID")));
  type(U"C");
  press(KeyCode::Down);
  press(KeyCode::Down);
  press(KeyCode::Enter);
  press(KeyCode::Escape);
  EXPECT_THAT(drawn(), HasSubstr("PPID"));
}

TEST_F(BoardTest, FiltersByAWordOrACondition) {
  type(U"\\false");
  press(KeyCode::Enter);
  EXPECT_EQ(names(), std::vector<std::string>{"false"});
  EXPECT_THAT(drawn(), HasSubstr("1 of 4"));
  press(KeyCode::Escape);
  EXPECT_EQ(names().size(), 4u);
  type(U"\\cpu > 80");
  press(KeyCode::Enter);
  EXPECT_EQ(names(), std::vector<std::string>{"mysqld"});
  type(U"\\ and (");
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("expected")) << "what is wrong with it is told";
}

TEST_F(BoardTest, SearchesAndSelects) {
  type(U"/fal");
  press(KeyCode::Enter);
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("CPU: false 201"));
  EXPECT_THAT(drawn(), HasSubstr("123,456,789 ns 12.3 %"));
  press(KeyCode::Escape);
  type(U"/nobody");
  EXPECT_THAT(drawn(), HasSubstr("'nobody' is nowhere"));
}

TEST_F(BoardTest, TheSelectedLineStaysSoInOtherPeriods) {
  press(KeyCode::Down);
  press(KeyCode::Enter);
  const std::string before = drawn();
  EXPECT_THAT(before, HasSubstr("CPU: false 201"));
  press(KeyCode::Escape);
  period::Table next = second_of_machine(2 * kSecond);
  next.machines[0].tasks[2].values.set(period::Column::User, 999 * kMs);  // sh comes before it
  board_.show(next);
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("CPU: false 201"));
}

TEST_F(BoardTest, EveryScreenShowsItsOwn) {
  press(KeyCode::F4);
  EXPECT_THAT(drawn(), HasSubstr("I/O 4 by io"));
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("descriptors of mysqld 100"));
  EXPECT_THAT(drawn(), HasSubstr("20.0M"));
  EXPECT_THAT(drawn(), HasSubstr("/var/lib/mysql/ibdata1"));
  press(KeyCode::F5);
  EXPECT_THAT(drawn(120), HasSubstr("60.0"));
  EXPECT_THAT(drawn(120), HasSubstr("mysqld")) << "who preempted it";
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("HLT"));
  press(KeyCode::F6);
  EXPECT_THAT(drawn(), HasSubstr("fsync"));
  EXPECT_THAT(drawn(), HasSubstr("5.00ms"));
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("4.19ms  8.39ms"));
  press(KeyCode::F7);
  EXPECT_THAT(drawn(), HasSubstr("disk"));
  EXPECT_THAT(drawn(), HasSubstr("interface"));
  press(KeyCode::F3);
  EXPECT_THAT(drawn(), HasSubstr("IPC"));
  press(KeyCode::F1);
  EXPECT_THAT(drawn(), HasSubstr("jump: time or condition"));
}

TEST_F(BoardTest, ATreeHasChildrenBelowTheirParents) {
  press(KeyCode::F8);
  const std::string text = drawn();
  const size_t parent = text.find(" sh\n");
  const size_t child = text.find("# false\n");
  EXPECT_NE(parent, std::string::npos);
  EXPECT_NE(child, std::string::npos);
  EXPECT_EQ(text.find('\n', parent) + 1, text.rfind('\n', child) + 1) << "on the next line";
}

TEST_F(BoardTest, WhatWasOpenedIsWanted) {
  EXPECT_FALSE(board_.wants().has(period::Group::Io));
  press(KeyCode::F4);
  EXPECT_TRUE(board_.wants().has(period::Group::Io));
  press(KeyCode::F2);
  EXPECT_TRUE(board_.wants().has(period::Group::Io)) << "it stays on";
  EXPECT_FALSE(board_.wants().has(period::Group::Counters));
}

// Those columns alone of which somebody tells something.
void mark_counters(period::Table& table, std::initializer_list<period::Column> told) {
  for (const period::ColumnInfo& info : period::kColumns)
    if (is_counter(info.id))
      table.machines[0].marks.set(period::RowKind::Task, info.id,
                                  std::ranges::find(told, info.id) != told.end()
                                      ? period::Certainty::Exact
                                      : period::Certainty::Unknown);
}

TEST_F(BoardTest, CountersThatNobodyTellsAreNotShownUntilTheyAreChosen) {
  period::Table table = second_of_machine(kSecond);
  mark_counters(table, {period::Column::PageFaults, period::Column::ContextSwitches});
  table.machines[0].tasks[0].values.set(period::Column::PageFaults, 4321);
  board_.show(table);
  press(KeyCode::F3);
  EXPECT_THAT(drawn(), AllOf(HasSubstr("PGFLT/s"), HasSubstr("CSW/s"), HasSubstr("4.32k")));
  EXPECT_THAT(drawn(), AllOf(Not(HasSubstr("IPC")), Not(HasSubstr("CYC/s"))));
  EXPECT_TRUE(board_.counters().empty()) << "whoever watches has chosen";
  // The last of the menu: switches between cgroups.
  type(U"C");
  for (int i = 0; i < 200; ++i) press(KeyCode::Down);
  EXPECT_THAT(drawn(), HasSubstr("[ ] cgroups"));
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("[x] cgroups"));
  EXPECT_THAT(board_.counters(),
              testing::ElementsAre("page-faults", "context-switches", "cgroup-switches"));
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("[ ] cgroups"));
  EXPECT_THAT(board_.counters(), testing::ElementsAre("page-faults", "context-switches"));
}

TEST_F(BoardTest, ACounterThatIsChosenOnAnotherScreenIsWanted) {
  period::Table table = second_of_machine(kSecond);
  mark_counters(table, {});
  board_.show(table);
  EXPECT_FALSE(board_.wants().has(period::Group::Counters));
  type(U"C");
  for (int i = 0; i < 200; ++i) press(KeyCode::Down);
  press(KeyCode::Enter);
  EXPECT_TRUE(board_.wants().has(period::Group::Counters));
  EXPECT_THAT(board_.counters(), testing::ElementsAre("cgroup-switches"));
}

TEST_F(BoardTest, TheCountersThatWereAskedForAloneAreShown) {
  board_.show_counters({"page-faults"});
  press(KeyCode::F3);
  EXPECT_THAT(drawn(200), AllOf(HasSubstr("PGFLT/s"), Not(HasSubstr("CSW/s"))));
  EXPECT_THAT(board_.counters(), testing::ElementsAre("page-faults"));
}

TEST_F(BoardTest, KeysOfTimeAreForOthers) {
  EXPECT_EQ(type(U"p").wish, Wish::Pause);
  EXPECT_EQ(press(KeyCode::Left).wish, Wish::Back);
  EXPECT_EQ(press(KeyCode::End).wish, Wish::Last);
  type(U":cpu > 80");
  const Order order = press(KeyCode::Enter);
  EXPECT_EQ(order.wish, Wish::Jump);
  EXPECT_EQ(order.text, "cpu > 80");
  EXPECT_EQ(type(U"q").wish, Wish::Quit);
  type(U"/");
  EXPECT_EQ(type(U"q").wish, Wish::Nothing) << "a letter of what is searched";
}

TEST_F(BoardTest, AConditionForJumpsIsHeldAgainstProcessesWhereTheScreenHasNone) {
  press(KeyCode::F7);
  const Result<LineFilter> busy = board_.condition("cpu > 80");
  ASSERT_TRUE(busy);
  EXPECT_TRUE(board_.holds(*busy, board_.table()));
  const Result<LineFilter> files = board_.condition("name ~ \"*ibdata1\" and read > 10M");
  ASSERT_TRUE(files);
  EXPECT_TRUE(board_.holds(*files, board_.table()));
  EXPECT_FALSE(board_.condition("frob > 1"));
}

TEST_F(BoardTest, TheMouseSelectsSortsAndOpensScreens) {
  drawn();
  unsigned heading = 0;
  while (!text_of_row(grid_, heading).ends_with("NAME")) ++heading;
  const auto column = static_cast<uint16_t>(text_of_row(grid_, heading).find("PID"));
  board_.press({.code = KeyCode::Press, .row = static_cast<uint16_t>(heading), .column = column});
  EXPECT_THAT(drawn(), HasSubstr("by pid"));
  const auto third = static_cast<uint16_t>(heading + 3);
  board_.press({.code = KeyCode::Press, .row = third, .column = 10});
  press(KeyCode::Enter);
  EXPECT_THAT(drawn(), HasSubstr("CPU: false 201"));
  const auto files = static_cast<uint16_t>(text_of_row(grid_, 23).find("Files"));
  board_.press({.code = KeyCode::Press, .row = 23, .column = files});
  EXPECT_THAT(drawn(), HasSubstr("Files 3"));
}

// Whatever is pressed on whatever size of screen: nothing is written outside, which the sanitizers
// would tell.
TEST_F(BoardTest, EverySizeAndKeyIsSurvived) {
  for (const unsigned width : {1u, 5u, 20u, 79u, 300u}) {
    for (const unsigned height : {1u, 2u, 5u, 12u, 60u}) {
      for (int code = static_cast<int>(KeyCode::Enter);
           code <= static_cast<int>(KeyCode::WheelDown); ++code) {
        board_.press({.code = KeyCode(code), .row = static_cast<uint16_t>(height / 2)});
        drawn(width, height);
      }
      for (char32_t character = U' '; character < 0x7f; ++character) {
        board_.press(character_key(character));
        drawn(width, height);
        board_.press({KeyCode::Escape});
      }
    }
  }
}

TEST_F(BoardTest, ManyCpusAreADigitEach) {
  period::Table table = second_of_machine(0);
  const period::CpuRow cpu = table.machines[0].cpus[0];
  for (uint32_t number = 2; number < 64; ++number) {
    table.machines[0].cpus.push_back(cpu);
    table.machines[0].cpus.back().number = number;
  }
  board_.show(table);
  EXPECT_THAT(drawn(),
              HasSubstr("in tenths " + std::string(52, '5') + "\n" + std::string(12, '5') + "\n"));
}

}  // namespace
}  // namespace strata::top
