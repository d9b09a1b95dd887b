// SPDX-License-Identifier: Apache-2.0
#include "live/counter_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kernel/cpu_list.h"
#include "kernel/perf_event.h"
#include "live/bpf/counters.skel.h"

namespace strata::live {
namespace {

const std::string kWhat = "to watch performance counters";

// Whether programs in the kernel can read it, which only trying tells.
bool is_readable(int event) {
  const FileDescriptor map(bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, nullptr, sizeof(uint32_t),
                                          sizeof(uint32_t), 1, nullptr));
  const uint32_t first = 0;
  return map && bpf_map_update_elem(map.get(), &first, &event, BPF_ANY) == 0;
}

}  // namespace

Result<std::unique_ptr<CounterWatch>> CounterWatch::open(
    const TaskPrograms& tasks, const std::vector<kernel::Counter>& wanted) {
  std::unique_ptr<CounterWatch> watch(new CounterWatch);
  if (Status status = watch->open_events(wanted); !status) return std::move(status).error();
  if (Status status = watch->load(tasks); !status) return std::move(status).error();
  return watch;
}

CounterWatch::~CounterWatch() = default;

Status CounterWatch::open_events(const std::vector<kernel::Counter>& wanted) {
  Result<std::vector<uint32_t>> cpus = kernel::online_cpus();
  if (!cpus) return std::move(cpus).error();
  cpus_ = std::move(*cpus);
  for (const kernel::Counter& counter : wanted) {
    const std::optional<period::Column> column = period::column_of_counter(counter.name);
    const std::string why = column ? open_event(counter, *column) : "has no column in tables";
    if (!why.empty()) refusal_ += (refusal_.empty() ? "'" : "; '") + counter.name + "' " + why;
  }
  if (!events_.empty()) return {};
  return Error{"", std::nullopt,
               refusal_.empty() ? "this machine has no performance counters" : refusal_};
}

std::string CounterWatch::open_event(const kernel::Counter& counter, period::Column column) {
  if (events_.size() == kCounters)
    return "is one too many: " + std::to_string(kCounters) + " are counted at a time";
  std::vector<FileDescriptor> events;
  int any = -1;
  for (const uint32_t cpu : cpus_) {
    const perf_event_attr attributes = kernel::perf_attributes(counter.type, counter.config);
    FileDescriptor event(kernel::open_perf_event(attributes, -1, static_cast<int>(cpu), -1));
    if (!event && errno != ENODEV) return kernel::why_not_counted(errno);
    if (event) any = event.get();
    events.push_back(std::move(event));
  }
  if (any < 0) return kernel::why_not_counted(ENODEV);
  if (!is_readable(any)) return "cannot be read by eBPF programs on this kernel";
  if (counter.type != PERF_TYPE_SOFTWARE) takes_turns_ |= 1u << events_.size();
  events_.push_back(std::move(events));
  columns_.push_back(column);
  return {};
}

Status CounterWatch::load(const TaskPrograms& tasks) {
  auto opened = kernel::open_ebpf<::counters>(kWhat);
  if (!opened) return std::move(opened).error();
  programs_ = std::move(*opened);
  ::counters& all = *programs_;
  const size_t cpus = tasks.memory().cpus.size();
  const auto count = static_cast<uint32_t>(events_.size());
  all.rodata->counter_count = count;
  all.rodata->takes_turns = takes_turns_;
  bpf_map__set_max_entries(all.maps.counters, static_cast<uint32_t>(cpus) * count);
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
  for (uint32_t i = 0; i < count; ++i) {
    for (size_t at = 0; at < cpus_.size(); ++at) {
      if (!events_[i][at] || cpus_[at] >= cpus) continue;
      const uint32_t place = cpus_[at] * count + i;
      const int event = events_[i][at].get();
      if (bpf_map_update_elem(bpf_map__fd(all.maps.counters), &place, &event, BPF_ANY) != 0)
        return refused(kWhat, errno);
    }
  }
  rows_.emplace(task_counts_.values<Counts>(), cpu_counters_.values<CpuCounters>(), columns_);
  return attach_all(all.obj, links_);
}

}  // namespace strata::live
