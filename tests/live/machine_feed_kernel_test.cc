// SPDX-License-Identifier: Apache-2.0
//
// The running machine's tables on loads of which it is known what they do.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "live/machine_feed.h"

namespace strata::live {
namespace {

using namespace std::chrono_literals;
using period::Column;
using testing::AllOf;
using testing::Ge;
using testing::Le;

class MachineFeed : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    Result<std::unique_ptr<period::Feed>> feed = machine_feed({});
    ASSERT_TRUE(feed) << feed.error().text();
    feed_ = std::move(*feed);
  }

  period::Table next() {
    Result<std::optional<period::Table>> table = feed_->next();
    EXPECT_TRUE(table && *table);
    return std::move(**table);
  }

  std::unique_ptr<period::Feed> feed_;
};

const period::TaskRow* find(const period::Table& table, int32_t tid) {
  for (const period::TaskRow& row : table.machines[0].tasks)
    if (row.tid == tid) return &row;
  return nullptr;
}

uint64_t to_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1000;
}

struct Ended {
  pid_t pid = 0;
  int status = 0;
  rusage usage = {};
};

// A process that does this, and has ended.
Ended run(const std::function<int()>& what) {
  Ended ended;
  ended.pid = fork();
  if (ended.pid == 0) _exit(what());
  wait4(ended.pid, &ended.status, 0, &ended.usage);
  return ended;
}

int burn(std::chrono::nanoseconds cpu_time) {
  timespec now{};
  do {
    for (int i = 0; i < 10000; ++i) asm volatile("");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) < cpu_time);
  return 0;
}

TEST_F(MachineFeed, ABurningProcessHasTheTimeThatItsUsageTells) {
  next();
  const Ended burner = run([] { return burn(300ms); });
  const period::Table table = next();
  const period::TaskRow* row = find(table, burner.pid);
  ASSERT_NE(row, nullptr);
  const double used =
      static_cast<double>(to_ns(burner.usage.ru_utime) + to_ns(burner.usage.ru_stime));
  const auto told = static_cast<double>(row->on_cpu_ns() + row->values[Column::Irq] +
                                        row->values[Column::Softirq]);
  EXPECT_NEAR(told / used, 1, 0.01);
  EXPECT_GT(row->values[Column::User], row->values[Column::Syscall]);
  EXPECT_TRUE(row->was_born);
  EXPECT_TRUE(row->has_ended);
  EXPECT_EQ(row->exit_code, 0);
}

}  // namespace
}  // namespace strata::live
