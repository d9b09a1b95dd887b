// SPDX-License-Identifier: Apache-2.0
#include "kernel/running_programs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::ElementsAre;

TEST(RunningPrograms, AreFoundByTheNameOfTheirFile) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_THAT(running_programs({Glob(self.filename().string())}), testing::Contains(self.string()));
  EXPECT_THAT(running_programs({Glob("no-such-program-*")}), ElementsAre());
}

TEST(RunningPrograms, AreFoundOnceAlsoWhenTheirFileIsGone) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("strata-sleeper-" + std::to_string(getpid()));
  std::filesystem::copy_file("/bin/sleep", path);
  int started[2];  // closed by exec
  ASSERT_EQ(pipe2(started, O_CLOEXEC), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    execl(path.c_str(), path.c_str(), "60", nullptr);
    _exit(1);
  }
  close(started[1]);
  char byte;
  EXPECT_EQ(read(started[0], &byte, 1), 0);
  close(started[0]);
  EXPECT_THAT(running_programs({Glob("strata-sleeper-*")}), ElementsAre(path));
  std::filesystem::remove(path);
  EXPECT_THAT(running_programs({Glob("strata-sleeper-*")}),
              ElementsAre("/proc/" + std::to_string(child) + "/exe"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace strata::kernel
