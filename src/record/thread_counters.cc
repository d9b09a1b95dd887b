// SPDX-License-Identifier: Apache-2.0
#include "record/thread_counters.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file_descriptor.h"
#include "kernel/perf_event.h"
#include "probe/abi.h"

namespace strata::record {
namespace abi = probe::abi;
namespace {

constexpr size_t kPageSize = 4096;
constexpr const char* kContextNames[] = {"tid",          "comm",         "cpu",          "cycles",
                                         "instructions", "cache-misses", "branch-misses"};
constexpr size_t kFirstCounter = 3;
static_assert(1u << kFirstCounter == abi::counter_context(0));
static_assert(std::size(kContextNames) == kFirstCounter + abi::kCounters);

Error cannot(const std::string& context, const std::string& why) {
  return Error{"", std::nullopt, context + ": " + why};
}

Status check_counter(size_t counter) {
  const std::string context = std::string("--context ") + kContextNames[kFirstCounter + counter];
  perf_event_attr attributes =
      kernel::perf_attributes(PERF_TYPE_HARDWARE, abi::kCounterEvents[counter]);
  attributes.pinned = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const FileDescriptor event(kernel::open_perf_event(attributes, 0, -1, -1));
  if (!event) {
    if (errno == EACCES || errno == EPERM)
      return cannot(context, "not allowed (kernel.perf_event_paranoid)");
    if (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP)
      return cannot(context, "the processor, or the virtual machine, has no such counter");
    return system_error("", context + ": cannot be opened", errno);
  }
  void* const memory = mmap(nullptr, kPageSize, PROT_READ, MAP_SHARED, event.get(), 0);
  if (memory == MAP_FAILED) return system_error("", context + ": cannot be mapped", errno);
  const bool can = static_cast<const perf_event_mmap_page*>(memory)->cap_user_rdpmc != 0;
  munmap(memory, kPageSize);
  if (!can)
    return cannot(context,
                  "the kernel does not let programs read it (rdpmc; see "
                  "/sys/bus/event_source/devices/cpu/rdpmc)");
  return {};
}

}  // namespace

Result<uint32_t> parse_contexts(const std::vector<std::string>& names) {
  uint32_t mask = 0;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(kContextNames, name);
    if (known == std::end(kContextNames))
      return Error{"", std::nullopt,
                   "--context is tid, comm, cpu, cycles, instructions, cache-misses or "
                   "branch-misses, not '" +
                       name + "'"};
    mask |= 1u << (known - std::begin(kContextNames));
  }
  return mask;
}

Status check_thread_counters(uint32_t contexts) {
  for (size_t counter = 0; counter < abi::kCounters; ++counter) {
    if ((contexts & abi::counter_context(counter)) == 0) continue;
    if (Status status = check_counter(counter); !status) return status;
  }
  return {};
}

}  // namespace strata::record
