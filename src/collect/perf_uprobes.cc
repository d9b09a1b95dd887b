// SPDX-License-Identifier: Apache-2.0
#include "collect/perf_uprobes.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/small_file.h"

namespace strata::collect {
namespace {

constexpr char kSource[] = "/sys/bus/event_source/devices/uprobe";
constexpr int kCounterShift = 32;  // format/ref_ctr_offset: "config:32-63"

// The number by which this kernel knows the source; none where it has none, or one without
// reference counters.
std::optional<uint32_t> read_type() {
  const Result<std::string> format =
      read_small_file(std::string(kSource) + "/format/ref_ctr_offset");
  const Result<std::string> text = read_small_file(std::string(kSource) + "/type");
  if (!format || !text) return std::nullopt;
  uint32_t type = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), type);
  return error == std::errc{} ? std::optional(type) : std::nullopt;
}

}  // namespace

Result<PerfUprobes> PerfUprobes::open(const std::string& path, std::span<const FileSite> sites,
                                      pid_t process) {
  const std::optional<uint32_t> type = read_type();
  if (!type)
    return Error{path, std::nullopt, "this kernel has no uprobes with reference counters for perf"};
  std::vector<FileDescriptor> events;
  for (const FileSite& site : sites) {
    if (site.flag_offset > UINT32_MAX)
      return Error{path, site.flag_offset, "the flag of a probe lies beyond what perf can name"};
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = *type;
    attributes.config = site.flag_offset << kCounterShift;
    attributes.config1 = reinterpret_cast<uintptr_t>(path.c_str());
    attributes.config2 = site.anchor_offset;
    attributes.disabled = 1;  // nothing is to be counted; the uprobe is there all the same
    // In all processes: of one CPU, as perf wants it. The uprobe itself is everywhere.
    const pid_t target = process == 0 ? -1 : process;
    const int cpu = process == 0 ? sched_getcpu() : -1;
    FileDescriptor event(static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, target, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event) return system_error(path, "cannot switch its probes on by perf", errno);
    events.push_back(std::move(event));
  }
  return PerfUprobes(std::move(events));
}

}  // namespace strata::collect
