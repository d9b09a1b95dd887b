// SPDX-License-Identifier: Apache-2.0
#include "state/engine.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "state/told_events.h"

namespace strata::state {
namespace {

using enum TaskState;

template <size_t N>
uint64_t sum_of(const std::array<uint64_t, N>& ns) {
  return std::accumulate(ns.begin(), ns.end(), uint64_t{0});
}

// A thread of QEMU as a thesis on tracing virtual machines shows it: from when it gets the CPU to
// when it loses it.
TEST(Engine, ChargesAGuestsTimeToVirtAndTheRestToTheCallAroundIt) {
  constexpr int64_t kSecond = 914'540'000'000;
  Told told(kSecond + 34'676);
  told.at(kSecond + 34'676, 0, 1).switches(1, 1, 7, "qemu");
  told.at(kSecond + 34'676, 0, 7).returns("futex");
  told.at(kSecond + 34'988, 0, 7).calls("ioctl");
  told.at(kSecond + 36'082, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(kSecond + 37'373, 0, 7)
      .event("kvm", "kvm_exit", {{"exit_reason", 12}, {"isa", 1}, {"vcpu_id", 0}});
  told.at(kSecond + 38'688, 0, 7).returns("ioctl");
  told.at(kSecond + 39'810, 0, 7).switches(7, 1, 0);
  told.engine.settle_all(kSecond + 39'810);

  EXPECT_EQ(told.task(7).cpu_ns, 5'134u);
  EXPECT_EQ(told.sum(7, Mode::Virt, "HLT").cpu_ns, 1'291u);
  EXPECT_EQ(told.sum(7, Mode::Syscall, "ioctl").cpu_ns, 1'094u + 1'315u);
  EXPECT_EQ(told.sum(7, Mode::Syscall, "ioctl").cumulative_ns, 3'700u);
  EXPECT_EQ(told.sum(7, Mode::Syscall, "ioctl").elapsed_ns, 3'700u);
  EXPECT_EQ(told.sum(7, Mode::User).cpu_ns, 312u + 1'122u);
  const Vcpu& vcpu = told.engine.vms().vcpus().at(0);
  EXPECT_EQ(vcpu.ns[static_cast<size_t>(VcpuState::Guest)], 1'291u);
  EXPECT_EQ(vcpu.ns[static_cast<size_t>(VcpuState::Hypervisor)], 1'094u - 1'094u + 1'315u);
  EXPECT_EQ(vcpu.exits.begin()->second.count, 1u);
  EXPECT_EQ(vcpu.exits.begin()->second.kernel_ns, 1'315u);
}

TEST(Engine, KnowsNothingBeforeTheFirstEventThatTells) {
  Told told(0);
  told.at(100, 0, 5).event("irq", "softirq_raise", {{"vec", 1}});
  told.at(150, 0, 5).calls("read");
  told.at(180, 0, 5).returns("read");
  told.engine.settle_all(200);
  EXPECT_EQ(told.cpu_ns(0, Mode::Unknown), 150u) << "whose it was, and then what it did";
  EXPECT_EQ(told.task_ns(5, Unknown), 100u);
  EXPECT_EQ(told.task_ns(5, RunUnknown), 50u);
  EXPECT_EQ(told.task_ns(5, Syscall), 30u);
  EXPECT_EQ(told.task_ns(5, User), 20u);
}

TEST(Engine, ChargesInterruptsToThemselvesAndNotToWhomTheyHit) {
  Told told(0);
  told.at(0, 0, 5).returns("read");
  told.at(10, 0, 5).event("irq", "irq_handler_entry", {{"irq", 24}, {"name", 0, "disk"}});
  told.at(14, 0, 5).event("irq", "softirq_entry", {{"vec", 4}});
  told.at(19, 0, 5).event("irq", "softirq_exit", {{"vec", 4}});
  told.at(20, 0, 5).event("irq", "irq_handler_exit", {{"irq", 24}});
  told.engine.settle_all(50);
  EXPECT_EQ(told.cpu_ns(0, Mode::User), 10u + 30u);
  EXPECT_EQ(told.cpu_ns(0, Mode::Irq), 4u + 1u);
  EXPECT_EQ(told.cpu_ns(0, Mode::Softirq), 5u);
  EXPECT_EQ(told.task(5).cpu_ns, 40u);
  EXPECT_EQ(told.sum(-1, Mode::Irq, "24 disk").cpu_ns, 5u);
  EXPECT_EQ(told.sum(-1, Mode::Irq, "24 disk").elapsed_ns, 10u);
  EXPECT_EQ(told.task_ns(5, Irq), 5u);
}

TEST(Engine, TellsWaitingForACpuFromWaitingForSomethingElse) {
  Told told(0);
  told.at(0, 0, 5).returns("read");
  told.at(10, 0, 5).calls("nanosleep");
  told.at(20, 0, 5).switches(5, 1, 6);
  told.at(50, 0, 6).event("irq_vectors", "local_timer_entry", {{"vector", 236}});
  told.at(51, 0, 6).wakes(5);
  told.at(52, 0, 6).event("irq_vectors", "local_timer_exit", {{"vector", 236}});
  told.at(60, 0, 6).switches(6, 0, 5);
  told.at(61, 0, 5).returns("nanosleep");
  told.engine.settle_all(70);
  EXPECT_EQ(told.task_ns(5, WaitTimer), 31u);
  EXPECT_EQ(told.task_ns(5, WaitCpu), 9u);
  EXPECT_EQ(told.task_ns(5, Syscall), 10u + 1u);
  EXPECT_EQ(told.task(6).state, WaitCpu);
  const Cause cause = Cause::unpacked(told.task(6).info);
  EXPECT_EQ(told.engine.tasks()[cause.task].tid, Tid{5}) << "who preempted it";
  EXPECT_EQ(cause.context, WakeContext::Preempted);
  EXPECT_EQ(told.sum(5, Mode::Syscall, "nanosleep").elapsed_ns, 51u);
  EXPECT_EQ(told.sum(5, Mode::Syscall, "nanosleep").cpu_ns, 11u);
}

TEST(Engine, SeesWhatAReadWaitedForByWhoWokeIt) {
  Told told(0);
  told.at(0, 0, 5).calls("read").switches(5, 1, 6);
  told.at(10, 0, 6).calls("write").wakes(5).returns("write");
  told.at(20, 0, 6).switches(6, 0, 5);
  told.at(30, 0, 5).returns("read").calls("read").switches(5, 1, 0);
  told.at(40, 0, 0).event("irq", "softirq_entry", {{"vec", 3}}).wakes(5);
  told.engine.settle_all(50);
  EXPECT_EQ(told.task_ns(5, WaitPipe), 10u);
  EXPECT_EQ(told.task_ns(5, WaitNetwork), 10u);
  EXPECT_EQ(Cause::unpacked(told.task(5).info).context, WakeContext::Softirq);
}

TEST(Engine, ASleepInOnesOwnCodeIsForAPage) {
  Told told(0);
  told.at(0, 0, 5).returns("mmap");
  told.at(5, 0, 5).event("exceptions", "page_fault_user", {{"address", 4096}});
  told.at(6, 0, 5).switches(5, 2, 0);
  told.engine.settle_all(20);
  EXPECT_EQ(told.task_ns(5, WaitFault), 14u);
  EXPECT_EQ(told.task(5).faults, 1u);
  EXPECT_EQ(told.task(5).major_faults, 1u);
}

TEST(Engine, AFaultIsMajorOnceHoweverOftenItSleepsAndMinorWhereItDoesNot) {
  Told told(0);
  told.at(0, 0, 5).returns("mmap");
  told.at(5, 0, 5).event("exceptions", "page_fault_user", {{"address", 4096}});
  told.at(6, 0, 5).switches(5, 2, 0);
  told.at(8, 0, 0).wakes(5).switches(0, 0, 5);
  told.at(9, 0, 5).switches(5, 2, 0);
  told.at(12, 0, 0).wakes(5).switches(0, 0, 5);
  told.at(13, 0, 5).event("exceptions", "page_fault_user", {{"address", 8192}});
  told.at(14, 0, 5).calls("read");
  told.engine.settle_all(20);
  EXPECT_EQ(told.task(5).faults, 2u);
  EXPECT_EQ(told.task(5).major_faults, 1u);
}

TEST(Engine, FollowsATaskFromBirthToDeath) {
  Told told(0);
  told.at(0, 0, 5).calls("clone");
  told.at(10, 0, 5).event("task", "task_newtask",
                          {{"pid", 9}, {"comm", 0, "t"}, {"clone_flags", 0x10000}});
  told.at(12, 0, 5).event("sched", "sched_wakeup_new", {{"pid", 9}, {"comm", 0, "t"}});
  told.at(15, 0, 5).switches(5, 1, 9);
  told.at(16, 0, 9).returns("clone");
  told.at(30, 0, 9).calls("exit");
  told.at(31, 0, 9).event("sched", "sched_process_exit", {{"pid", 9}, {"comm", 0, "t"}});
  told.at(35, 0, 9).switches(9, 32, 0);
  told.at(40, 0, 0).event("sched", "sched_process_free", {{"pid", 9}, {"comm", 0, "t"}});
  told.engine.settle_all(50);
  EXPECT_EQ(told.task_ns(9, New), 2u);
  EXPECT_EQ(told.task_ns(9, WaitCpu), 3u);
  EXPECT_EQ(told.task_ns(9, User), 14u);
  EXPECT_EQ(told.task_ns(9, Exiting), 4u);
  EXPECT_EQ(told.task_ns(9, Zombie), 5u);
  EXPECT_EQ(told.task_ns(9, Dead), 10u);
  EXPECT_EQ(sum_of(told.task(9).ns), 40u) << "from its birth on";
  EXPECT_EQ(told.task(9).parent, Tid{5});
}

TEST(Engine, AThreadsIdThatComesAgainIsAnotherTask) {
  Told told(0);
  told.at(0, 0, 9).switches(9, 16, 5);
  told.at(10, 0, 5).event("sched", "sched_process_fork",
                          {{"child_pid", 9}, {"child_comm", 0, "t"}});
  told.at(20, 0, 5).switches(5, 0, 9);
  told.engine.settle_all(30);
  EXPECT_EQ(told.task(9).born, 10);
  EXPECT_EQ(told.task(9).cpu_ns, 10u);
}

TEST(Engine, AfterALossNothingIsKnownUntilToldAgain) {
  Told told(0);
  told.at(0, 0, 5).returns("read");
  told.at(0, 1, 6).returns("read");
  told.at(10, 0, 5).calls("read");
  told.at(30, 0, 7).lost().event("irq", "softirq_raise", {{"vec", 1}});
  told.at(35, 0, 7).returns("write");
  told.engine.settle_all(50);
  EXPECT_EQ(told.task_ns(5, User), 10u);
  EXPECT_EQ(told.task_ns(5, Unknown), 40u) << "from the last event before the loss on";
  EXPECT_EQ(told.cpu_ns(0, Mode::Unknown), 20u + 5u);
  EXPECT_EQ(told.task(7).cpu_ns, 20u);
  EXPECT_EQ(told.task_ns(6, User), 50u) << "another CPU ran it all the while";
}

TEST(Engine, ATaskThatWaitedDuringALossMayHaveRun) {
  Told told(0);
  told.at(0, 0, 5).calls("futex").switches(5, 1, 6);
  told.at(10, 0, 6).returns("read");
  told.at(30, 0, 6).lost().calls("read");
  told.at(40, 0, 6).switches(6, 1, 5);
  told.engine.settle_all(60);
  EXPECT_EQ(told.task_ns(5, WaitFutex), 10u);
  EXPECT_EQ(told.task_ns(5, Unknown), 30u);
  EXPECT_EQ(told.task_ns(5, RunUnknown), 20u) << "whether it is still in the call nobody told";
}

TEST(Engine, ASwitchThatWasNotRecordedLeavesTheTimeUnknown) {
  Told told(0);
  told.at(0, 0, 5).returns("read");
  told.at(10, 0, 5).calls("write").returns("write");
  told.at(40, 0, 6).returns("read");
  told.engine.settle_all(50);
  EXPECT_EQ(told.task(5).cpu_ns, 10u);
  EXPECT_EQ(told.task(6).cpu_ns, 10u);
  EXPECT_EQ(told.cpu_ns(0, Mode::Unknown), 30u);
}

TEST(Engine, OtherTasksKeepTheirStateWhenASwitchWasNotRecorded) {
  Told told(0);
  told.at(0, 0, 7).calls("futex").switches(7, 1, 5);
  told.at(5, 0, 5).calls("read");
  told.at(40, 0, 6).returns("read");
  told.at(50, 0, 6).switches(6, 1, 5);
  told.engine.settle_all(60);
  EXPECT_EQ(told.task_ns(7, WaitFutex), 60u);
  EXPECT_EQ(told.task_ns(5, Unknown), 45u);
  EXPECT_EQ(told.task_ns(5, Syscall), 10u) << "it has not returned, or that would have been told";
  EXPECT_EQ(told.engine.missed_switches(), 1u);
  EXPECT_EQ(told.engine.losses(), 0u);
}

TEST(Engine, AFaultInOnesOwnCodeTellsTheMode) {
  Told told(0);
  told.at(10, 0, 5).event("exceptions", "page_fault_user", {{"address", 4096}});
  told.engine.settle_all(30);
  EXPECT_EQ(told.task_ns(5, User), 20u);
}

TEST(Engine, ChargesEveryNanosecondOfEveryCpuOnce) {
  std::mt19937 random(7);
  Told told(0);
  std::array<int32_t, 3> running = {1, 2, 3};
  int32_t next = 4;
  int64_t time = 0;
  for (int i = 0; i < 20'000; ++i) {
    time += static_cast<int64_t>(random() % 50);
    const uint32_t cpu = random() % 3;
    told.at(time, cpu, running[cpu]);
    if (random() % 100 == 0) told.lost();
    switch (random() % 7) {
      case 0:
        told.calls("read");
        break;
      case 1:
        told.returns("read");
        break;
      case 2:
        told.event("irq", "softirq_entry", {{"vec", static_cast<int64_t>(random() % 10)}});
        break;
      case 3:
        told.event("irq", "softirq_exit", {{"vec", 1}});
        break;
      case 4:
        told.wakes(1 + static_cast<int32_t>(random() % 20));
        break;
      case 5:
        told.event("kvm", random() % 2 == 0 ? "kvm_entry" : "kvm_exit", {{"vcpu_id", 0}});
        break;
      default:
        told.switches(running[cpu], static_cast<int64_t>(random() % 3), next);
        running[cpu] = next;
        next = next == 40 ? 4 : next + 1;
    }
  }
  told.engine.settle_all(time);
  uint64_t all = 0;
  for (const Slot& slot : told.engine.statistics().slots()) all += slot.cpu_ns;
  EXPECT_EQ(all, 3 * static_cast<uint64_t>(time));
  for (const Cpu& cpu : told.engine.cpus()) EXPECT_EQ(sum_of(cpu.ns), static_cast<uint64_t>(time));
  for (const Task& task : told.engine.tasks()) {
    if (!task.is_idle_task()) {
      EXPECT_EQ(sum_of(task.ns), static_cast<uint64_t>(time - task.born)) << raw(task.tid);
    }
  }
}

TEST(Engine, StatisticsOfAPeriodAreCutAtItsEdges) {
  Told told(0);
  told.at(0, 0, 5).returns("read");
  told.at(10, 0, 5).calls("read");
  told.engine.reset_statistics(15);
  told.at(30, 0, 5).returns("read");
  told.engine.settle_all(40);
  EXPECT_EQ(told.sum(5, Mode::Syscall, "read").cpu_ns, 15u);
  EXPECT_EQ(told.sum(5, Mode::Syscall, "read").elapsed_ns, 15u);
  EXPECT_EQ(told.sum(5, Mode::User).cpu_ns, 10u);
  EXPECT_EQ(told.engine.begin(), 15);
}

}  // namespace
}  // namespace strata::state
