// SPDX-License-Identifier: Apache-2.0
#include "record/watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_descriptor.h"

namespace strata::record {
namespace {

// Whoever reads from a pipe of ours must not wait for us.
void close_all_but(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = 0;
  for (const int descriptor : keep) {
    if (descriptor < 0) continue;
    const auto number = static_cast<unsigned>(descriptor);
    if (number > first) syscall(SYS_close_range, first, number - 1, 0);
    first = number + 1;
  }
  syscall(SYS_close_range, first, ~0u, 0);
}

[[noreturn]] void watch(int parent, const std::function<void()>& clean, std::vector<int> keep) {
  setsid();
  prctl(PR_SET_NAME, "strata-watch");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE})
    signal(number, SIG_IGN);
  keep.push_back(parent);
  close_all_but(keep);
  pollfd waiting{parent, POLLIN, 0};
  while (poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
  clean();
  _exit(0);
}

}  // namespace

Result<Watcher> Watcher::start(const std::function<void()>& clean, const std::vector<int>& keep) {
  const FileDescriptor self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self) return system_error("", "cannot watch over this process (pidfd)", errno);
  const pid_t child = fork();
  if (child < 0) return system_error("", "cannot start the watcher", errno);
  if (child == 0) watch(self.get(), clean, keep);
  return Watcher(child);
}

Watcher::Watcher(Watcher&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

Watcher::~Watcher() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace strata::record
