// SPDX-License-Identifier: Apache-2.0
#include "kernel/cgroup_throttling.h"

#include <fcntl.h>

#include <array>
#include <limits>
#include <utility>

#include "base/rare_calls.h"
#include "base/small_file.h"
#include "kernel/open_folder.h"
#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr size_t kMostCgroups = 8192;  // that are looked at

// mountinfo writes blanks and backslashes within a path as "\040".
std::string unescaped(std::string_view text) {
  std::string path;
  while (!text.empty()) {
    const auto code = text.front() == '\\' && text.size() >= 4
                          ? whole_number<uint8_t>(text.substr(1, 3), 8)
                          : std::nullopt;
    path += code ? static_cast<char>(*code) : text.front();
    text.remove_prefix(code ? 4 : 1);
  }
  return path;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (take_until(list, ',') == word) return true;
  return false;
}

// A line: number, parent, device, root, mount point, options, more of them up to a "-", the file
// system, what is mounted, the file system's own options.
std::optional<CpuHierarchy> parse_mount(std::string_view line) {
  for (int i = 0; i < 3; ++i) take_word(line);
  const std::string_view root = take_word(line);
  const std::string_view path = take_word(line);
  for (std::string_view word = take_word(line); word != "-"; word = take_word(line))
    if (word.empty()) return std::nullopt;
  const std::string_view kind = take_word(line);
  take_word(line);
  const bool unified = kind == "cgroup2";
  if (!unified && (kind != "cgroup" || !has_word(take_word(line), "cpu"))) return std::nullopt;
  if (!root.starts_with('/') || !path.starts_with('/')) return std::nullopt;
  return CpuHierarchy{unescaped(path), unescaped(root), unified};
}

}  // namespace

std::optional<CpuHierarchy> parse_cpu_hierarchy(std::string_view mountinfo) {
  std::optional<CpuHierarchy> best;
  // Where version 1 has the controller, version 2 has not; then, the more is mounted the better.
  const auto worth = [](const CpuHierarchy& hierarchy) {
    return std::pair(!hierarchy.unified, hierarchy.root == "/");
  };
  while (!mountinfo.empty()) {
    std::optional<CpuHierarchy> mount = parse_mount(take_line(mountinfo));
    if (mount && (!best || worth(*mount) > worth(*best))) best = std::move(mount);
  }
  return best;
}

std::optional<CpuHierarchy> find_cpu_hierarchy() {
  const Result<std::string> mounts = read_small_file("/proc/self/mountinfo", size_t{16} << 20);
  return mounts ? parse_cpu_hierarchy(*mounts) : std::nullopt;
}

// "50000 100000", quota and period; "max 100000" and "-1" are none.
bool has_cpu_limit(std::string_view text) {
  text = trimmed(text);
  return whole_number<uint64_t>(take_word(text)).value_or(0) > 0;
}

std::optional<CpuThrottling> parse_cpu_stat(std::string_view text) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  std::optional<uint64_t> periods, throttled, throttled_ns;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_word(line);
    const std::optional<uint64_t> value = whole_number<uint64_t>(trimmed(line));
    if (!value) continue;
    if (name == "nr_periods") periods = value;
    if (name == "nr_throttled") throttled = value;
    if (name == "throttled_time") throttled_ns = value;
    if (name == "throttled_usec" && *value <= kMost / 1000) throttled_ns = *value * 1000;
  }
  if (!periods || !throttled || !throttled_ns) return std::nullopt;
  return CpuThrottling{*periods, *throttled, *throttled_ns};
}

std::optional<CpuThrottling> LimitedCgroup::read() const {
  std::array<char, 4096> text;
  const ssize_t size = rare::read(cpu_stat_.get(), text, 0);
  if (size <= 0) return std::nullopt;
  return parse_cpu_stat({text.data(), static_cast<size_t>(size)});
}

LimitedCgroups find_limited_cgroups(const CpuHierarchy& hierarchy, size_t most,
                                    const std::function<bool(const std::string&)>& is_known) {
  LimitedCgroups cgroups;
  const OpenFolder top(hierarchy.path.c_str());
  const char* limit_file = hierarchy.unified ? "cpu.max" : "cpu.cfs_quota_us";
  const std::string prefix = hierarchy.root == "/" ? "" : hierarchy.root;
  std::string buffer;
  std::vector<std::string> waiting = {"."};  // paths within the hierarchy
  size_t known = waiting.size();
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    const bool is_top = path == ".";
    const OpenFolder folder(top, path.c_str());
    const auto limit = folder.read(limit_file, buffer, 4096);
    // The controller comes from above: where it is not, it is not below either. The top one of all
    // has no limit.
    if (!limit && !is_top) continue;
    std::string name = is_top ? hierarchy.root : prefix + "/" + path;
    if (limit && has_cpu_limit(*limit) && !is_known(name)) {
      FileDescriptor stat(rare::open(folder.fd(), "cpu.stat", O_RDONLY | O_CLOEXEC));
      if (cgroups.found.size() >= most)
        cgroups.is_all = false;
      else if (stat)
        cgroups.found.emplace_back(std::move(name), std::move(stat));
    }
    folder.each_folder([&](const char* below) {
      if (known >= kMostCgroups) {
        cgroups.is_all = false;
        return;
      }
      ++known;
      waiting.push_back(is_top ? below : path + "/" + below);
    });
  }
  return cgroups;
}

}  // namespace strata::kernel
