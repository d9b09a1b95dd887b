// SPDX-License-Identifier: Apache-2.0
//
// Virtual machines of this machine: what can happen here without a processor that has them. What
// needs one is tested by tests/vm/top_vm_test.py.
#include <gmock/gmock.h>
#include <linux/kvm.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <string>
#include <thread>

#include "live/machine_feed.h"
#include "support/tiny_guest.h"

namespace strata::live {
namespace {

using namespace std::chrono_literals;
using period::Column;
using period::Group;

// One that sends a byte to a port, again and again.
constexpr std::array<uint8_t, 4> kSender = {0xe6, 0x10, 0xeb, 0xfc};  // out %al, $0x10; jmp .-2

class VmWatch : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
  }

  void open(period::Groups groups) {
    Result<std::unique_ptr<period::Feed>> feed = machine_feed(groups);
    ASSERT_TRUE(feed) << feed.error().text();
    feed_ = std::move(*feed);
  }
  period::Machine next() {
    Result<std::optional<period::Table>> table = feed_->next();
    EXPECT_TRUE(table && *table);
    length_ = static_cast<uint64_t>((*table)->length());
    return std::move((*table)->machines[0]);
  }

  std::unique_ptr<period::Feed> feed_;
  uint64_t length_ = 0;  // of the last period
};

const period::VcpuRow* find(const period::Machine& machine, int32_t tid) {
  const auto row = std::ranges::find(machine.vcpus, tid, &period::VcpuRow::tid);
  return row == machine.vcpus.end() ? nullptr : &*row;
}

uint64_t sum_of(const period::VcpuRow& row) {
  uint64_t sum = 0;
  for (const Column column : period::VcpuRow::Values::kOrder)
    if (is_vcpu_state(column)) sum += row.values[column];
  return sum;
}

TEST_F(VmWatch, IsThereWhereNoMachineRuns) {
  open({Group::Vms});
  EXPECT_TRUE(feed_->told().has(Group::Vms));
  const period::Machine machine = next();
  EXPECT_EQ(machine.marks.of(period::RowKind::Cpu, Column::Virt), period::Certainty::Exact);
  EXPECT_EQ(find(machine, getpid()), nullptr);
  ASSERT_TRUE(feed_->want({}));
  EXPECT_FALSE(feed_->told().has(Group::Vms));
  EXPECT_EQ(next().marks.of(period::RowKind::Cpu, Column::Virt), period::Certainty::Unknown);
}

TEST_F(VmWatch, AThreadThatRunsAGuestIsAVirtualCpuFromItsFirstReturnOn) {
  const auto guest = test::TinyGuest::make(kSender);
  if (!guest) GTEST_SKIP() << "no KVM here";
  open({Group::Vms});
  next();
  constexpr int kSent = 200;
  for (int i = 0; i < kSent; ++i) ASSERT_EQ(guest->run(), KVM_EXIT_IO);
  const period::Machine machine = next();
  const period::VcpuRow* row = find(machine, getpid());
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->pid, getpid());
  EXPECT_EQ(row->number, 0);
  EXPECT_EQ(row->vm, "vm-" + std::to_string(getpid()));
  EXPECT_GE(row->values[Column::Pio], kSent - 1);
  EXPECT_LE(row->values[Column::Pio], kSent);
  EXPECT_EQ(sum_of(*row), length_);
  // Not every KVM tells when it enters a guest.
  EXPECT_TRUE(row->values[Column::Guest] > 0 ||
              machine.marks.of(period::RowKind::Vcpu, Column::Guest) == period::Certainty::Unknown);
  EXPECT_TRUE(std::ranges::any_of(
      machine.vms, [](const period::VmRow& vm) { return vm.pid == getpid() && vm.vcpus == 1; }));
  const auto task = std::ranges::find(machine.tasks, getpid(), &period::TaskRow::tid);
  ASSERT_NE(task, machine.tasks.end());
  EXPECT_EQ(task->vm, row->vm);
  EXPECT_EQ(task->vcpu, 0);

  // Now it is blocked.
  std::this_thread::sleep_for(50ms);
  const period::Machine later = next();
  row = find(later, getpid());
  ASSERT_NE(row, nullptr);
  EXPECT_GE(row->values[Column::Blocked], 50'000'000);
  EXPECT_EQ(sum_of(*row), length_);
}

TEST_F(VmWatch, WithCallsWhatTheProgramDoesIsToldFromWhatKvmDoes) {
  const auto guest = test::TinyGuest::make(kSender);
  if (!guest) GTEST_SKIP() << "no KVM here";
  ASSERT_EQ(guest->run(), KVM_EXIT_IO);
  open({Group::Vms, Group::Calls});
  ASSERT_EQ(guest->run(), KVM_EXIT_IO);
  next();
  const auto until = std::chrono::steady_clock::now() + 100ms;
  while (std::chrono::steady_clock::now() < until) {
  }
  const period::Machine busy = next();
  ASSERT_NE(find(busy, getpid()), nullptr);
  const uint64_t elsewhere = find(busy, getpid())->values[Column::Preempted];
  EXPECT_GE(find(busy, getpid())->values[Column::UserSpace] + elsewhere, 90'000'000);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(guest->run(), KVM_EXIT_IO);
  const period::Machine running = next();
  ASSERT_NE(find(running, getpid()), nullptr);
  EXPECT_GT(find(running, getpid())->values[Column::Hypervisor],
            find(running, getpid())->values[Column::UserSpace]);
}

// A thread with this name, until it is destroyed.
class NamedThread {
 public:
  explicit NamedThread(const char* name)
      : thread_([this, name] {
          prctl(PR_SET_NAME, name);
          tid_ = static_cast<int32_t>(syscall(SYS_gettid));
          named_.count_down();
          over_.wait();
        }) {
    named_.wait();
  }
  ~NamedThread() {
    over_.count_down();
    thread_.join();
  }
  int32_t tid() const { return tid_; }

 private:
  int32_t tid_ = 0;
  std::latch named_{1};
  std::latch over_{1};
  std::thread thread_;
};

TEST_F(VmWatch, AMachineThatIsEmulatedWithoutKvmHasTheTimesOfItsThreads) {
  open({Group::Vms});
  next();
  const NamedThread thread("CPU 5/TCG");
  next();
  // It may be long until it has a CPU on which to go to sleep.
  constexpr uint64_t kSlept = 20'000'000;
  uint64_t blocked = 0;
  for (int tries = 0; tries < 500 && blocked < kSlept; ++tries) {
    std::this_thread::sleep_for(20ms);
    const period::Machine machine = next();
    const period::VcpuRow* row = find(machine, thread.tid());
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->number, 5);
    EXPECT_EQ(row->pid, getpid());
    EXPECT_EQ(sum_of(*row), length_);
    blocked = row->values[Column::Blocked];
  }
  EXPECT_GE(blocked, kSlept);
}

TEST_F(VmWatch, AVirtualCpuWhoseThreadHasEndedHasNoRowAnyMore) {
  open({Group::Vms});
  next();
  int32_t tid = 0;
  {
    const NamedThread thread("CPU 5/TCG");
    tid = thread.tid();
    next();
    EXPECT_NE(find(next(), tid), nullptr);
  }
  // The kernel takes it away a moment after it was joined.
  bool has_row = true;
  for (int tries = 0; tries < 500 && has_row; ++tries) {
    std::this_thread::sleep_for(10ms);
    has_row = find(next(), tid) != nullptr;
  }
  EXPECT_FALSE(has_row);
}

TEST_F(VmWatch, VirtualCpusThatDoNotFitAreCounted) {
  const auto guest = test::TinyGuest::make(kSender);
  if (!guest) GTEST_SKIP() << "no KVM here";
  Result<std::unique_ptr<period::Feed>> feed = machine_feed({Group::Vms}, {.vcpus = 1});
  ASSERT_TRUE(feed) << feed.error().text();
  feed_ = std::move(*feed);
  const NamedThread first("CPU 0/TCG");
  next();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(guest->run(), KVM_EXIT_IO);
  const period::Machine machine = next();
  EXPECT_EQ(machine.vcpus.size(), 1);
  EXPECT_EQ(find(machine, getpid()), nullptr);
  EXPECT_EQ(machine.values[Column::NoRoom], 1);
}

}  // namespace
}  // namespace strata::live
