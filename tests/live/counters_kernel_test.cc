// SPDX-License-Identifier: Apache-2.0
//
// Performance counters of the running machine, on a load of which it is known what it does, beside
// a recording of them and beside perf.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "kernel/counter_names.h"
#include "live/machine_feed.h"
#include "period/json.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::live {
namespace {

using namespace std::chrono_literals;
using period::Certainty;
using period::Column;
using period::Group;
using period::RowKind;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;

constexpr uint64_t kPages = 2000;
constexpr uint64_t kSleeps = 50;
constexpr auto kLimit = 60s;
constexpr int kTries = 20;

// A process that does something each time it is told to, and sleeps in between.
class Load {
 public:
  explicit Load(const std::function<void()>& what) {
    EXPECT_EQ(pipe(go_), 0);
    EXPECT_EQ(pipe(done_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    close(go_[1]);
    char byte = 0;
    while (read(go_[0], &byte, 1) == 1) {
      what();
      if (write(done_[1], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const int end : {go_[0], go_[1], done_[0], done_[1]}) close(end);
  }

  pid_t pid() const { return pid_; }
  // Until it sleeps again.
  void work() {
    char byte = 0;
    ASSERT_EQ(write(go_[1], &byte, 1), 1);
    ASSERT_EQ(read(done_[0], &byte, 1), 1);
    const auto until = std::chrono::steady_clock::now() + kLimit;
    while (!has_left_its_cpu() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(1ms);
  }

 private:
  // Its state alone tells that it is about to.
  bool has_left_its_cpu() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/syscall");
    uint64_t call = 0;
    return static_cast<bool>(file >> call);  // "running"
  }

  pid_t pid_ = 0;
  int go_[2];
  int done_[2];
};

// Each page of a mapping that is new, which is a fault each.
void touch_pages() {
  constexpr size_t kPage = 4096;
  void* memory =
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  for (size_t page = 0; page < kPages; ++page)
    static_cast<volatile char*>(memory)[page * kPage] = 1;
  munmap(memory, kPages * kPage);
}

void touch_and_sleep() {
  touch_pages();
  for (uint64_t i = 0; i < kSleeps; ++i) std::this_thread::sleep_for(1ms);
}

class Counters : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    Result<std::unique_ptr<period::Feed>> feed = machine_feed(period::Groups::least());
    ASSERT_TRUE(feed) << feed.error().text();
    feed_ = std::move(*feed);
  }

  void watch(const std::vector<std::string>& names) {
    const Status chosen = feed_->choose_counters(names);
    ASSERT_TRUE(chosen) << chosen.error().text();
    const Status wanted = feed_->want({Group::Counters});
    ASSERT_TRUE(wanted) << wanted.error().text();
  }
  period::Table next() {
    Result<std::optional<period::Table>> table = feed_->next();
    EXPECT_TRUE(table && *table);
    return std::move(**table);
  }

  std::unique_ptr<period::Feed> feed_;
};

uint64_t of(const period::Table& table, int32_t tid, Column column) {
  uint64_t sum = 0;
  for (const period::TaskRow& row : table.machines[0].tasks)
    if (row.tid == tid) sum += row.values[column];
  return sum;
}

// Kernels now and then leave out a switch without a word, and what was counted around it is
// nobody's: then once more.
bool is_whole(const period::Table& table) {
  return table.machines[0].values[Column::MissedSwitches] == 0;
}

TEST_F(Counters, FaultsOfAKnownNumberOfPagesAreExactlyThese) {
  watch({"page-faults", "minor-faults", "major-faults"});
  Load load(touch_pages);
  load.work();  // what its own code takes has been met now
  period::Table table;
  for (int tries = 0; tries < kTries; ++tries) {
    next();
    load.work();
    table = next();
    if (is_whole(table)) break;
  }
  EXPECT_EQ(of(table, load.pid(), Column::PageFaults), kPages);
  EXPECT_EQ(of(table, load.pid(), Column::MinorPageFaults), kPages);
  EXPECT_EQ(of(table, load.pid(), Column::MajorPageFaults), 0);
  EXPECT_GE(table.machines[0].values[Column::PageFaults], kPages);
  EXPECT_EQ(table.machines[0].marks.of(RowKind::Task, Column::PageFaults), Certainty::Exact);
  EXPECT_EQ(table.machines[0].marks.of(RowKind::Task, Column::Cycles), Certainty::Unknown);
}

// What others tell of a process while we watch it: `strata stats` of a recording, and perf stat.
struct Others {
  period::Table traced;
  std::string perf;  // empty: it is not there
};

void watch_with_others(const Load& load, const std::function<void()>& meanwhile, Others& others) {
  const test::TemporaryFolder folder;
  const std::string recording = folder.file("counters-" + std::to_string(getpid()));
  const std::string told_by_perf = folder.file("perf");
  const std::string ready = folder.file("ready");
  const std::string done = folder.file("done");
  const std::string counters = "page-faults,context-switches";
  std::vector<std::string> command = {STRATA_PROGRAM, "record",     "-o",     recording, "-e",
                                      "sched_switch", "--counters", counters, "--"};
  if (test::has_program("perf"))
    for (const std::string& word :
         std::vector<std::string>{"perf", "stat", "-x,", "-e", counters, "-o", told_by_perf, "-p",
                                  std::to_string(load.pid())})
      command.push_back(word);
  // It runs when all of them watch, and they end with it.
  for (const std::string& word : std::vector<std::string>{
           "sh", "-c", "touch " + ready + "; while [ ! -e " + done + " ]; do sleep 0.05; done"})
    command.push_back(word);
  test::CommandResult recorded;
  std::thread recorder([&] { recorded = test::run(command); });
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (access(ready.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(10ms);
  meanwhile();
  std::ofstream(done).put('\n');
  recorder.join();
  ASSERT_EQ(recorded.status, 0);
  std::ifstream file(told_by_perf);
  others.perf.assign(std::istreambuf_iterator<char>(file), {});
  const test::CommandResult stats =
      test::run({STRATA_PROGRAM, "stats", recording, "--period", "500ms", "--json"});
  bool is_first = true;
  for (const std::string& line : test::lines_of(stats.output)) {
    auto table = period::table_from_json(line);
    ASSERT_TRUE(table) << table.error().text();
    if (std::exchange(is_first, false))
      others.traced = std::move(*table);
    else
      ASSERT_TRUE(others.traced.append(*table));
  }
  ASSERT_FALSE(is_first);
}

TEST_F(Counters, ARecordingOfTheSameSecondsAndPerfTellTheSame) {
  watch({"page-faults", "context-switches"});
  Load load(touch_and_sleep);
  load.work();
  Others others;
  period::Table live;
  uint64_t switches = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto meanwhile = [&] {
      next();
      load.work();
      live = next();
    };
    others = {};
    ASSERT_NO_FATAL_FAILURE(watch_with_others(load, meanwhile, others));
    switches = of(live, load.pid(), Column::ContextSwitches);
    // What is counted around a switch that the kernel left out is nobody's, here as there; nor does
    // the recorder read where its own threads lose a CPU.
    if (of(live, load.pid(), Column::PageFaults) == kPages &&
        of(others.traced, load.pid(), Column::PageFaults) == kPages &&
        (others.perf.empty() ||
         others.perf.find(std::to_string(switches) + ",,context-switches") != std::string::npos))
      break;
  }
  EXPECT_GE(switches, kSleeps);
  // For the same reason it may tell fewer switches, never more.
  EXPECT_LE(of(others.traced, load.pid(), Column::ContextSwitches), switches);
  EXPECT_EQ(of(live, load.pid(), Column::PageFaults), kPages);
  EXPECT_EQ(of(others.traced, load.pid(), Column::PageFaults), kPages);
  if (others.perf.empty()) return;
  EXPECT_THAT(others.perf, HasSubstr(std::to_string(kPages) + ",,page-faults"));
  EXPECT_THAT(others.perf, HasSubstr(std::to_string(switches) + ",,context-switches"));
}

TEST_F(Counters, WhatRunsOnAndOnIsToldUpToTheLastTick) {
  watch({"task-clock"});
  const pid_t burner = fork();
  if (burner == 0)
    for (;;) asm volatile("");
  double on_cpu = 0;
  double counted = 0;
  double missed = 0;
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (on_cpu < 3e8 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(100ms);
    const period::Table table = next();
    for (const period::TaskRow& row : table.machines[0].tasks)
      if (row.tid == burner)
        on_cpu += static_cast<double>(row.on_cpu_ns() + row.values[Column::Irq] +
                                      row.values[Column::Softirq]);
    counted += static_cast<double>(of(table, burner, Column::TaskClock));
    missed += static_cast<double>(table.machines[0].values[Column::MissedSwitches]);
  }
  kill(burner, SIGKILL);
  waitpid(burner, nullptr, 0);
  ASSERT_GE(on_cpu, 3e8);
  // A tick comes every 10 ms at least; around a switch that the kernel left out it is nobody's.
  EXPECT_NEAR(counted, on_cpu, 20e6 + 10e6 * missed);
}

TEST_F(Counters, AllThatTheKernelCountsItselfCanBeHadAndTheProcessorsWhereItHasAny) {
  std::vector<std::string> names;
  for (const period::ColumnInfo& info : period::kColumns) {
    if (!is_counter(info.id)) continue;
    const auto counter = kernel::known_counter(info.counter);
    ASSERT_TRUE(counter) << info.counter;
    EXPECT_EQ(counter->name, info.counter) << "it is the usual name";
    if (kernel::exists_here(*counter)) names.emplace_back(info.counter);
  }
  ASSERT_FALSE(names.empty());
  names.resize(std::min<size_t>(names.size(), 15));
  watch(names);
  const period::Table table = next();
  for (const std::string& name : names)
    EXPECT_NE(table.machines[0].marks.of(RowKind::Task, *period::column_of_counter(name)),
              Certainty::Unknown)
        << name;
}

TEST_F(Counters, WhatIsMissingIsToldAndTheOthersAreThere) {
  const Status unknown = feed_->choose_counters({"page-faults", "frobs"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), HasSubstr("no counter is called 'frobs'"));

  // No machine has a column for it, and few of those with tests have the counter.
  ASSERT_TRUE(feed_->want({Group::Counters}));
  const Status missing = feed_->choose_counters({"node-prefetches", "page-faults"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("'node-prefetches' "));
  EXPECT_TRUE(feed_->told().has(Group::Counters));
  EXPECT_THAT(feed_->shortfalls(), Contains(HasSubstr("'node-prefetches' ")));
  Load load(touch_pages);
  load.work();
  EXPECT_GT(of(next(), load.pid(), Column::PageFaults), kPages / 2);

  const Status none = feed_->choose_counters({"node-prefetches"});
  ASSERT_FALSE(none);
  EXPECT_FALSE(feed_->told().has(Group::Counters));
  EXPECT_FALSE(next().machines[0].tasks.empty()) << "what else is told is told all the same";
}

TEST_F(Counters, AreWatchedOnlyAsLongAsSomebodyWantsThem) {
  Load load(touch_pages);
  watch({"page-faults"});
  load.work();
  EXPECT_GT(of(next(), load.pid(), Column::PageFaults), kPages / 2);
  ASSERT_TRUE(feed_->want(period::Groups::least()));
  load.work();
  const period::Table without = next();
  EXPECT_EQ(of(without, load.pid(), Column::PageFaults), 0);
  EXPECT_EQ(without.machines[0].marks.of(RowKind::Task, Column::PageFaults), Certainty::Unknown);
  ASSERT_TRUE(feed_->want({Group::Counters}));
  load.work();
  const uint64_t anew = of(next(), load.pid(), Column::PageFaults);
  EXPECT_GT(anew, kPages / 2);
  EXPECT_LE(anew, kPages) << "what was counted before is not told again";
}

}  // namespace
}  // namespace strata::live
