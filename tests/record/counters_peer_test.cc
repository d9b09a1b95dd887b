// SPDX-License-Identifier: Apache-2.0
//
// Babeltrace 2 reads a folder of counters, finished or not.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "record/counters_source.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using test::lines_of;

struct CountersPeer : testing::Test {
  test::TemporaryFolder temporary;
  std::unique_ptr<CountersSource> source;

  void SetUp() override {
    if (!test::has_program("babeltrace2")) GTEST_SKIP() << "no babeltrace2 here";
    const Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
    if (!tracefs) GTEST_SKIP() << tracefs.error().text();
    CountersOptions options;
    options.folder = temporary.path();
    options.counters = {"major-faults", "minor-faults", "task-clock"};
    options.read_at = {"sched:sched_switch", "raw_syscalls:sys_exit"};
    Result<std::unique_ptr<CountersSource>> created = CountersSource::create(*tracefs, options);
    if (!created) GTEST_SKIP() << created.error().text();
    source = std::move(*created);
  }

  // Its events. What it says of losses goes to another place, or it may come in the middle of a
  // line.
  std::vector<std::string> read() const {
    const test::CommandResult result = test::run(
        {"sh", "-c",
         "babeltrace2 --no-delta '" + temporary.file(CountersSource::kFolder) + "' 2> /dev/null"});
    EXPECT_EQ(result.status, 0) << result.output.substr(0, 2000);
    return lines_of(result.output);
  }
};

TEST_F(CountersPeer, ReadsEveryReading) {
  if (const Status status = source->start(); !status) GTEST_SKIP() << status.error().text();
  for (int i = 0; i < 200; ++i) usleep(1000);
  ASSERT_TRUE(source->stop());
  const std::vector<std::string> lines = read();
  EXPECT_EQ(static_cast<uint64_t>(std::count_if(
                lines.begin(), lines.end(), testing::Matches(testing::HasSubstr(" counters_s")))),
            source->status().events);
  EXPECT_GE(
      std::count_if(lines.begin(), lines.end(),
                    [](const std::string& line) {
                      return testing::Matches(testing::ContainsRegex(
                          "counters_sched_switch: \\{ cpu_id = [0-9]+ \\}, \\{ tid = [0-9]+ \\}, "
                          "\\{ prev_tid = [0-9]+, next_tid = [0-9]+, major_faults = [0-9]+, "
                          "minor_faults = [0-9]+, task_clock = [0-9]+ \\}"))(line);
                    }),
      200);
  EXPECT_THAT(lines, testing::Contains(testing::ContainsRegex(
                         "counters_sys_exit: .*\\{ id = [0-9]+, ret = -?[0-9]+, major_faults = ")));
}

TEST_F(CountersPeer, ReadsWhatAKilledRecorderWrote) {
  const pid_t recorder = fork();
  if (recorder == 0) {
    if (!source->start()) _exit(77);
    for (;;) usleep(500);
  }
  usleep(2'500'000);
  kill(recorder, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(recorder, &status, 0), recorder);
  if (WIFEXITED(status)) GTEST_SKIP() << "counters cannot be read here";
  const std::vector<std::string> lines = read();
  EXPECT_GT(lines.size(), 1000u);
  EXPECT_THAT(lines.back(), testing::HasSubstr("counters_s"));
}

}  // namespace
}  // namespace strata::record
