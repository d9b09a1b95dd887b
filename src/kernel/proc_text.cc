// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_text.h"

#include <array>

#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr uint64_t kKernelThreadFlag = 0x0020'0000;  // PF_KTHREAD
constexpr size_t kMostNamespaces = 33;               // the kernel nests 32 at most

bool is_id(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The id in "<before><id>.scope", or in "<before><id>".
std::optional<std::string_view> id_behind(std::string_view name, std::string_view before) {
  if (!name.starts_with(before)) return std::nullopt;
  name.remove_prefix(before.size());
  if (name.ends_with(".scope")) name.remove_suffix(6);
  if (!is_id(name)) return std::nullopt;
  return name;
}

}  // namespace

std::optional<StatText> parse_stat(std::string_view text) {
  // The name stands in parentheses and may hold some: the last one ends it.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  StatText stat;
  const auto tid = whole_number<int32_t>(trimmed(text.substr(0, open)));
  if (!tid || *tid < 0) return std::nullopt;
  stat.tid = *tid;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = trimmed(text.substr(close + 1));
  // Numbered as proc(5) does, from 1.
  for (int number = 3; number <= 39; ++number) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return std::nullopt;
    switch (number) {
      case 3:
        stat.state = word.front();
        break;
      case 4:
        stat.parent = whole_number<int32_t>(word).value_or(0);
        break;
      case 9:
        stat.kernel_thread = (whole_number<uint64_t>(word).value_or(0) & kKernelThreadFlag) != 0;
        break;
      case 20:
        stat.threads = whole_number<uint64_t>(word).value_or(0);
        break;
      case 22:
        stat.start_ticks = whole_number<uint64_t>(word).value_or(0);
        break;
      case 39:
        stat.cpu = whole_number<int32_t>(word).value_or(-1);
        break;
      default:
        break;
    }
  }
  return stat;
}

StatusText parse_status(std::string_view text) {
  StatusText status;
  const auto number = [](std::string_view& words) {
    return static_cast<int32_t>(whole_number<uint32_t>(take_word(words)).value_or(UINT32_MAX));
  };
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = take_until(line, ':');
    if (key == "Uid") {
      status.uid = number(line);
      status.effective_uid = number(line);
    } else if (key == "Gid") {
      status.gid = number(line);
    } else if (key == "VmRSS") {
      status.rss_kb = whole_number<uint64_t>(take_word(line)).value_or(0);
    } else if (key == "NSpid") {
      status.pids.clear();
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        const auto pid = whole_number<int32_t>(word);
        if (!pid || *pid < 0 || status.pids.size() == kMostNamespaces) break;
        status.pids.push_back(*pid);
      }
    }
    // What is behind it is long, and nothing of it is wanted.
    if (key == "VmRSS") break;
  }
  return status;
}

std::string_view parse_cgroup(std::string_view text) {
  std::string_view longest = "/";
  std::string_view cpu = "/";
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view hierarchy = take_until(line, ':');
    std::string_view controllers = take_until(line, ':');
    if (!line.starts_with('/')) continue;
    if (hierarchy == "0" && controllers.empty() && line != "/") return line;
    if (line.size() > longest.size()) longest = line;
    while (!controllers.empty())
      if (take_until(controllers, ',') == "cpu") cpu = line;
  }
  return cpu == "/" ? longest : cpu;
}

std::optional<uint64_t> parse_numbered_link(std::string_view link, std::string_view kind) {
  if (!link.starts_with(kind)) return std::nullopt;
  link.remove_prefix(kind.size());
  if (!link.starts_with(":[") || !link.ends_with(']')) return std::nullopt;
  return whole_number<uint64_t>(link.substr(2, link.size() - 3));
}

std::optional<Container> container_of(std::string_view cgroup) {
  struct Scope {
    std::string_view before;
    std::string_view kind;
  };
  static constexpr std::array<Scope, 4> kScopes = {{{"docker-", "docker"},
                                                    {"libpod-", "podman"},
                                                    {"cri-containerd-", "containerd"},
                                                    {"crio-", "cri-o"}}};
  constexpr std::string_view kLxc = "lxc.payload.";
  std::string_view before;
  bool in_pods = false;
  // The innermost one counts: a container may run containers.
  std::optional<Container> found;
  while (!cgroup.empty()) {
    const std::string_view name = take_until(cgroup, '/');
    if (name.starts_with("kubepods")) in_pods = true;
    for (const Scope& scope : kScopes)
      if (const auto id = id_behind(name, scope.before))
        found = {std::string(scope.kind), std::string(*id)};
    if (is_id(name)) {
      const bool docker = before == "docker";
      if (docker || in_pods) found = {docker ? "docker" : "kubernetes", std::string(name)};
    }
    if (name.starts_with(kLxc) && name.size() > kLxc.size())
      found = {"lxc", std::string(name.substr(kLxc.size()))};
    else if (before == "lxc" && !name.empty())
      found = {"lxc", std::string(name)};
    before = name;
  }
  return found;
}

}  // namespace strata::kernel
