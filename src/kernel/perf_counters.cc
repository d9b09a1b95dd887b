// SPDX-License-Identifier: Apache-2.0
#include "kernel/perf_counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "kernel/perf_event.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

// Members of a group must have their leader's clock.
perf_event_attr group_attributes(uint32_t type, uint64_t config) {
  perf_event_attr attributes = perf_attributes(type, config);
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC_RAW;
  return attributes;
}

Error opening_failed(const std::string& name, const std::string& what, int error) {
  return {name, std::nullopt, what + ' ' + why_not_counted(error)};
}

}  // namespace

Result<CounterGroup> CounterGroup::open(const CounterGroupOptions& options) {
  CounterGroup group;
  group.cpu_ = options.cpu;
  if (options.read_at.empty())
    return Error{group.name(), std::nullopt, "no event says when to read them"};
  if (Status status = group.open_events(options); !status) return std::move(status).error();
  return group;
}

CounterGroup::CounterGroup(CounterGroup&& other) noexcept
    : cpu_(other.cpu_),
      tracepoints_(other.tracepoints_),
      events_(std::move(other.events_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      ring_(other.ring_),
      tail_(other.tail_),
      head_(other.head_) {}

CounterGroup::~CounterGroup() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Status CounterGroup::open_events(const CounterGroupOptions& options) {
  for (const uint32_t tracepoint : options.read_at) {
    const bool leads = events_.empty();
    perf_event_attr attributes = group_attributes(PERF_TYPE_TRACEPOINT, tracepoint);
    attributes.sample_period = 1;
    // Which CPU it was the ring tells, which event and thread the tracepoint's record.
    attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_RAW;
    attributes.disabled = leads ? 1 : 0;
    attributes.pinned = leads ? 1 : 0;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<uint32_t>(options.ring_size / 2);
    FileDescriptor event(
        open_perf_event(attributes, -1, static_cast<int>(cpu_), leads ? -1 : events_[0].get()));
    if (!event) return opening_failed(name(), "event number " + std::to_string(tracepoint), errno);
    events_.push_back(std::move(event));
    if (leads) {
      if (Status status = map_ring(options.ring_size); !status) return status;
    } else if (ioctl(events_.back().get(), PERF_EVENT_IOC_SET_OUTPUT, events_[0].get()) != 0) {
      return system_error(name(), "cannot share a ring", errno);
    }
  }
  tracepoints_ = events_.size();
  for (const Counter& counter : options.counters) {
    const perf_event_attr attributes = group_attributes(counter.type, counter.config);
    FileDescriptor event(open_perf_event(attributes, -1, static_cast<int>(cpu_), events_[0].get()));
    if (!event) return opening_failed(name(), "'" + counter.name + "'", errno);
    events_.push_back(std::move(event));
  }
  return {};
}

Status CounterGroup::map_ring(size_t ring_size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (ring_size < page || (ring_size & (ring_size - 1)) != 0)
    return Error{name(), std::nullopt, "the size of a ring must be a power of two of pages"};
  // To be written to: only then does the kernel keep what was not read, and counts what is lost.
  const Privilege privilege{Capability::IpcLock};
  void* mapping =
      mmap(nullptr, page + ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, events_[0].get(), 0);
  if (mapping == MAP_FAILED) {
    if (errno == EPERM)
      return Error{name(), std::nullopt,
                   "a ring of " + std::to_string(ring_size / 1024) +
                       " kB is more than this user may have (kernel.perf_event_mlock_kb)"};
    return system_error(name(), "cannot map a ring", errno);
  }
  mapping_ = mapping;
  mapped_ = page + ring_size;
  ring_ = {static_cast<const std::byte*>(mapping) + page, ring_size};
  return {};
}

Status CounterGroup::leave_out(size_t tracepoint, const std::vector<pid_t>& threads) {
  std::string filter;
  for (const pid_t thread : threads)
    (filter += filter.empty() ? "" : " && ") += "common_pid != " + std::to_string(thread);
  if (filter.empty()) return {};
  if (ioctl(events_.at(tracepoint).get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0)
    return system_error(name(), "cannot leave out threads", errno);
  return {};
}

Status CounterGroup::enable() {
  if (ioctl(events_[0].get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    return system_error(name(), "cannot begin", errno);
  // A pinned group that found no place reads as nothing.
  Result<uint64_t> count = occurrences();
  return count ? Status() : Status(std::move(count).error());
}

Status CounterGroup::disable() {
  if (ioctl(events_[0].get(), PERF_EVENT_IOC_DISABLE, 0) != 0)
    return system_error(name(), "cannot end", errno);
  return {};
}

Result<uint64_t> CounterGroup::occurrences() const {
  std::vector<uint64_t> values(1 + events_.size());
  const size_t size = values.size() * sizeof(uint64_t);
  const ssize_t got = read(events_[0].get(), values.data(), size);
  if (got < 0) return system_error(name(), "cannot read", errno);
  if (static_cast<size_t>(got) != size)
    return Error{name(), std::nullopt,
                 "are not counted: the processor cannot count so much at the same time"};
  uint64_t sum = 0;
  for (size_t i = 0; i < tracepoints_; ++i) sum += values[1 + i];
  return sum;
}

PerfRecords CounterGroup::pending() {
  auto* page = static_cast<perf_event_mmap_page*>(mapping_);
  // Records up to the head were written before it.
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  // Never more than there is, whatever the page says.
  head_ = tail_ + std::min<uint64_t>(head - tail_, ring_.size());
  const size_t begin = tail_ % ring_.size();
  const size_t size = head_ - tail_;
  const size_t first = std::min(size, ring_.size() - begin);
  return {ring_.subspan(begin, first), ring_.first(size - first), events_.size()};
}

void CounterGroup::release() {
  auto* page = static_cast<perf_event_mmap_page*>(mapping_);
  tail_ = head_;
  // What was read was read before this.
  __atomic_store_n(&page->data_tail, tail_, __ATOMIC_RELEASE);
}

}  // namespace strata::kernel
