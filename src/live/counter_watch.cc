// SPDX-License-Identifier: Apache-2.0
#include "live/counter_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

#include "kernel/cpu_list.h"
#include "kernel/perf_event.h"
#include "live/bpf/counters.skel.h"

namespace strata::live {
namespace {

const std::string kWhat = "to watch performance counters";

}  // namespace

Result<std::unique_ptr<CounterWatch>> CounterWatch::open(
    const TaskPrograms& tasks, const std::vector<kernel::Counter>& wanted) {
  std::unique_ptr<CounterWatch> watch(new CounterWatch);
  if (Status status = watch->open_events(wanted, tasks.memory().cpus.size()); !status)
    return std::move(status).error();
  if (Status status = watch->load(tasks); !status) return std::move(status).error();
  return watch;
}

CounterWatch::~CounterWatch() = default;

Status CounterWatch::open_events(const std::vector<kernel::Counter>& wanted, size_t cpus) {
  Result<std::vector<uint32_t>> online = kernel::online_cpus();
  if (!online) return std::move(online).error();
  cpus_ = std::move(*online);
  std::erase_if(cpus_, [&](uint32_t cpu) { return cpu >= cpus; });
  events_ = FileDescriptor(bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "counters",
                                          sizeof(uint32_t), sizeof(uint32_t),
                                          static_cast<uint32_t>(cpus * kCounters), nullptr));
  if (!events_) return refused(kWhat, errno);
  for (const kernel::Counter& counter : wanted)
    if (const std::string why = open_event(counter); !why.empty())
      refusal_ += (refusal_.empty() ? "'" : "; '") + counter.name + "' " + why;
  if (!columns_.empty()) return {};
  return Error{"", std::nullopt,
               refusal_.empty() ? "this machine has no performance counters" : refusal_};
}

std::string CounterWatch::open_event(const kernel::Counter& counter) {
  const std::optional<period::Column> column = period::column_of_counter(counter.name);
  if (!column) return "has no column in tables";
  if (columns_.size() == kCounters)
    return "is one too many: " + std::to_string(kCounters) + " are counted at a time";
  std::string why = kernel::why_not_counted(ENODEV);  // unless a CPU has it
  for (const uint32_t cpu : cpus_) {
    const perf_event_attr attributes = kernel::perf_attributes(counter.type, counter.config);
    const FileDescriptor event(kernel::open_perf_event(attributes, -1, static_cast<int>(cpu), -1));
    if (!event && errno == ENODEV) continue;  // it has gone meanwhile
    if (!event) return kernel::why_not_counted(errno);
    const uint32_t place = cpu * kCounters + static_cast<uint32_t>(columns_.size());
    const int descriptor = event.get();
    if (bpf_map_update_elem(events_.get(), &place, &descriptor, BPF_ANY) != 0)
      return "cannot be read by eBPF programs on this kernel";
    why.clear();
  }
  if (!why.empty()) return why;
  if (counter.type != PERF_TYPE_SOFTWARE) takes_turns_ |= 1u << columns_.size();
  columns_.push_back(*column);
  return {};
}

Status CounterWatch::load(const TaskPrograms& tasks) {
  auto opened = kernel::open_ebpf<::counters>(kWhat);
  if (!opened) return std::move(opened).error();
  programs_ = std::move(*opened);
  ::counters& all = *programs_;
  const size_t cpus = tasks.memory().cpus.size();
  all.rodata->counter_count = static_cast<uint32_t>(columns_.size());
  all.rodata->takes_turns = takes_turns_;
  if (bpf_map__reuse_fd(all.maps.counters, events_.get()) != 0) return refused(kWhat, errno);
  bpf_map__set_max_entries(all.maps.cpu_counters, static_cast<uint32_t>(cpus));
  bpf_map__set_max_entries(all.maps.task_counts,
                           static_cast<uint32_t>(tasks.memory().tasks.size()));
  if (Status status = tasks.share_with(all.obj); !status) return status;
  if (Status status = kernel::load_ebpf(programs_, kWhat); !status) return status;
  for (const auto& [from, to] : {std::pair{all.maps.task_counts, &task_counts_},
                                 std::pair{all.maps.cpu_counters, &cpu_counters_}}) {
    Result<MappedMap> mapped = MappedMap::of(from, bpf_map__name(from));
    if (!mapped) return std::move(mapped).error();
    *to = std::move(*mapped);
  }
  rows_.emplace(task_counts_.values<Counts>(), cpu_counters_.values<CpuCounters>(), columns_);
  return attach_all(all.obj, links_);
}

}  // namespace strata::live
