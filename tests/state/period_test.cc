// SPDX-License-Identifier: Apache-2.0
//
// What an engine is told, cut at edges that lie in the middle of it.
#include <gtest/gtest.h>

#include <random>

#include "state/period_cutter.h"
#include "state/period_sums.h"
#include "state/periods.h"
#include "state/told_events.h"

namespace strata::state {
namespace {

using period::Column;
using period::TaskRow;

// Periods of what is told, and their sum.
class Cut {
 public:
  explicit Cut(int64_t begin = 0) : told(begin), cutter(told.engine, begin) {
    told.before = [this](const trace::Event& event) { cutter.count(event); };
    sum.begin = sum.end = begin;
  }
  const period::Machine& at(int64_t time) {
    period::Table table{.begin = sum.end, .end = time};
    table.machines.push_back(cutter.cut(time, "m"));
    machine = table.machines[0];
    EXPECT_TRUE(sum.append(table));
    return machine;
  }
  // The end; everything together is the whole.
  const period::Machine& end(int64_t time) {
    told.engine.settle_all(time);
    at(time);
    EXPECT_EQ(PeriodSums(sum.machines[0], told.engine).difference(), "");
    return machine;
  }
  const TaskRow* task(int32_t tid) const {
    const auto found = std::ranges::find(machine.tasks, tid, &TaskRow::tid);
    return found == machine.tasks.end() ? nullptr : &*found;
  }
  uint64_t of(int32_t tid, Column column) const {
    const TaskRow* row = task(tid);
    return row == nullptr ? 0 : row->values[column];
  }

  Told told;
  PeriodCutter cutter;
  period::Table sum;
  period::Machine machine;
};

TEST(Periods, AWaitIsCutAtEveryEdge) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).calls("nanosleep");
  cut.told.at(30, 0, 7).switches(7, 1, 0);
  cut.at(100);
  EXPECT_EQ(cut.of(7, Column::WaitTimer), 70u);
  EXPECT_EQ(cut.of(7, Column::Syscall), 20u);
  EXPECT_EQ(cut.task(7)->state, Column::WaitTimer);
  EXPECT_EQ(cut.of(7, Column::Sleeps), 1u);
  cut.at(200);
  EXPECT_EQ(cut.task(7), nullptr) << "it slept all the time";
  cut.told.at(250, 0, 0).wakes(7);
  cut.told.at(260, 0, 0).switches(0, 0, 7);
  cut.told.at(270, 0, 7).returns("nanosleep");
  cut.at(300);
  EXPECT_EQ(cut.task(7)->state_before, Column::WaitTimer);
  EXPECT_EQ(cut.of(7, Column::WaitTimer), 50u);
  EXPECT_EQ(cut.of(7, Column::WaitCpu), 10u);
  EXPECT_EQ(cut.of(7, Column::Syscall), 10u);
  EXPECT_EQ(cut.of(7, Column::User), 30u);
  EXPECT_EQ(cut.of(7, Column::Wakeups), 1u);
  EXPECT_EQ(cut.of(7, Column::Syscalls), 1u);
  cut.end(400);
  EXPECT_EQ(cut.of(7, Column::User), 100u) << "who runs has a row, though nothing happened";
}

TEST(Periods, ACallAndAnInterruptAreCut) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(50, 0, 7).calls("read");
  cut.told.at(80, 0, 7).event("irq", "irq_handler_entry", {{"irq", 5}, {"name", 0, "disk"}});
  cut.at(100);
  EXPECT_EQ(cut.of(7, Column::Running), 50u) << "in which mode is not told yet";
  EXPECT_EQ(cut.of(7, Column::Syscall), 30u);
  EXPECT_EQ(cut.of(7, Column::Irq), 20u);
  EXPECT_EQ(cut.machine.cpus.at(0).values[Column::Irq], 20u);
  EXPECT_EQ(cut.machine.values[Column::Irq], 20u);
  EXPECT_TRUE(cut.machine.latencies.empty()) << "nothing has ended";
  cut.told.at(130, 0, 7).event("irq", "irq_handler_exit", {{"irq", 5}});
  cut.told.at(140, 0, 7).returns("read");
  cut.end(200);
  EXPECT_EQ(cut.of(7, Column::Irq), 30u);
  EXPECT_EQ(cut.of(7, Column::Syscall), 10u);
  EXPECT_EQ(cut.of(7, Column::User), 60u);
  ASSERT_EQ(cut.machine.latencies.size(), 2u);
  EXPECT_EQ(cut.machine.latencies[0].name, "read");
  EXPECT_EQ(cut.machine.latencies[0].histogram.sum_ns, 90u) << "the whole of it";
  EXPECT_EQ(cut.machine.latencies[0].histogram.buckets[7], 1u) << "64 to 127";
  EXPECT_EQ(cut.machine.latencies[1].name, "5 disk");
  EXPECT_EQ(cut.machine.latencies[1].histogram.buckets[6], 1u) << "32 to 63";
}

TEST(Periods, AProcessThatLivesWithinOneIsThereWithItsExitCode) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).returns("read");
  cut.at(100);
  cut.told.at(105, 0, 7).calls("clone");
  cut.told.at(110, 0, 7).event("task", "task_newtask",
                               {{"pid", 8}, {"comm", 0, "child"}, {"clone_flags", 0}});
  cut.told.at(120, 0, 7).switches(7, 1, 8, "child");
  cut.told.at(150, 0, 8).event("syscalls", "sys_enter_exit_group",
                               {{"__syscall_nr", 0}, {"error_code", 259}});
  cut.told.at(160, 0, 8).event("sched", "sched_process_exit", {{"pid", 8}, {"comm", 0, "child"}});
  cut.told.at(170, 0, 8).switches(8, 32, 0);
  cut.told.at(180, 0, 0).event("sched", "sched_process_free", {{"pid", 8}, {"comm", 0, "child"}});
  cut.at(200);
  const TaskRow* row = cut.task(8);
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->was_born);
  EXPECT_TRUE(row->has_ended);
  EXPECT_EQ(row->exit_code, 3u) << "the lowest 8 bits";
  EXPECT_EQ(row->state, std::nullopt);
  EXPECT_EQ(row->state_before, std::nullopt);
  EXPECT_EQ(row->name, "child");
  EXPECT_EQ(row->pid, 8);
  EXPECT_EQ(row->start, 110);
  EXPECT_EQ(row->values[Column::New], 10u);
  EXPECT_EQ(row->values[Column::Syscall], 40u) << "it comes out of clone, and goes into exit";
  EXPECT_EQ(row->values[Column::Exiting], 10u);
  EXPECT_EQ(row->values[Column::Zombie], 10u);
  EXPECT_EQ(cut.machine.values[Column::Born], 1u);
  EXPECT_EQ(cut.machine.values[Column::Ended], 1u);
  cut.end(300);
  EXPECT_EQ(cut.task(8), nullptr);
}

TEST(Periods, WhatEndsAThreadGroupEndsItsThreads) {
  Cut cut;
  cut.told.at(0, 0, 1).state_of_task(7, 7);
  cut.told.at(0, 0, 1).state_of_task(8, 7);
  cut.told.at(5, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).event("syscalls", "sys_enter_exit_group",
                              {{"__syscall_nr", 0}, {"error_code", 4}});
  cut.told.at(20, 0, 7).event("sched", "sched_process_exit", {{"pid", 7}, {"comm", 0, "t"}});
  cut.told.at(30, 0, 7).switches(7, 32, 8);
  cut.told.at(40, 0, 8).event("sched", "sched_process_exit", {{"pid", 8}, {"comm", 0, "t"}});
  cut.told.at(50, 0, 8).switches(8, 16, 0);
  cut.end(100);
  EXPECT_EQ(cut.task(7)->exit_code, 4u);
  EXPECT_EQ(cut.task(8)->exit_code, 4u);
}

TEST(Periods, WhatAWaitWasForIsPutRightWhenItEnds) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).calls("read");
  cut.told.at(20, 0, 7).switches(7, 1, 8);
  cut.at(100);
  EXPECT_EQ(cut.of(7, Column::WaitOther), 80u);
  EXPECT_EQ(cut.machine.marks.of(period::RowKind::Task, Column::WaitOther),
            period::Certainty::Estimated);
  cut.told.at(110, 0, 8).calls("write");
  cut.told.at(150, 0, 8).wakes(7);
  cut.at(200);
  const TaskRow* row = cut.task(7);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->state_before, Column::WaitOther) << "as it was told";
  EXPECT_EQ(row->values[Column::WaitPipe], 50u);
  EXPECT_EQ(row->values[Column::WaitOther], 0u);
  EXPECT_EQ(row->corrections,
            (period::Corrections{{20, 100, Column::WaitOther, Column::WaitPipe}}));
  cut.end(300);
  const auto& tasks = cut.sum.machines[0].tasks;
  EXPECT_EQ(std::ranges::find(tasks, 7, &TaskRow::tid)->values[Column::WaitPipe], 130u);
}

TEST(Periods, LostEventsPutRightWhatWasTold) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).returns("read");
  cut.told.at(20, 1, 2).switches(2, 1, 9);
  cut.at(100);
  EXPECT_EQ(cut.of(7, Column::User), 90u);
  cut.told.at(150, 0, 7).lost(5).calls("write");
  cut.at(200);
  const TaskRow* row = cut.task(7);
  EXPECT_EQ(row->corrections, (period::Corrections{{10, 100, Column::User, Column::Unknown}}));
  EXPECT_EQ(row->values[Column::Unknown], 50u);
  EXPECT_EQ(row->values[Column::Syscall], 50u);
  EXPECT_EQ(cut.machine.cpus[0].corrections.size(), 2u) << "and that not even the task is known";
  EXPECT_EQ(cut.machine.cpus[0].values[Column::LostEvents], 5u);
  EXPECT_EQ(cut.machine.values[Column::Losses], 1u);
  EXPECT_EQ(cut.machine.marks.of(period::RowKind::Task, Column::Syscalls),
            period::Certainty::Estimated);
  cut.end(300);
}

TEST(Periods, ASwitchThatWasNotRecordedPutsRight) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).returns("read");
  cut.at(100);
  cut.told.at(150, 0, 8).calls("write");
  cut.at(200);
  EXPECT_EQ(cut.task(7)->corrections,
            (period::Corrections{{10, 100, Column::User, Column::Unknown}}));
  EXPECT_EQ(cut.machine.values[Column::MissedSwitches], 1u);
  cut.end(300);
}

TEST(Periods, AVirtualCpuIsCut) {
  Cut cut;
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  cut.told.at(10, 0, 7).calls("ioctl");
  cut.told.at(20, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  cut.at(100);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Guest], 80u);
  EXPECT_EQ(cut.of(7, Column::Virt), 80u);
  EXPECT_EQ(cut.task(7)->vcpu, 0u);
  cut.told.at(130, 0, 7).event("kvm", "kvm_exit",
                               {{"exit_reason", 12}, {"isa", 1}, {"vcpu_id", 0}});
  cut.at(200);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Guest], 30u);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Hypervisor], 70u);
  EXPECT_EQ(cut.machine.vms.at(0).values[Column::Exits], 1u);
  EXPECT_EQ(cut.machine.exits.at(0).reason, "HLT");
  EXPECT_EQ(cut.machine.exits.at(0).values[Column::Hypervisor], 70u);
  cut.told.at(210, 0, 7).switches(7, 1, 0);
  cut.end(300);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Halted], 90u);
  EXPECT_EQ(cut.machine.vcpus.at(0).state, Column::Halted);
}

TEST(Periods, ThePreempterOfAVirtualCpuIsToWhomItLostItsCpuForTheLongestTime) {
  Cut cut;
  cut.told.at(0, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  cut.told.at(10, 0, 7).event("kvm", "kvm_exit", {{"exit_reason", 1}, {"isa", 1}, {"vcpu_id", 0}});
  cut.told.at(20, 0, 7).switches(7, 0, 8, "short");
  cut.told.at(30, 0, 8).switches(8, 1, 7, "vcpu");
  cut.told.at(40, 0, 7).switches(7, 0, 9, "long");
  cut.at(60);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Preempted], 30u);
  EXPECT_EQ(cut.machine.vcpus.at(0).preempter, "long");
  cut.told.at(65, 0, 9).switches(9, 1, 7, "vcpu");
  cut.told.at(70, 0, 7).switches(7, 0, 8, "short");
  cut.told.at(90, 0, 8).switches(8, 1, 7, "vcpu");
  cut.at(100);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Preempted], 25u);
  EXPECT_EQ(cut.machine.vcpus.at(0).preempter, "short");
  cut.told.at(110, 0, 7).switches(7, 1, 9, "long");
  cut.told.at(120, 0, 9).wakes(7);
  cut.at(200);
  EXPECT_EQ(cut.machine.vcpus.at(0).values[Column::Preempted], 80u);
  EXPECT_EQ(cut.machine.vcpus.at(0).preempter, "") << "it had no CPU to lose";
  cut.end(300);
}

TEST(Periods, ABlockDevicesRequestIsCut) {
  Cut cut;
  const auto block = [&](int64_t time, const std::string& name) {
    cut.told.at(time, 0, 7)
        .event("block", name, {{"dev", 8}, {"sector", 100}, {"nr_sector", 8}, {"rwbs", 0, "R"}});
  };
  cut.told.at(0, 0, 1).switches(1, 1, 7);
  block(50, "block_bio_queue");
  block(60, "block_rq_issue");
  cut.at(100);
  EXPECT_EQ(cut.machine.devices.at(0).values[Column::Busy], 40u);
  EXPECT_EQ(cut.machine.devices.at(0).values[Column::InFlight], 1u);
  block(170, "block_rq_complete");
  cut.end(200);
  EXPECT_EQ(cut.machine.devices.at(0).values[Column::Busy], 70u);
  EXPECT_EQ(cut.machine.devices.at(0).values[Column::Requests], 1u);
  EXPECT_EQ(cut.machine.devices.at(0).values[Column::ReadBytes], 4096u);
  EXPECT_EQ(cut.of(7, Column::DiskReadBytes), 4096u);
  const auto service = std::ranges::find(cut.machine.latencies, period::Latency::BlockService,
                                         &period::LatencyRow::what);
  ASSERT_NE(service, cut.machine.latencies.end());
  EXPECT_EQ(service->histogram.sum_ns, 110u);
}

TEST(Periods, HistogramsAreOfWhatEnded) {
  Cut cut;
  std::mt19937_64 random(3);
  std::array<uint64_t, period::Histogram::kBuckets> waits = {};
  int64_t now = 0;
  cut.told.at(now, 0, 1).switches(1, 1, 7);
  constexpr int kRounds = 500;
  for (int i = 0; i < kRounds; ++i) {
    cut.told.at(now += 10, 0, 7).switches(7, 1, 0);
    cut.told.at(now += 10, 0, 0).wakes(7);
    const auto wait = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 20)));
    size_t bucket = 0;
    while (int64_t{1} << bucket <= wait) ++bucket;
    ++waits[bucket];
    cut.told.at(now += wait, 0, 0).switches(0, 0, 7);
    if (i % 50 == 0) cut.at(now);
  }
  cut.end(now + 10);
  const auto queue = std::ranges::find(cut.sum.machines[0].latencies, period::Latency::RunQueue,
                                       &period::LatencyRow::what);
  ASSERT_NE(queue, cut.sum.machines[0].latencies.end());
  EXPECT_EQ(queue->histogram.buckets, waits);
  EXPECT_EQ(queue->histogram.count, static_cast<uint64_t>(kRounds));
}

TEST(Periods, TasksThatDoNothingCostNothing) {
  Cut cut;
  constexpr int32_t kTasks = 20'000;
  for (int32_t tid = 10; tid < 10 + kTasks; ++tid) {
    cut.told.at(tid, 0, tid - 1).switches(tid - 1, 1, tid);
  }
  EXPECT_GE(cut.at(50'000).tasks.size(), static_cast<size_t>(kTasks));
  for (int64_t i = 1; i < 100; ++i) {
    cut.told.at(50'000 + i * 100, 0, kTasks + 9).calls("read");
    cut.told.at(50'000 + i * 100 + 5, 0, kTasks + 9).returns("read");
    EXPECT_EQ(cut.at(50'000 + i * 100 + 50).tasks.size(), 1u);
  }
}

TEST(Periods, StatisticsThatBeginLaterAreCutFromThereOn) {
  Told told;
  told.at(0, 0, 1).switches(1, 1, 7);
  told.at(10, 0, 7).calls("nanosleep");
  told.at(20, 0, 7).switches(7, 1, 8);
  told.engine.reset_statistics(100);
  PeriodCutter cutter(told.engine, 100);
  told.at(150, 0, 8).switches(8, 0, 9);
  period::Table sum{.begin = 100, .end = 200, .machines = {cutter.cut(200, "m")}};
  EXPECT_EQ(sum.machines[0].tasks.size(), 3u + 1) << "those that only sleep are there, too";
  told.at(250, 0, 9).wakes(7);
  told.engine.settle_all(300);
  EXPECT_TRUE(sum.append({.begin = 200, .end = 300, .machines = {cutter.cut(300, "m")}}));
  EXPECT_EQ(PeriodSums(sum.machines[0], told.engine).difference(), "");
}

// Edges that fall anywhere, among events that went missing.
TEST(Periods, AddUpToTheWholeWhateverComes) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Cut cut;
    int64_t now = 0;
    int64_t edge = 0;
    std::array<int32_t, 2> runs = {1, 2};
    for (int i = 0; i < 400; ++i) {
      now += static_cast<int64_t>(random() % 30);
      if (now >= edge + 50) cut.at(edge = now);
      const auto cpu = static_cast<uint32_t>(random() % 2);
      const auto other = static_cast<int32_t>(3 + random() % 8);
      cut.told.at(now, cpu, runs[cpu]);
      if (random() % 25 == 0) cut.told.lost();
      switch (random() % 8) {
        case 0:
        case 1:
          if (other == runs[1 - cpu]) break;
          if (random() % 10 == 0) {  // and nobody tells
            runs[cpu] = other;
            break;
          }
          cut.told.switches(runs[cpu], static_cast<int64_t>(random() % 2), other);
          runs[cpu] = other;
          break;
        case 2:
          cut.told.calls(random() % 2 == 0 ? "read" : "nanosleep");
          break;
        case 3:
          cut.told.returns("read");
          break;
        case 4:
          cut.told.wakes(other);
          break;
        case 5:
          cut.told.event("irq", "softirq_entry", {{"vec", 3}});
          break;
        case 6:
          cut.told.event("irq", "softirq_exit", {{"vec", 3}});
          break;
        default:
          cut.told.event("exceptions", "page_fault_user", {{"address", 1}});
      }
    }
    cut.end(now + 10);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace strata::state
