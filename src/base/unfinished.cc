// SPDX-License-Identifier: Apache-2.0
#include "base/unfinished.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace strata {
namespace {

// The names where a signal handler can see them: no allocation, no lock.
struct Unfinished {
  std::atomic<bool> used{false};
  std::atomic<bool> whole{false};  // `path` can be read
  char path[PATH_MAX];
};
std::array<Unfinished, 8> unfinished_files;

// A folder cannot be emptied with what a signal handler may call; another program can be started.
void remove_folder(const char* path) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", path, nullptr);
    _exit(127);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

void remove_and_exit(int signal) {
  for (Unfinished& file : unfinished_files) {
    if (file.whole && unlink(file.path) != 0 && errno == EISDIR) remove_folder(file.path);
  }
  _exit(128 + signal);
}

}  // namespace

void remember_unfinished(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (Unfinished& file : unfinished_files) {
    if (file.used.exchange(true)) continue;
    std::memcpy(file.path, path.c_str(), path.size() + 1);
    file.whole = true;
    return;
  }
}

void forget_unfinished(const std::string& path) {
  for (Unfinished& file : unfinished_files) {
    if (!file.whole || path != file.path) continue;
    file.whole = false;
    file.used = false;
    return;
  }
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = remove_and_exit;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // nohup, and shells' background jobs: what is ignored stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace strata
