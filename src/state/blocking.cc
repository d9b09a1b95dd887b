// SPDX-License-Identifier: Apache-2.0
#include "state/blocking.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::state {
namespace {

using enum TaskState;

constexpr std::pair<std::string_view, TaskState> kSyscalls[] = {
    {"accept", WaitNetwork},
    {"accept4", WaitNetwork},
    {"clock_nanosleep", WaitTimer},
    {"clock_nanosleep_time64", WaitTimer},
    {"connect", WaitNetwork},
    {"epoll_pwait", WaitPoll},
    {"epoll_pwait2", WaitPoll},
    {"epoll_wait", WaitPoll},
    {"fdatasync", WaitDisk},
    {"fsync", WaitDisk},
    {"futex", WaitFutex},
    {"futex_wait", WaitFutex},
    {"futex_waitv", WaitFutex},
    {"io_getevents", WaitDisk},
    {"io_pgetevents", WaitDisk},
    {"msync", WaitDisk},
    {"nanosleep", WaitTimer},
    {"newselect", WaitPoll},
    {"poll", WaitPoll},
    {"ppoll", WaitPoll},
    {"pselect6", WaitPoll},
    {"recvfrom", WaitNetwork},
    {"recvmmsg", WaitNetwork},
    {"recvmsg", WaitNetwork},
    {"select", WaitPoll},
    {"sendmmsg", WaitNetwork},
    {"sendmsg", WaitNetwork},
    {"sendto", WaitNetwork},
    {"sync", WaitDisk},
    {"sync_file_range", WaitDisk},
    {"syncfs", WaitDisk},
    {"wait4", WaitChild},
    {"waitid", WaitChild},
    {"waitpid", WaitChild},
};

// Those that touch files: what they wait for where signals do not end it is the disk.
constexpr std::string_view kFileCalls[] = {
    "creat",    "execve",   "execveat",  "fallocate", "ftruncate",  "getdents",  "getdents64",
    "link",     "linkat",   "lseek",     "lstat",     "mkdir",      "mkdirat",   "newfstatat",
    "newlstat", "newstat",  "open",      "openat",    "openat2",    "pread64",   "preadv",
    "preadv2",  "pwrite64", "pwritev",   "pwritev2",  "read",       "readahead", "readv",
    "rename",   "renameat", "renameat2", "rmdir",     "sendfile64", "splice",    "stat",
    "statx",    "truncate", "unlink",    "unlinkat",  "write",      "writev"};

bool is_file_call(std::string_view syscall) {
  return std::ranges::binary_search(kFileCalls, syscall);
}

}  // namespace

TaskState wait_in(std::string_view syscall, bool uninterruptible) {
  static_assert(
      std::ranges::is_sorted(kSyscalls, {}, &std::pair<std::string_view, TaskState>::first));
  static_assert(std::ranges::is_sorted(kFileCalls));
  const auto found = std::ranges::lower_bound(kSyscalls, syscall, {},
                                              &std::pair<std::string_view, TaskState>::first);
  if (found != std::end(kSyscalls) && found->first == syscall) return found->second;
  return uninterruptible && is_file_call(syscall) ? WaitDisk : WaitOther;
}

TaskState wait_for(FileKind kind, TaskState otherwise) {
  switch (kind) {
    case FileKind::Pipe:
    case FileKind::LocalSocket:  // which is one both ways
      return WaitPipe;
    case FileKind::Socket:
      return WaitNetwork;
    case FileKind::Timer:
      return WaitTimer;
    default:
      return otherwise;
  }
}

TaskState wait_ended_by_syscall(std::string_view syscall) {
  if (syscall == "write" || syscall == "writev" || syscall == "read" || syscall == "readv" ||
      syscall == "splice" || syscall == "tee" || syscall == "vmsplice")
    return WaitPipe;
  if (syscall.starts_with("send") || syscall.starts_with("recv")) return WaitNetwork;
  if (syscall.starts_with("futex")) return WaitFutex;
  if (syscall == "exit" || syscall == "exit_group") return WaitChild;
  return WaitOther;
}

TaskState wait_ended_by_interrupt(Mode mode, std::string_view name) {
  if (mode == Mode::Softirq) {
    if (name == "NET_RX" || name == "NET_TX") return WaitNetwork;
    if (name == "BLOCK" || name == "IRQ_POLL") return WaitDisk;
    if (name == "TIMER" || name == "HRTIMER") return WaitTimer;
  }
  return name == "local_timer" ? WaitTimer : WaitOther;
}

void CallWaits::look_up(NameId syscall) {
  if (syscall >= known_.size()) known_.resize(syscall + 1);
  const std::string_view name = names_.text(syscall);
  known_[syscall] = {wait_in(name, false), wait_in(name, true), wait_ended_by_syscall(name)};
}

bool is_kernel_thread_name(std::string_view name) {
  constexpr std::string_view kExact[] = {"kthreadd",    "kcompactd0", "khugepaged", "kauditd",
                                         "kdevtmpfs",   "khungtaskd", "ksmd",       "oom_reaper",
                                         "rcu_preempt", "rcu_sched",  "rcu_gp",     "rcu_par_gp"};
  constexpr std::string_view kPrefixes[] = {"kworker/", "ksoftirqd/", "migration/", "cpuhp/",
                                            "irq/",     "jbd2/",      "kswapd",     "rcuop/",
                                            "rcuos/",   "rcuc/",      "watchdog/",  "idle_inject/"};
  return std::ranges::find(kExact, name) != std::end(kExact) ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

}  // namespace strata::state
