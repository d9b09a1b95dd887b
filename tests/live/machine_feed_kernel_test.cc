// SPDX-License-Identifier: Apache-2.0
//
// The running machine's tables on loads of which it is known what they do.
#include <bpf/bpf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <thread>

#include "live/machine_feed.h"
#include "support/temporary_folder.h"

namespace strata::live {
namespace {

using namespace std::chrono_literals;
using period::Column;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class MachineFeed : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
  }

  void open(period::Groups groups = {}, const Limits& limits = {}) {
    Result<std::unique_ptr<period::Feed>> feed = machine_feed(groups, limits);
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

// What the host of this machine took of its CPUs so far: to us it looks as if tasks ran.
uint64_t stolen_ns() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  std::array<uint64_t, 8> ticks{};
  file >> cpu;
  for (uint64_t& tick : ticks) file >> tick;
  return ticks[7] * 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
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
  const uint64_t stolen_before = stolen_ns();
  open();
  const Ended burner = run([] { return burn(300ms); });
  const period::Table table = next();
  const period::TaskRow* row = find(table, burner.pid);
  ASSERT_NE(row, nullptr);
  const double used =
      static_cast<double>(to_ns(burner.usage.ru_utime) + to_ns(burner.usage.ru_stime));
  const auto told = static_cast<double>(row->on_cpu_ns() + row->values[Column::Irq] +
                                        row->values[Column::Softirq]);
  // For each switch that the kernel left out, up to a slice of time is somebody else's.
  const double missed = 6e6 * static_cast<double>(table.machines[0].values[Column::MissedSwitches]);
  EXPECT_GT(told, 0.99 * used - missed);
  EXPECT_LT(told, 1.01 * used + missed + static_cast<double>(stolen_ns() - stolen_before));
  EXPECT_GT(row->values[Column::User], row->values[Column::Syscall]);
  EXPECT_TRUE(row->was_born);
  EXPECT_TRUE(row->has_ended);
  EXPECT_EQ(row->exit_code, 0);
}

TEST_F(MachineFeed, TimesOfCpusAndOfTasksAddUpToThePeriod) {
  open({period::Group::Calls});
  next();
  run([] { return burn(50ms); });
  const period::Table table = next();
  const auto length = static_cast<double>(table.length());
  for (const period::CpuRow& cpu : table.machines[0].cpus) {
    uint64_t sum = 0;
    for (const Column column : period::CpuRow::Values::kOrder)
      if (is_time(column) && column != Column::UnknownTask) sum += cpu.values[column];
    EXPECT_NEAR(static_cast<double>(sum), length, 0.001 * length);
  }
  const period::TaskRow* own = find(table, getpid());
  ASSERT_NE(own, nullptr);
  uint64_t sum = 0;
  for (const Column column : period::TaskRow::Values::kOrder)
    if (is_task_state(column)) sum += own->values[column];
  EXPECT_NEAR(static_cast<double>(sum), length, 0.001 * length);
}

TEST_F(MachineFeed, AProcessThatWaitsForAChildWaitsForAChildAndTheChildForATime) {
  open({period::Group::Calls});
  const Ended sleeper = run([] {
    std::this_thread::sleep_for(200ms);
    return 0;
  });
  const period::Table table = next();
  const period::TaskRow* child = find(table, sleeper.pid);
  const period::TaskRow* own = find(table, getpid());
  ASSERT_NE(child, nullptr);
  ASSERT_NE(own, nullptr);
  EXPECT_GE(child->values[Column::WaitTimer], 200'000'000);
  EXPECT_GE(own->values[Column::WaitChild], 200'000'000);
  EXPECT_LT(child->values[Column::WaitOther], 50'000'000);
}

TEST_F(MachineFeed, TwoThatHandAByteToEachOtherWaitForAPipe) {
  constexpr int kRounds = 2000;
  open({period::Group::Calls});
  int there[2];
  int back[2];
  ASSERT_EQ(pipe(there), 0);
  ASSERT_EQ(pipe(back), 0);
  const pid_t other = fork();
  if (other == 0) {
    close(there[1]);
    char byte = 0;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
    }
    _exit(0);
  }
  for (int i = 0; i < kRounds; ++i) {
    char byte = 0;
    ASSERT_EQ(write(there[1], &byte, 1), 1);
    ASSERT_EQ(read(back[0], &byte, 1), 1);
  }
  close(there[1]);
  waitpid(other, nullptr, 0);
  close(there[0]);
  close(back[0]);
  close(back[1]);
  const period::Table table = next();
  const period::TaskRow* row = find(table, other);
  ASSERT_NE(row, nullptr);
  // A read and a write each round, the last read, and the two closes and an exit around.
  EXPECT_THAT(row->values[Column::Syscalls], AllOf(Ge(2 * kRounds + 1), Le(2 * kRounds + 10)));
  // It may find the next byte there already, and then does not sleep.
  EXPECT_GT(row->values[Column::Sleeps], 0);
  EXPECT_LE(row->values[Column::Sleeps], kRounds + 10);
  EXPECT_GT(row->values[Column::WaitPipe], 0);
  EXPECT_LT(row->values[Column::WaitOther], row->values[Column::WaitPipe]);
}

TEST_F(MachineFeed, EveryProcessThatLivedWithinThePeriodIsToldWithHowItEnded) {
  open();
  std::vector<Ended> children;
  for (int code = 0; code < 40; ++code) children.push_back(run([code] { return code; }));
  const Ended killed = run([] { return raise(SIGKILL); });
  const period::Table table = next();
  for (int code = 0; code < 40; ++code) {
    const period::TaskRow* row = find(table, children[static_cast<size_t>(code)].pid);
    ASSERT_NE(row, nullptr) << code;
    EXPECT_TRUE(row->was_born);
    EXPECT_TRUE(row->has_ended);
    EXPECT_EQ(row->exit_code, code);
    EXPECT_EQ(row->exit_signal, std::nullopt);
  }
  const period::TaskRow* row = find(table, killed.pid);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->exit_signal, SIGKILL);
  EXPECT_EQ(row->exit_code, std::nullopt);
  EXPECT_GE(table.machines[0].values[Column::Born], 41);
  EXPECT_GE(table.machines[0].values[Column::Ended], 41);
}

TEST_F(MachineFeed, ATaskIsCalledWhatItCallsItselfLast) {
  open();
  const Ended renamed = run([] { return prctl(PR_SET_NAME, "another name"); });
  const period::Table table = next();
  ASSERT_NE(find(table, renamed.pid), nullptr);
  EXPECT_EQ(find(table, renamed.pid)->name, "another name");
}

TEST_F(MachineFeed, WhatDoesNotFitIsCountedAndCpusAreToldNevertheless) {
  open({}, {.tasks = 4});
  next();
  run([] { return burn(20ms); });
  const period::Table table = next();
  const period::Machine& machine = table.machines[0];
  EXPECT_LE(machine.tasks.size(), 4);
  EXPECT_GT(machine.values[Column::NoRoom], 0);
  EXPECT_THAT(feed_->shortfalls(), Contains(HasSubstr("for want of room")));
  uint64_t busy = 0;
  for (const period::CpuRow& cpu : machine.cpus)
    for (const Column column : {Column::User, Column::Syscall, Column::Unknown})
      busy += cpu.values[column];
  EXPECT_GT(busy, 20'000'000);
}

TEST_F(MachineFeed, SlotsComeBackFromThoseThatEnded) {
  open({}, {.tasks = 1000});
  uint64_t missing = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 200; ++i) run([] { return 0; });
    missing += next().machines[0].values[Column::NoRoom];
    // The kernel frees a task some time after its end.
    std::this_thread::sleep_for(100ms);
    missing += next().machines[0].values[Column::NoRoom];
  }
  EXPECT_EQ(missing, 0);
}

TEST_F(MachineFeed, CallsAreWatchedOnlyAsLongAsSomebodyWantsThem) {
  open();
  EXPECT_EQ(next().machines[0].marks.of(period::RowKind::Task, Column::User),
            period::Certainty::Estimated);
  ASSERT_TRUE(feed_->want({period::Group::Calls}));
  EXPECT_TRUE(feed_->told().has(period::Group::Calls));
  next();
  for (int i = 0; i < 100; ++i) syscall(SYS_getppid);
  const period::Table with = next();
  ASSERT_NE(find(with, getpid()), nullptr);
  EXPECT_GE(find(with, getpid())->values[Column::Syscalls], 100);
  EXPECT_EQ(with.machines[0].marks.of(period::RowKind::Task, Column::User),
            period::Certainty::Exact);
  ASSERT_TRUE(feed_->want({}));
  next();
  for (int i = 0; i < 100; ++i) syscall(SYS_getppid);
  const period::Table without = next();
  ASSERT_NE(find(without, getpid()), nullptr);
  EXPECT_EQ(find(without, getpid())->values[Column::Syscalls], 0);
}

const period::LatencyRow* find(const period::Table& table, period::Latency what,
                               std::string_view name) {
  for (const period::LatencyRow& row : table.machines[0].latencies)
    if (row.what == what && row.name == name) return &row;
  return nullptr;
}

TEST_F(MachineFeed, LatenciesHaveEachSleepOfAThousandthAndTheWaitForACpuBehindIt) {
  open({period::Group::Calls, period::Group::Latencies});
  for (int i = 0; i < 100; ++i) std::this_thread::sleep_for(1ms);
  const period::Table table = next();
  const period::LatencyRow* sleeps = find(table, period::Latency::Syscall, "clock_nanosleep");
  ASSERT_NE(sleeps, nullptr);
  EXPECT_GE(sleeps->histogram.count, 100);
  // From 2^19 ns on, and others may sleep shorter.
  uint64_t long_enough = 0;
  for (size_t bucket = 20; bucket < period::Histogram::kBuckets; ++bucket)
    long_enough += sleeps->histogram.buckets[bucket];
  EXPECT_GE(long_enough, 100);
  const period::LatencyRow* queue = find(table, period::Latency::RunQueue, "");
  ASSERT_NE(queue, nullptr);
  EXPECT_GE(queue->histogram.count, 100);
  const period::LatencyRow* timer = find(table, period::Latency::Irq, "local_timer");
  ASSERT_NE(timer, nullptr);
  EXPECT_GE(timer->histogram.count, 50);
}

TEST_F(MachineFeed, WhatGoesThroughADescriptorIsToldOfItsFileAndItsTask) {
  constexpr uint64_t kBlock = 4096;
  const test::TemporaryFolder folder;
  const std::string path = folder.write("numbers", std::string_view(""));
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  open({period::Group::Io});
  EXPECT_TRUE(feed_->told().has(period::Group::Calls));
  next();
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  std::array<char, kBlock> block{};
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(write(fd, block.data(), kBlock), kBlock);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(pread(fd, block.data(), kBlock, 0), kBlock);
  EXPECT_EQ(write(-1, block.data(), kBlock), -1);  // which is no traffic
  ASSERT_EQ(sendfile(pair[0], fd, nullptr, 0), 0);
  off_t begin = 0;
  ASSERT_EQ(sendfile(pair[0], fd, &begin, 2 * kBlock), 2 * kBlock);
  const period::Table table = next();
  close(fd);
  close(pair[0]);
  close(pair[1]);
  const period::Machine& machine = table.machines[0];
  const auto row = std::ranges::find_if(machine.descriptors, [&](const auto& one) {
    return one.pid == getpid() && one.number == fd;
  });
  ASSERT_NE(row, machine.descriptors.end());
  EXPECT_EQ(row->kind, "file");
  EXPECT_EQ(row->inode, file.st_ino);
  EXPECT_THAT(row->name, AnyOf(path, "numbers"));
  EXPECT_EQ(row->values[Column::Writes], 100);
  EXPECT_EQ(row->values[Column::WrittenBytes], 100 * kBlock);
  EXPECT_EQ(row->values[Column::Reads], 32);
  EXPECT_EQ(row->values[Column::ReadBytes], 32 * kBlock);
  EXPECT_GT(row->values[Column::InCalls], 0);
  const auto sent = std::ranges::find_if(machine.descriptors, [&](const auto& one) {
    return one.pid == getpid() && one.number == pair[0];
  });
  ASSERT_NE(sent, machine.descriptors.end());
  EXPECT_EQ(sent->kind, "local-socket");
  EXPECT_EQ(sent->values[Column::WrittenBytes], 2 * kBlock);
  const auto same = std::ranges::find_if(machine.files, [&](const auto& one) {
    return one.number == file.st_ino && one.kind == "file";
  });
  ASSERT_NE(same, machine.files.end());
  EXPECT_EQ(same->values[Column::WrittenBytes], 100 * kBlock);
  const period::TaskRow* own = find(table, getpid());
  ASSERT_NE(own, nullptr);
  EXPECT_GE(own->values[Column::WrittenBytes], 102 * kBlock);
  EXPECT_EQ(own->values[Column::NetWrittenBytes], 0);
}

TEST_F(MachineFeed, DescriptorsThatDoNotFitAreCounted) {
  open({period::Group::Io}, {.descriptors = 8});
  next();
  std::array<char, 64> block{};
  std::vector<int> fds;
  for (int i = 0; i < 40; ++i) {
    fds.push_back(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(read(fds.back(), block.data(), block.size()), block.size());
  }
  const period::Table table = next();
  for (const int fd : fds) close(fd);
  EXPECT_LE(table.machines[0].descriptors.size(), 8);
  EXPECT_GE(table.machines[0].values[Column::NoRoom], 40 - 8);
  const period::TaskRow* own = find(table, getpid());
  ASSERT_NE(own, nullptr);
  EXPECT_GE(own->values[Column::Reads], 40);
}

// The numbers of all programs that the kernel has.
std::set<uint32_t> programs() {
  std::set<uint32_t> ids;
  for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;) ids.insert(id);
  return ids;
}

TEST_F(MachineFeed, NothingIsLeftInTheKernelOfOneThatWasKilled) {
  const std::set<uint32_t> before = programs();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t watcher = fork();
  if (watcher == 0) {
    const auto feed =
        machine_feed({period::Group::Calls, period::Group::Vms, period::Group::Counters});
    const char byte = feed ? 1 : 0;
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  close(ready[1]);
  char is_open = 0;
  ASSERT_EQ(read(ready[0], &is_open, 1), 1);
  close(ready[0]);
  EXPECT_EQ(is_open, 1);
  std::set<uint32_t> added;
  std::ranges::set_difference(programs(), before, std::inserter(added, added.end()));
  EXPECT_GE(added.size(), 17);
  kill(watcher, SIGKILL);
  waitpid(watcher, nullptr, 0);
  // The kernel takes them away a moment later.
  const auto left = [&] {
    std::set<uint32_t> rest;
    std::ranges::set_intersection(programs(), added, std::inserter(rest, rest.end()));
    return rest.size();
  };
  for (int tries = 0; tries < 200 && left() != 0; ++tries) std::this_thread::sleep_for(50ms);
  EXPECT_EQ(left(), 0);
}

}  // namespace
}  // namespace strata::live
