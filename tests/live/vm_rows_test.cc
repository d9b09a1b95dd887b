// SPDX-License-Identifier: Apache-2.0
#include "live/vm_rows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "live/exit_reasons.h"
#include "live/task_rows.h"
#include "made_up_memory.h"

namespace strata::live {
namespace {

using period::Column;
using testing::IsEmpty;

constexpr uint32_t kHlt = 0x78;  // of AMD
constexpr uint32_t kIo = 0x7b;
constexpr uint32_t kNestedFault = 0x400;
constexpr int32_t kThread = 41;

// A thread on CPU 1 that is a virtual CPU, and what happens to it, as the programs do it.
class VmRowsTest : public testing::Test {
 protected:
  VmRowsTest() {
    thread_->pid = 40;
    thread_->cpu = 1;
    thread_->doing = kRuns;
  }

  void add(uint64_t now) { rows_.add(kThread, std::nullopt, now); }

  void enter(uint64_t now) {
    charge(now);
    vcpu().is_in_guest = 1;
    vcpu().handler = kTheKernel;
  }
  void exit(uint64_t now, uint32_t reason) {
    charge(now);
    vcpu().is_in_guest = 0;
    vcpu().isa = kAmd;
    vcpu().reason = place_of_reason(kAmd, reason);
    vcpu().is_halted = halts_.is_halt[kAmd][vcpu().reason];
    ++vcpu().exits[vcpu().reason].count;
  }
  void return_to_program(uint64_t now) {
    charge(now);
    vcpu().handler = kTheProgram;
  }
  void lose_cpu(uint64_t now, int32_t to, std::string_view name) {
    change(*thread_, kWaitsForCpu, now);
    charge(now);
    Taker& taker = vcpu().takers[to % kTakers];
    taker.tid = to;
    std::ranges::copy(name, taker.name);
    vcpu().taker = to % kTakers + 1;
  }

  period::Machine tell(uint64_t end, period::Machine machine = {}) {
    rows_.copy();
    rows_.tell(begin_, end, false, machine);
    begin_ = end;
    machine.add_up();
    return machine;
  }
  static uint64_t exits(const period::Machine& machine, std::string_view reason, Column column) {
    const auto row = std::ranges::find(machine.exits, reason, &period::ExitRow::reason);
    return row == machine.exits.end() ? 0 : row->values[column];
  }

  VcpuSlot& vcpu() { return vcpus_[0]; }
  void charge(uint64_t now) {
    const TaskSums sums = TaskSums::at(*thread_, now);
    const ThreadTimes times = {.ran = sums.ns[kRuns],
                               .ran_in_user = sums.ns[kRunsInUser],
                               .ran_in_call = sums.ns[kRunsInCall],
                               .interrupted = {thread_->irq_ns[0], thread_->irq_ns[1]},
                               .waited = sums.ns[kWaitsForCpu]};
    cpus_[1].guest_ns += charge_vcpu(&vcpu(), &times, now);
    vcpu().version += 2;
  }

  MadeUpMemory made_up_{4, 2};
  CgroupNames cgroups_;
  TaskRows tasks_{made_up_.memory(), cgroups_};
  TaskSlot* thread_ = made_up_.take(kThread, "CPU 3/KVM");
  std::vector<VcpuSlot> vcpus_{2};
  std::vector<VcpuPlace> places_{4};
  std::vector<GuestCpu> cpus_{2};
  HaltReasons halts_ = [] {
    HaltReasons halts{};
    put_halts(halts);
    return halts;
  }();
  VmRows rows_{made_up_.memory(), {vcpus_, places_, cpus_}, [](int32_t) { return "web"; }};
  uint64_t begin_ = 0;
};

TEST_F(VmRowsTest, TimesOfAVirtualCpuAreDividedByItsEntriesAndExits) {
  add(100);
  enter(110);
  exit(150, kIo);
  return_to_program(155);
  enter(170);
  const period::Machine machine = tell(200);
  ASSERT_EQ(machine.vcpus.size(), 1);
  const period::VcpuRow& row = machine.vcpus[0];
  EXPECT_EQ(row.tid, kThread);
  EXPECT_EQ(row.pid, 40);
  EXPECT_EQ(row.vm, "web");
  EXPECT_EQ(row.number, 3);
  EXPECT_EQ(row.state, Column::Guest);
  EXPECT_EQ(row.values[Column::Unknown], 110)
      << "the period's beginning, and before the first entry";
  EXPECT_EQ(row.values[Column::Guest], 40 + 30);
  EXPECT_EQ(row.values[Column::Hypervisor], 5);
  EXPECT_EQ(row.values[Column::UserSpace], 15);
  EXPECT_EQ(row.values[Column::Exits], 1);
  EXPECT_EQ(exits(machine, "io", Column::Exits), 1);
  EXPECT_EQ(exits(machine, "io", Column::Hypervisor), 5);
  EXPECT_EQ(exits(machine, "io", Column::UserSpace), 15);
  ASSERT_EQ(machine.vms.size(), 1);
  EXPECT_EQ(machine.vms[0].name, "web");
  EXPECT_EQ(machine.vms[0].vcpus, 1);
}

TEST_F(VmRowsTest, AGuestThatRunsOnIsCutAtTheEdge) {
  add(0);
  enter(100);
  EXPECT_EQ(tell(200).vcpus[0].values[Column::Guest], 100);
  EXPECT_EQ(tell(300).vcpus[0].values[Column::Guest], 100);
  exit(340, kNestedFault);
  const period::Machine machine = tell(400);
  EXPECT_EQ(machine.vcpus[0].values[Column::Guest], 40);
  EXPECT_EQ(machine.vcpus[0].values[Column::Hypervisor], 60);
  EXPECT_EQ(machine.vcpus[0].state, Column::Hypervisor);
  EXPECT_EQ(exits(machine, "npf", Column::Hypervisor), 60);
}

TEST_F(VmRowsTest, InterruptsAreNoneOfTheGuestsTime) {
  add(0);
  enter(100);
  thread_->irq_ns[0] += 10;
  exit(200, kIo);
  const period::Machine machine = tell(200);
  EXPECT_EQ(machine.vcpus[0].values[Column::Guest], 90);
  EXPECT_EQ(machine.vcpus[0].values[Column::Hypervisor], 10);
}

TEST_F(VmRowsTest, WhoSleepsAfterAHaltIsHaltedUntilItIsWokenAndPreemptedFromThereOn) {
  add(0);
  enter(0);
  exit(100, kHlt);
  change(*thread_, kWaitsForOther, 110);
  period::Machine machine = tell(200);
  EXPECT_EQ(machine.vcpus[0].values[Column::Halted], 90);
  EXPECT_EQ(machine.vcpus[0].state, Column::Halted);
  thread_->woken_at = 250;
  machine = tell(300);
  EXPECT_EQ(machine.vcpus[0].values[Column::Halted], 50);
  EXPECT_EQ(machine.vcpus[0].values[Column::Preempted], 50);
  EXPECT_EQ(machine.vcpus[0].state, Column::Preempted);
  EXPECT_EQ(machine.vcpus[0].preempter, "");
}

TEST_F(VmRowsTest, WhoSleepsAfterAnotherExitIsBlocked) {
  add(0);
  enter(0);
  exit(100, kIo);
  change(*thread_, kWaitsForOther, 110);
  const period::Machine machine = tell(200);
  EXPECT_EQ(machine.vcpus[0].values[Column::Blocked], 90);
  EXPECT_EQ(machine.vcpus[0].values[Column::Halted], 0);
}

TEST_F(VmRowsTest, ThePreempterIsWhoHadItsCpuLongest) {
  add(0);
  enter(0);
  exit(100, kIo);
  lose_cpu(100, 71, "short");
  change(*thread_, kRuns, 110);
  lose_cpu(120, 72, "long");
  period::Machine machine = tell(200);
  EXPECT_EQ(machine.vcpus[0].values[Column::Preempted], 10 + 80);
  EXPECT_EQ(machine.vcpus[0].preempter, "long");
  change(*thread_, kRuns, 210);
  lose_cpu(220, 71, "short");
  EXPECT_EQ(tell(300).vcpus[0].preempter, "short");
}

TEST_F(VmRowsTest, WithCallsTheModeOfTheThreadTellsWhoHandlesAnExit) {
  thread_->doing = kRunsInCall;
  add(0);
  enter(0);
  exit(100, kIo);
  change(*thread_, kRunsInUser, 130);
  change(*thread_, kRunsInCall, 170);
  enter(180);
  const period::Machine machine = tell(180);
  EXPECT_EQ(machine.vcpus[0].values[Column::Hypervisor], 30 + 10);
  EXPECT_EQ(machine.vcpus[0].values[Column::UserSpace], 40);
}

TEST_F(VmRowsTest, GuestsCodeIsMovedFromWhatItWasTakenForInTheRowsOfItsThreadAndItsCpu) {
  add(0);
  enter(100);
  exit(160, kIo);
  period::Machine machine;
  for (uint32_t cpu = 0; cpu < 2; ++cpu) {
    machine.cpus.push_back({.number = cpu});
    machine.cpus.back().values.set(Column::User, 50);
    machine.cpus.back().values.set(Column::Syscall, 150);
  }
  machine.tasks.push_back({.pid = 40, .tid = kThread, .state = Column::Running});
  machine.tasks.back().values.set(Column::Running, 200);
  machine.tasks.push_back({.pid = 40, .tid = 40});
  machine.tasks.push_back({.pid = 50, .tid = 50});
  enter(190);
  machine = tell(200, machine);
  EXPECT_EQ(machine.cpus[0].values[Column::Virt], 0);
  EXPECT_EQ(machine.cpus[1].values[Column::Virt], 70);
  EXPECT_EQ(machine.cpus[1].values[Column::User], 0);
  EXPECT_EQ(machine.cpus[1].values[Column::Syscall], 130);
  EXPECT_EQ(machine.values[Column::Virt], 70);
  EXPECT_EQ(machine.tasks[0].values[Column::Virt], 70);
  EXPECT_EQ(machine.tasks[0].values[Column::Running], 130);
  EXPECT_EQ(machine.tasks[0].state, Column::Virt);
  EXPECT_EQ(machine.tasks[0].vcpu, 3);
  EXPECT_EQ(machine.tasks[1].vm, "web");
  EXPECT_EQ(machine.tasks[1].vcpu, std::nullopt);
  EXPECT_EQ(machine.tasks[2].vm, "");
}

TEST_F(VmRowsTest, GuestsTimeIsUnknownWhereKvmOnlyTellsOfReturnsToTheProgram) {
  add(0);
  return_to_program(50);
  period::Machine machine = tell(100);
  EXPECT_EQ(machine.vcpus[0].values[Column::UserSpace], 50);
  EXPECT_EQ(machine.marks.of(period::RowKind::Cpu, Column::Virt), period::Certainty::Unknown);
  EXPECT_EQ(machine.marks.of(period::RowKind::Vcpu, Column::Guest), period::Certainty::Unknown);
  enter(110);
  exit(120, kIo);
  machine = tell(200);
  EXPECT_EQ(machine.marks.of(period::RowKind::Cpu, Column::Virt), period::Certainty::Exact);
  EXPECT_EQ(machine.marks.of(period::RowKind::Vcpu, Column::Guest), period::Certainty::Exact);
}

TEST_F(VmRowsTest, OneThatRanBeforeTheFirstPeriodBeginsWithIt) {
  add(0);
  enter(0);
  exit(100, kIo);
  rows_.copy();
  rows_.begin(100);
  begin_ = 100;
  enter(150);
  const period::Machine machine = tell(200);
  EXPECT_EQ(machine.vcpus[0].values[Column::Unknown], 0);
  EXPECT_EQ(machine.vcpus[0].values[Column::Hypervisor], 50);
  EXPECT_EQ(machine.vcpus[0].values[Column::Guest], 50);
  EXPECT_EQ(machine.vcpus[0].values[Column::Exits], 0);
}

TEST_F(VmRowsTest, AThreadThatEndsIsToldForTheLastTimeAndItsPlaceIsFree) {
  add(0);
  enter(0);
  exit(60, kIo);
  thread_->has_ended = 1;
  change(*thread_, kIsZombie, 60);
  const period::Machine last = tell(100);
  ASSERT_EQ(last.vcpus.size(), 1);
  EXPECT_EQ(last.vcpus[0].values[Column::Guest], 60);
  EXPECT_EQ(last.vcpus[0].values[Column::Blocked], 0) << "it is no more";
  EXPECT_THAT(tell(200).vcpus, IsEmpty());
  TaskSlot* other = made_up_.take(42, "CPU 0/TCG");
  other->pid = 42;
  other->doing = kWaitsForOther;
  rows_.add(42, 7, 210);
  const period::Machine machine = tell(300);
  ASSERT_EQ(machine.vcpus.size(), 1);
  EXPECT_EQ(vcpus_[0].tid, 42);
  EXPECT_EQ(machine.vcpus[0].number, 7);
  EXPECT_EQ(machine.vcpus[0].values[Column::Blocked], 90);
  EXPECT_EQ(machine.vcpus[0].values[Column::Guest], 0);
}

TEST_F(VmRowsTest, OneThatThereIsNoRoomForIsCounted) {
  for (int32_t tid = 60; tid < 63; ++tid) {
    made_up_.take(tid, "CPU 0/TCG");
    rows_.add(tid, std::nullopt, 10);
    rows_.add(tid, std::nullopt, 10);  // again, which changes nothing
  }
  const period::Machine machine = tell(100);
  EXPECT_EQ(machine.vcpus.size(), 2);
  EXPECT_GE(machine.values[Column::NoRoom], 1);
}

TEST_F(VmRowsTest, AThreadThatIsNotThereIsNotAdded) {
  rows_.add(999, 0, 10);
  EXPECT_THAT(tell(100).vcpus, IsEmpty());
}

}  // namespace
}  // namespace strata::live
