// SPDX-License-Identifier: Apache-2.0
#include "kernel/counter_names.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_descriptor.h"
#include "kernel/perf_event.h"

namespace strata::kernel {
namespace {

struct Name {
  std::string_view usual;
  std::string_view other;  // may be empty
  uint64_t config;
};

constexpr Name kHardware[] = {
    {"cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", "", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", "", PERF_COUNT_HW_CACHE_MISSES},
    {"branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES},
};

constexpr Name kSoftware[] = {
    {"cpu-clock", "", PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", "", PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS},
    {"cgroup-switches", "", PERF_COUNT_SW_CGROUP_SWITCHES},
};

constexpr Name kCaches[] = {
    {"L1-dcache", "", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", "", PERF_COUNT_HW_CACHE_L1I},
    {"LLC", "", PERF_COUNT_HW_CACHE_LL},        {"dTLB", "", PERF_COUNT_HW_CACHE_DTLB},
    {"iTLB", "", PERF_COUNT_HW_CACHE_ITLB},     {"branch", "", PERF_COUNT_HW_CACHE_BPU},
    {"node", "", PERF_COUNT_HW_CACHE_NODE},
};

// What is done to a cache: all of it, and what missed.
constexpr Name kAccesses[] = {
    {"-loads", "-load-misses", PERF_COUNT_HW_CACHE_OP_READ},
    {"-stores", "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"-prefetches", "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

// Code is not stored to, and branches are not prefetched: perf has no such names.
bool has_access(uint64_t cache, uint64_t operation) {
  if (operation == PERF_COUNT_HW_CACHE_OP_READ) return true;
  if (cache == PERF_COUNT_HW_CACHE_ITLB || cache == PERF_COUNT_HW_CACHE_BPU) return false;
  return cache != PERF_COUNT_HW_CACHE_L1I || operation == PERF_COUNT_HW_CACHE_OP_PREFETCH;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : ", ") += name;
  return text.empty() ? "none" : text;
}

Error not_here(const std::string& what) {
  std::vector<std::string> here;
  for (const Counter& counter : known_counters())
    if (exists_here(counter)) here.push_back(counter.name);
  return {"", std::nullopt, what + "; here there are " + joined(here)};
}

}  // namespace

std::vector<Counter> known_counters() {
  std::vector<Counter> all;
  for (const Name& name : kHardware)
    all.push_back({std::string(name.usual), PERF_TYPE_HARDWARE, name.config});
  for (const Name& name : kSoftware)
    all.push_back({std::string(name.usual), PERF_TYPE_SOFTWARE, name.config});
  for (const Name& cache : kCaches) {
    for (const Name& access : kAccesses) {
      if (!has_access(cache.config, access.config)) continue;
      const uint64_t config = cache.config | access.config << 8;
      const std::string prefix(cache.usual);
      all.push_back({prefix + std::string(access.usual), PERF_TYPE_HW_CACHE,
                     config | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16});
      all.push_back({prefix + std::string(access.other), PERF_TYPE_HW_CACHE,
                     config | PERF_COUNT_HW_CACHE_RESULT_MISS << 16});
    }
  }
  return all;
}

std::optional<Counter> known_counter(std::string_view name) {
  for (const auto& [names, size] :
       {std::pair(kHardware, std::size(kHardware)), std::pair(kSoftware, std::size(kSoftware))}) {
    for (size_t i = 0; i < size; ++i)
      if (!names[i].other.empty() && names[i].other == name) name = names[i].usual;
  }
  for (const Counter& counter : known_counters())
    if (counter.name == name) return counter;
  return std::nullopt;
}

bool exists_here(const Counter& counter) {
  const auto refused = [] { return errno == EACCES || errno == EPERM; };
  perf_event_attr attributes = perf_attributes(counter.type, counter.config);
  attributes.disabled = 1;
  const FileDescriptor event(open_perf_event(attributes, 0, -1, -1));
  if (event || !refused()) return static_cast<bool>(event);
  // Of its own thread and without the kernel everybody may count, as a rule. Who may not even try
  // that cannot know.
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const FileDescriptor own(open_perf_event(attributes, 0, -1, -1));
  return own || refused();
}

std::string why_not_counted(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "is not there on this machine (hardware counters need a PMU, which a virtual machine "
             "may lack)";
    case EACCES:
    case EPERM:
      return "may not be counted by this user: that needs root or CAP_PERFMON";
    case EMFILE:
      return "needs more open files than this process may have (ulimit -n)";
    case EINVAL:
    case ENOSPC:
      return "does not fit: the processor cannot count so much at the same time";
    default:
      return system_error("", "cannot be counted", error).text();
  }
}

std::vector<Counter> usual_counters() {
  std::vector<Counter> counters;
  const auto add = [&](std::string_view name) {
    const std::optional<Counter> counter = known_counter(name);
    if (counter && exists_here(*counter)) counters.push_back(*counter);
  };
  for (const std::string_view name : {"cycles", "instructions", "cache-misses", "branch-misses"})
    add(name);
  if (!counters.empty()) return counters;
  for (const std::string_view name :
       {"task-clock", "page-faults", "major-faults", "context-switches", "cpu-migrations"})
    add(name);
  return counters;
}

Result<std::vector<Counter>> known_counters(const std::vector<std::string>& names) {
  std::vector<Counter> counters;
  for (const std::string& name : names) {
    std::optional<Counter> counter = known_counter(name);
    if (!counter) return not_here("no counter is called '" + name + "'");
    if (std::find(counters.begin(), counters.end(), *counter) == counters.end())
      counters.push_back(std::move(*counter));
  }
  return counters;
}

Result<std::vector<Counter>> counters_by_name(const std::vector<std::string>& names) {
  Result<std::vector<Counter>> counters = known_counters(names);
  if (!counters) return counters;
  for (const Counter& counter : *counters)
    if (!exists_here(counter))
      return not_here("this machine does not have the counter '" + counter.name + "'" +
                      (counter.type == PERF_TYPE_SOFTWARE
                           ? ""
                           : " (hardware counters need a PMU, which a virtual machine may lack)"));
  return counters;
}

}  // namespace strata::kernel
