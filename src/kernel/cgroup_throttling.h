// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"

namespace strata::kernel {

// A control group may have a limit to the CPU time that it gets in a period. Who has used it up is
// throttled: runs no more until the next period. No tracepoint tells of it; cpu.stat counts it.

// Where the cgroups are that can have such limits. Linux has the CPU controller in one hierarchy:
// that of version 2, or one of version 1.
struct CpuHierarchy {
  std::string path;      // where it is mounted
  std::string root;      // which of its cgroups is mounted there: "/", all of it
  bool unified = false;  // version 2

  bool operator==(const CpuHierarchy&) const = default;
};

// From /proc/self/mountinfo. Nothing: it is not mounted.
std::optional<CpuHierarchy> parse_cpu_hierarchy(std::string_view mountinfo);
std::optional<CpuHierarchy> find_cpu_hierarchy();

// The text of cpu.max (version 2) or of cpu.cfs_quota_us (version 1).
bool has_cpu_limit(std::string_view text);

// Since the cgroup was made.
struct CpuThrottling {
  uint64_t periods = 0;       // in which it wanted to run
  uint64_t throttled = 0;     // in how many of these it was throttled
  uint64_t throttled_ns = 0;  // for how long: the sum over all CPUs

  bool operator==(const CpuThrottling&) const = default;
};

// The text of cpu.stat, of either version. Nothing: it does not tell all of it.
std::optional<CpuThrottling> parse_cpu_stat(std::string_view text);

// A cgroup that has a limit, kept open.
class LimitedCgroup {
 public:
  LimitedCgroup(std::string name, FileDescriptor cpu_stat)
      : name_(std::move(name)), cpu_stat_(std::move(cpu_stat)) {}

  // As /proc/PID/cgroup tells it.
  const std::string& name() const { return name_; }
  // One system call. Nothing: the cgroup is gone.
  std::optional<CpuThrottling> read() const;

 private:
  std::string name_;
  FileDescriptor cpu_stat_;
};

struct LimitedCgroups {
  std::vector<LimitedCgroup> found;
  bool is_all = true;  // otherwise there are more of them than are looked at
};

// Searches the hierarchy for cgroups that have a limit and are not known yet; gives no more than
// `most`.
LimitedCgroups find_limited_cgroups(const CpuHierarchy& hierarchy, size_t most,
                                    const std::function<bool(const std::string&)>& is_known);

}  // namespace strata::kernel
