// SPDX-License-Identifier: Apache-2.0
//
// This machine through the C interface, beside what the kernel says of our own thread.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file_descriptor.h"
#include "kernel/perf_event.h"
#include "lib/c_handles.h"

namespace strata::lib {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t now_on(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

class Machine : public testing::Test {
 protected:
  void SetUp() override {
    char why[STRATA_WHY] = "";
    feed_.reset(strata_feed_open_machine("cpu", why, sizeof why));
    if (!feed_ && geteuid() != 0) GTEST_SKIP() << why;
    ASSERT_TRUE(feed_) << why;
  }

  // How long our thread was on a CPU, as its rows say.
  static int64_t own_time(const Table& table) {
    int64_t sum = 0;
    for (size_t i = 0; i < strata_table_rows(table.get(), 0, STRATA_ROW_TASK); ++i) {
      const strata_row task = strata_table_row(table.get(), 0, STRATA_ROW_TASK, i);
      int64_t tid = 0;
      if (strata_row_number(task, "tid", &tid) == 0 || tid != gettid()) continue;
      for (const char* state : {"running_ns", "user_ns", "syscall_ns", "trap_ns", "virt_ns"})
        sum += static_cast<int64_t>(strata_row_value(task, strata_column(state)));
    }
    return sum;
  }

  Feed feed_;
};

TEST_F(Machine, SaysHowLongAThreadRan) {
  next_of(feed_);
  const int64_t begin = now_on(CLOCK_THREAD_CPUTIME_ID);
  while (now_on(CLOCK_THREAD_CPUTIME_ID) < begin + kSecond / 5) {
  }
  const Table table = next_of(feed_);
  const int64_t ran = now_on(CLOCK_THREAD_CPUTIME_ID) - begin;
  // What it took to make the tables is in one and not in the other.
  EXPECT_NEAR(static_cast<double>(own_time(table)), static_cast<double>(ran), 0.005 * kSecond);
}

TEST_F(Machine, HasTablesThatFollowEachOther) {
  const int64_t before = now_on(CLOCK_REALTIME);
  const Table first = next_of(feed_);
  const Table second = next_of(feed_);
  EXPECT_STREQ(strata_table_clock(first.get()), "epoch");
  EXPECT_GT(strata_table_end(first.get()), before - kSecond / 10);
  EXPECT_EQ(strata_table_begin(second.get()), strata_table_end(first.get()));
  walk(second.get());
  EXPECT_EQ(strata_table_add(first.get(), second.get()), 0);
}

TEST_F(Machine, HasEveryCpuFromTheFirstTableOn) {
  const auto cpus = static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_EQ(strata_table_rows(next_of(feed_).get(), 0, STRATA_ROW_CPU), cpus);
}

TEST_F(Machine, WakesWhoWaitsForADescriptor) {
  constexpr int64_t kPeriod = kSecond / 20;
  const int64_t first = now_on(CLOCK_MONOTONIC) / kPeriod + 1;
  pollfd due{strata_feed_descriptor(feed_.get(), kPeriod), POLLIN, 0};
  ASSERT_GE(due.fd, 0);
  for (int period = 0; period < 4; ++period) {
    ASSERT_EQ(poll(&due, 1, 30'000), 1);
    EXPECT_GE(now_on(CLOCK_MONOTONIC), (first + period) * kPeriod) << period;
    next_of(feed_);
  }
  EXPECT_EQ(strata_feed_descriptor(feed_.get(), 1000 * kSecond), due.fd) << "it was given";
  EXPECT_EQ(poll(&due, 1, 0), 0) << "not due for a long time";
}

TEST_F(Machine, IsToldWithoutFilesOfProc) {
  next_of(feed_);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string path = std::filesystem::read_symlink(entry, gone);
    EXPECT_FALSE(path.starts_with("/proc/") && !path.ends_with("/fd")) << path;
  }
  const Table table = next_of(feed_);
  const strata_row machine = strata_table_row(table.get(), 0, STRATA_ROW_MACHINE, 0);
  EXPECT_EQ(strata_row_certainty(machine, strata_column("open_files")), STRATA_UNKNOWN);
  EXPECT_GT(strata_table_rows(table.get(), 0, STRATA_ROW_INTERFACE), 0u);
}

TEST_F(Machine, TakesNoMoreSystemCallsWithMoreProcesses) {
  std::ifstream file("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
  uint64_t id = 0;
  if (!(file >> id)) GTEST_SKIP() << "system calls cannot be counted here";
  perf_event_attr attributes = kernel::perf_attributes(PERF_TYPE_TRACEPOINT, id);
  const FileDescriptor counter(kernel::open_perf_event(attributes, 0, -1, -1));
  ASSERT_TRUE(counter) << strerror(errno);
  const auto counted = [&] {
    uint64_t count = 0;
    EXPECT_EQ(read(counter.get(), &count, sizeof count), ssize_t{sizeof count});
    return count;
  };
  // Of several tables, since a name of a cgroup that is new may be looked up in one.
  const auto fewest = [&] {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 10; ++i) {
      const uint64_t before = counted();
      const Table table = next_of(feed_);
      least = std::min(least, counted() - before);
    }
    return least;
  };
  fewest();
  const uint64_t before = fewest();
  EXPECT_GT(before, 0u);
  EXPECT_LE(before, 10u);
  std::vector<pid_t> children;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    if (child > 0) children.push_back(child);
  }
  EXPECT_EQ(children.size(), 200u);
  EXPECT_EQ(fewest(), before);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST_F(Machine, TellsMoreWhenItIsWanted) {
  EXPECT_EQ(strata_feed_want(feed_.get(), "totals"), 0) << strata_feed_problem(feed_.get());
  const Table table = next_of(feed_);
  const strata_row machine = strata_table_row(table.get(), 0, STRATA_ROW_MACHINE, 0);
  EXPECT_GT(strata_row_value(machine, strata_column("open_files")), 0u);
  EXPECT_EQ(strata_feed_restart(feed_.get()), -1);
  EXPECT_NE(std::string(strata_feed_problem(feed_.get())), "");
}

TEST_F(Machine, TellsTheCountersThatWereChosenAndWhichCannotBeHad) {
  EXPECT_EQ(strata_feed_counters(feed_.get(), "page-faults,context-switches"), 0);
  EXPECT_EQ(strata_feed_want(feed_.get(), "perf"), 0) << strata_feed_problem(feed_.get());
  next_of(feed_);
  usleep(50'000);
  const Table table = next_of(feed_);
  const strata_row machine = strata_table_row(table.get(), 0, STRATA_ROW_MACHINE, 0);
  EXPECT_GT(strata_row_value(machine, strata_column("context_switches")), 0u);
  EXPECT_EQ(strata_row_certainty(machine, strata_column("page_faults")), STRATA_EXACT);
  EXPECT_EQ(strata_row_certainty(machine, strata_column("task_clock_ns")), STRATA_UNKNOWN);
  EXPECT_EQ(strata_feed_counters(feed_.get(), "page-faults,frobs"), -1);
  EXPECT_NE(std::string(strata_feed_problem(feed_.get())).find("frobs"), std::string::npos);
  EXPECT_EQ(strata_feed_counters(feed_.get(), ""), 0) << "whichever there are";
}

TEST_F(Machine, GivesAllThatThereIsAndSaysWhatIsNot) {
  char why[STRATA_WHY] = "";
  const Feed all(strata_feed_open_machine("all", why, sizeof why));
  ASSERT_TRUE(all) << why;
  usleep(50'000);
  const Table table = next_of(all);
  const strata_row machine = strata_table_row(table.get(), 0, STRATA_ROW_MACHINE, 0);
  EXPECT_GT(strata_row_value(machine, strata_column("syscall_ns")), 0u);
  EXPECT_GT(strata_row_value(machine, strata_column("open_files")), 0u);
  // One by one, what can be had is there, and of what cannot somebody says so.
  for (const std::string group : {"calls", "io", "vm", "perf", "latency", "totals"}) {
    const Feed one(strata_feed_open_machine(group.c_str(), why, sizeof why));
    bool is_missing = false;
    for (size_t i = 0; const char* text = strata_feed_shortfall(all.get(), i); ++i)
      is_missing = is_missing || std::string(text).find(why) != std::string::npos;
    EXPECT_TRUE(one || is_missing) << group << ": " << why;
  }
}

}  // namespace
}  // namespace strata::lib
