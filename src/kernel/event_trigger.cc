// SPDX-License-Identifier: Apache-2.0
#include "kernel/event_trigger.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/perf_event.h"
#include "kernel/tracepoint.h"

namespace strata::kernel {
namespace {

// Perf's own page, and one for the records, of which nothing is used but that they come.
size_t ring_size() { return size_t{2} * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Result<std::unique_ptr<Trigger>> EventTrigger::open(const Tracefs& tracefs, const TriggerSpec& spec,
                                                    const std::vector<uint32_t>& cpus) {
  const Result<trace::EventType> type = find_tracepoint(tracefs, spec.event);
  if (!type) return type.error();
  std::string filter = "common_pid != " + std::to_string(getpid());
  if (!spec.filter.empty()) filter = "(" + spec.filter + ") && " + filter;
  std::unique_ptr<EventTrigger> trigger(new EventTrigger(spec.text));
  for (const uint32_t cpu : cpus) {
    if (Status status = trigger->add_cpu(type->id, filter, cpu); !status)
      return Error{spec.event, std::nullopt, status.error().cause};
  }
  return std::unique_ptr<Trigger>(std::move(trigger));
}

EventTrigger::~EventTrigger() {
  for (const Counter& counter : counters_) {
    if (counter.ring != nullptr) munmap(counter.ring, ring_size());
  }
}

Status EventTrigger::add_cpu(uint32_t tracepoint, const std::string& filter, uint32_t cpu) {
  perf_event_attr attributes = perf_attributes(PERF_TYPE_TRACEPOINT, tracepoint);
  attributes.sample_period = 1;
  attributes.wakeup_events = 1;
  attributes.disabled = 1;
  Counter counter{FileDescriptor(open_perf_event(attributes, -1, static_cast<int>(cpu), -1))};
  if (!counter.file && errno == ENODEV) return {};  // this CPU is offline
  if (!counter.file) return system_error("", "cannot be watched", errno);
  if (ioctl(counter.file.get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0)
    return Error{"", std::nullopt, "the kernel does not take the filter '" + filter + "'"};
  void* ring =
      mmap(nullptr, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, counter.file.get(), 0);
  if (ring == MAP_FAILED) return system_error("", "cannot be watched", errno);
  counter.ring = ring;
  counters_.push_back(std::move(counter));
  if (ioctl(counters_.back().file.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    return system_error("", "cannot be watched", errno);
  return {};
}

std::vector<int> EventTrigger::files() const {
  std::vector<int> files;
  for (const Counter& counter : counters_) files.push_back(counter.file.get());
  return files;
}

// The count is exact, whatever became of the records.
uint64_t EventTrigger::take() {
  uint64_t sum = 0;
  for (const Counter& counter : counters_) {
    auto* page = static_cast<perf_event_mmap_page*>(counter.ring);
    __atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
    uint64_t count = 0;
    if (read(counter.file.get(), &count, sizeof count) == sizeof count) sum += count;
  }
  const uint64_t before = std::exchange(taken_, sum);
  return sum > before ? sum - before : 0;
}

}  // namespace strata::kernel
