// SPDX-License-Identifier: Apache-2.0
//
// A recording of the same seconds, cut into periods by the state engine, and the running machine's
// own tables tell the same of the same load.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "live/machine_feed.h"
#include "period/json.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::live {
namespace {

using namespace std::chrono_literals;
using period::Column;

// Tasks of several kinds, all born and ended within it.
constexpr const char* kLoad =
    "sleep 0.3; dd if=/dev/zero bs=64k count=8000 2>/dev/null | dd of=/dev/null bs=64k 2>/dev/null;"
    "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7";

period::Table sum_of(const std::vector<period::Table>& tables) {
  period::Table sum = tables.front();
  for (size_t i = 1; i < tables.size(); ++i) EXPECT_TRUE(sum.append(tables[i]));
  return sum;
}

const period::TaskRow* find(const period::Table& table, int32_t tid) {
  for (const period::TaskRow& row : table.machines[0].tasks)
    if (row.tid == tid) return &row;
  return nullptr;
}

TEST(Agreement, ARecordingOfTheSameSecondsTellsTheSameOfItsTasks) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const test::TemporaryFolder folder;
  const std::string recording = folder.file("agreement-" + std::to_string(getpid()));
  auto feed = machine_feed({period::Group::Calls});
  ASSERT_TRUE(feed) << feed.error().text();

  std::atomic<bool> is_done = false;
  test::CommandResult recorded;
  std::thread recorder([&] {
    recorded = test::run({STRATA_PROGRAM, "record", "-o", recording, "--", "sh", "-c", kLoad});
    is_done = true;
  });
  std::vector<period::Table> tables;
  while (!is_done) {
    std::this_thread::sleep_for(200ms);
    auto table = (*feed)->next();
    ASSERT_TRUE(table && *table);
    tables.push_back(std::move(**table));
  }
  recorder.join();
  ASSERT_EQ(recorded.status, 0);
  const period::Table live = sum_of(tables);

  const test::CommandResult stats =
      test::run({STRATA_PROGRAM, "stats", recording, "--period", "500ms", "--json"});
  std::vector<period::Table> told;
  for (const std::string& line : test::lines_of(stats.output)) {
    auto table = period::table_from_json(line);
    ASSERT_TRUE(table) << table.error().text();
    told.push_back(std::move(*table));
  }
  ASSERT_FALSE(told.empty());
  const period::Table traced = sum_of(told);

  size_t compared = 0;
  for (const period::TaskRow& row : traced.machines[0].tasks) {
    if (!row.was_born || !row.has_ended) continue;
    if (row.name != "sh" && row.name != "dd" && row.name != "sleep") continue;
    const period::TaskRow* same = find(live, row.tid);
    ASSERT_NE(same, nullptr) << row.name;
    ++compared;
    const std::string who = row.name + ' ' + std::to_string(row.tid);
    // Around a switch that the kernel left out, the engine says that nothing is known; the running
    // machine's counts of the kernel tell more.
    const auto unknown = static_cast<double>(row.values[Column::Unknown]);
    // What watching costs lies before one's stamp and behind the other's.
    const auto near = [&](Column column, uint64_t told_ns, uint64_t live_ns, double part) {
      EXPECT_NEAR(static_cast<double>(told_ns), static_cast<double>(live_ns),
                  part * static_cast<double>(told_ns) + 2e6 + unknown)
          << who << ' ' << period::info_of(column).name;
    };
    for (const Column column : {Column::User, Column::Syscall, Column::WaitCpu, Column::WaitTimer,
                                Column::WaitPipe, Column::WaitChild, Column::WaitDisk})
      near(column, row.values[column], same->values[column], 0.1);
    near(Column::Running, row.on_cpu_ns(), same->on_cpu_ns(), 0.02);
    near(Column::WaitOther, row.blocked_ns(), same->blocked_ns(), 0.02);
    EXPECT_EQ(row.name, same->name);
    EXPECT_EQ(row.pid, same->pid) << who;
    EXPECT_EQ(row.exit_code, same->exit_code) << who;
    EXPECT_EQ(row.values[Column::Syscalls], same->values[Column::Syscalls]) << who;
    EXPECT_EQ(row.values[Column::Preemptions], same->values[Column::Preemptions]) << who;
    EXPECT_EQ(row.values[Column::Sleeps], same->values[Column::Sleeps]) << who;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace strata::live
