// SPDX-License-Identifier: Apache-2.0
//
// A recording of the same seconds, cut into periods by the state engine, and the running machine's
// own tables tell the same of the same load.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/file_descriptor.h"
#include "live/machine_feed.h"
#include "period/json.h"
#include "support/command.h"
#include "support/temporary_folder.h"
#include "support/tiny_guest.h"

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

// Tables of the running machine while it is recorded, and of the recording.
struct Both {
  period::Table live;
  period::Table traced;
};

void watch(period::Groups groups, const std::string& recording, std::vector<std::string> recorder,
           Both& both) {
  auto feed = machine_feed(groups);
  ASSERT_TRUE(feed) << feed.error().text();

  recorder.insert(recorder.begin(), {STRATA_PROGRAM, "record", "-o", recording});
  std::atomic<bool> is_done = false;
  test::CommandResult recorded;
  std::thread recording_thread([&] {
    recorded = test::run(recorder);
    is_done = true;
  });
  std::vector<period::Table> tables;
  while (!is_done) {
    std::this_thread::sleep_for(200ms);
    auto table = (*feed)->next();
    ASSERT_TRUE(table && *table);
    tables.push_back(std::move(**table));
  }
  recording_thread.join();
  ASSERT_EQ(recorded.status, 0);
  both.live = sum_of(tables);

  const test::CommandResult stats =
      test::run({STRATA_PROGRAM, "stats", recording, "--period", "500ms", "--json"});
  std::vector<period::Table> told;
  for (const std::string& line : test::lines_of(stats.output)) {
    auto table = period::table_from_json(line);
    ASSERT_TRUE(table) << table.error().text();
    told.push_back(std::move(*table));
  }
  ASSERT_FALSE(told.empty());
  both.traced = sum_of(told);
}

TEST(Agreement, ARecordingOfTheSameSecondsTellsTheSameOfItsTasks) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const test::TemporaryFolder folder;
  const std::string recording = folder.file("agreement-" + std::to_string(getpid()));
  Both both;
  ASSERT_NO_FATAL_FAILURE(
      watch({period::Group::Calls}, recording, {"--", "sh", "-c", kLoad}, both));
  const auto& [live, traced] = both;

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

// What KVM does here for want of a processor that has it: a guest returns to its program, and that
// lets it run again.
TEST(Agreement, ARecordingOfTheSameSecondsTellsTheSameOfAVirtualCpu) {
  constexpr int kRuns = 10'000;
  constexpr auto kInProgram = 100ms;
  constexpr std::array<uint8_t, 4> kSender = {0xe6, 0x10, 0xeb, 0xfc};  // out %al, $0x10; jmp .-2
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto guest = test::TinyGuest::make(kSender);
  if (!guest) GTEST_SKIP() << "no KVM here";
  const test::TemporaryFolder folder;
  const std::string go = folder.file("go");
  const std::string done = folder.file("done");
  ASSERT_EQ(mkfifo(go.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(done.c_str(), 0600), 0);

  std::atomic<int32_t> tid = 0;
  std::thread vcpu([&] {
    prctl(PR_SET_NAME, "CPU 3/KVM");
    tid = static_cast<int32_t>(syscall(SYS_gettid));
    std::ifstream{go}.get();  // until somebody has opened it to write, and closed it
    for (int i = 0; i < kRuns; ++i) guest->run();
    const auto until = std::chrono::steady_clock::now() + kInProgram;
    while (std::chrono::steady_clock::now() < until) {
    }
    const std::ofstream end(done);
  });
  while (tid == 0) std::this_thread::sleep_for(1ms);
  Both both;
  const std::string recording = folder.file("agreement-" + std::to_string(getpid()));
  // Which thread is which virtual CPU is known to a recording when the starting state is written.
  const std::string load = "until [ -e " + recording +
                           "/host-state/state ]; do sleep 0.05; done; " + "echo >" + go + "; cat " +
                           done;
  watch({period::Group::Vms, period::Group::Calls}, recording,
        {"--buffer-size", "16M", "-e", "sched", "-e", "raw_syscalls", "-e", "irq", "-e",
         "irq_vectors:local_timer_*", "-e", "kvm_userspace_exit", "-e", "kvm_pio", "--", "sh", "-c",
         load},
        both);
  // Nobody may have come to let it go.
  const FileDescriptor begin(open(go.c_str(), O_RDWR | O_CLOEXEC));
  const FileDescriptor end(open(done.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(write(begin.get(), "\n", 1), 1);
  vcpu.join();
  if (HasFatalFailure()) return;

  const auto row_of = [&](const period::Table& table) {
    const auto& rows = table.machines[0].vcpus;
    const auto row = std::ranges::find(rows, tid.load(), &period::VcpuRow::tid);
    return row == rows.end() ? period::VcpuRow{} : *row;
  };
  const period::VcpuRow live = row_of(both.live);
  const period::VcpuRow traced = row_of(both.traced);
  ASSERT_EQ(both.traced.machines[0].values[Column::Losses], 0);
  EXPECT_EQ(live.pid, getpid());
  EXPECT_EQ(live.pid, traced.pid);
  EXPECT_EQ(live.number, 3);
  EXPECT_EQ(live.number, traced.number);
  EXPECT_EQ(live.vm, traced.vm);
  EXPECT_EQ(live.values[Column::Pio], kRuns);
  EXPECT_EQ(live.values[Column::Pio], traced.values[Column::Pio]);
  for (const Column column : {Column::Hypervisor, Column::UserSpace, Column::Preempted})
    EXPECT_NEAR(static_cast<double>(live.values[column]),
                static_cast<double>(traced.values[column]),
                0.1 * static_cast<double>(traced.values[column]) + 5e6)
        << period::info_of(column).name;
  EXPECT_GT(traced.values[Column::Hypervisor], 10'000'000);
  EXPECT_GT(traced.values[Column::UserSpace] + traced.values[Column::Preempted], 90'000'000);
}

}  // namespace
}  // namespace strata::live
