// SPDX-License-Identifier: Apache-2.0
#include "live/cpu_rows.h"

#include <gtest/gtest.h>

#include <array>

#include "made_up_memory.h"

namespace strata::live {
namespace {

using period::Column;

constexpr std::array<uint32_t, 2> kOnline = {0, 1};

TEST(CpuRows, ACpuIdlesUntilASwitchTellsOtherwise) {
  MadeUpMemory made_up(1, 3);  // the third is not there
  CpuRows rows(made_up.memory(), 50, kOnline);
  rows.copy();
  rows.begin(100);
  period::Machine machine;
  rows.copy();
  rows.tell(300, false, machine);
  ASSERT_EQ(machine.cpus.size(), 2);
  EXPECT_EQ(machine.cpus[1].number, 1);
  EXPECT_EQ(machine.cpus[1].values[Column::Idle], 200);
}

TEST(CpuRows, ACpuThatComesLaterHasARowWhenItIsHeardOf) {
  MadeUpMemory made_up(1, 3);
  CpuRows rows(made_up.memory(), 50, kOnline);
  rows.copy();
  rows.begin(100);
  made_up.cpu(2).runs = 1;
  period::Machine machine;
  rows.copy();
  rows.tell(300, false, machine);
  ASSERT_EQ(machine.cpus.size(), 3);
  EXPECT_EQ(machine.cpus[2].number, 2);
}

TEST(CpuRows, TimesOfACpuAddUpToThePeriod) {
  MadeUpMemory made_up(1);
  CpuRows rows(made_up.memory(), 0, kOnline);
  rows.copy();
  rows.begin(0);
  CpuSlot& cpu = made_up.cpu(0);
  cpu.ns[kCpuIdles] = 300;
  cpu.ns[kCpuRunsKernel] = 100;
  cpu.doing = kCpuRunsCall;
  cpu.since = 400;
  cpu.irq_ns = 30;
  cpu.softirq_ns = 12;
  cpu.interrupted_ns[kCpuIdles] = 40;
  cpu.interrupted_ns[kCpuRunsCall] = 2;
  cpu.switches = 5;
  period::Machine machine;
  rows.copy();
  rows.tell(1000, true, machine);
  const period::CpuRow::Values& values = machine.cpus[0].values;
  EXPECT_EQ(values[Column::Idle], 260);
  EXPECT_EQ(values[Column::Kernel], 100);
  EXPECT_EQ(values[Column::Syscall], 598);
  EXPECT_EQ(values[Column::Irq] + values[Column::Softirq], 42);
  EXPECT_EQ(values[Column::Switches], 5);
}

TEST(CpuRows, TheTicksSplitWhatProgramsRan) {
  MadeUpMemory made_up(1);
  CpuRows rows(made_up.memory(), 0, kOnline);
  rows.copy();
  rows.begin(0);
  made_up.cpu(0).doing = kCpuRuns;
  made_up.cpu(0).tick_user_ns = 90'000'000;
  made_up.cpu(0).tick_system_ns = 10'000'000;
  period::Machine machine;
  rows.copy();
  rows.tell(1000, false, machine);
  EXPECT_EQ(machine.cpus[0].values[Column::User], 900);
  EXPECT_EQ(machine.cpus[0].values[Column::Syscall], 100);
}

TEST(CpuRows, ThreadsAreThoseOfTheStartAndTheBornWithoutTheEnded) {
  MadeUpMemory made_up(1, 2);
  CpuRows rows(made_up.memory(), 0, kOnline);
  made_up.control().threads = 50;
  made_up.control().processes = 40;
  rows.copy();
  rows.begin(0);
  made_up.cpu(0).born = 7;
  made_up.cpu(1).ended = 10;  // where they were born does not matter
  made_up.cpu(1).no_room = 3;
  period::Machine machine;
  rows.copy();
  rows.tell(1000, false, machine);
  EXPECT_EQ(machine.values[Column::Threads], 47);
  EXPECT_EQ(machine.values[Column::Processes], 40);
  EXPECT_EQ(machine.values[Column::Born], 7);
  EXPECT_EQ(machine.values[Column::Ended], 10);
  EXPECT_EQ(machine.values[Column::NoRoom], 3);
}

}  // namespace
}  // namespace strata::live
