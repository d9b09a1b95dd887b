// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::kernel {

// What /proc/PID holds, as text. A process may end while it is read, and its name is whatever it
// wants: anything may be cut off or odd, and then there is nothing or what there was.

// /proc/PID/stat, and of a thread /proc/PID/task/TID/stat.
struct StatText {
  int32_t tid = 0;
  std::string_view name;  // may hold any character, ')' too
  char state = '?';       // R, S, D, Z, ...
  int32_t parent = 0;
  bool kernel_thread = false;
  uint64_t threads = 0;
  uint64_t start_ticks = 0;  // since boot, 100 a second
  int32_t cpu = -1;          // where it ran last
};
std::optional<StatText> parse_stat(std::string_view text);

// /proc/PID/status
struct StatusText {
  int32_t uid = -1;  // real
  int32_t gid = -1;
  int32_t effective_uid = -1;
  uint64_t rss_kb = 0;
  std::vector<int32_t> pids;  // NSpid: its number in each pid namespace, from ours to its own
};
StatusText parse_status(std::string_view text);

// /proc/PID/cgroup: the path in the unified hierarchy; where that is not in use, in that of the CPU
// controller, which is the one that samples of throttling name; otherwise the longest of the
// others'.
// "/" where it is in none.
std::string_view parse_cgroup(std::string_view text);

// The number in what a link leads to: "net:[4026531833]", "socket:[17]".
std::optional<uint64_t> parse_numbered_link(std::string_view link, std::string_view kind);

// The container that a cgroup belongs to, as its path tells.
struct Container {
  std::string kind;  // "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc"
  std::string name;  // lxc's name; of the others, the 64 digits of their id

  bool operator==(const Container&) const = default;
};
std::optional<Container> container_of(std::string_view cgroup);

}  // namespace strata::kernel
