// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/proc_text.h"
#include "kernel/socket_text.h"
#include "kernel/state_clock.h"

namespace strata::kernel {

// The processes and threads of this machine, what they have open, and where they belong.

// The inode numbers of the namespaces a process is in; 0: not told.
struct Namespaces {
  uint32_t cgroup = 0;
  uint32_t ipc = 0;
  uint32_t mnt = 0;
  uint32_t net = 0;
  uint32_t pid = 0;
  uint32_t time = 0;
  uint32_t user = 0;
  uint32_t uts = 0;

  bool operator==(const Namespaces&) const = default;
};

struct Thread {
  int32_t tid = 0;
  std::string name;
  char state = '?';      // as ps(1) shows it
  int32_t cpu = -1;      // where it ran last
  int64_t start_ns = 0;  // on CLOCK_BOOTTIME, to 10 ms
  // Its number in each pid namespace, from ours to its own.
  std::vector<int32_t> pids;
};

struct Descriptor {
  int32_t number = 0;
  bool reads = false;
  bool writes = false;
  std::string path;  // or "socket:[17]", "pipe:[18]", "anon_inode:[eventpoll]"
};

struct Process {
  uint64_t read_at = 0;  // on the state's clock
  int32_t pid = 0;
  int32_t parent = 0;
  int32_t uid = -1;  // real; -1: not told
  int32_t gid = -1;
  int32_t effective_uid = -1;
  bool kernel_thread = false;
  uint64_t rss_kb = 0;
  std::string cgroup;  // "/" where it is in none
  std::optional<Container> container;
  Namespaces namespaces;
  std::vector<Thread> threads;  // the first is the process's own, tid = pid

  uint64_t descriptors_at = 0;     // when they were read
  bool descriptors_known = false;  // false: this user may not see them
  std::vector<Descriptor> descriptors;
};

// The sockets of one network namespace.
struct SocketTable {
  uint64_t read_at = 0;
  uint32_t net_namespace = 0;
  std::vector<Socket> sockets;
};

struct ProcessState {
  std::vector<Process> processes;
  std::vector<SocketTable> sockets;  // of the namespaces in which a process has a socket open
};

// All of them, from /proc. A process that ends meanwhile is there or not; one that begins after its
// number was passed is not.
Result<ProcessState> gather_processes(StateClock clock);

}  // namespace strata::kernel
