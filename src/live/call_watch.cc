// SPDX-License-Identifier: Apache-2.0
#include "live/call_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>

#include "live/bpf/calls.skel.h"
#include "live/call_meanings.h"

namespace strata::live {

Result<std::unique_ptr<CallWatch>> CallWatch::open(const TaskPrograms& tasks, CallChoice choice,
                                                   const Limits& limits) {
  const std::string what = "to watch system calls";
  std::unique_ptr<CallWatch> watch(new CallWatch(tasks, choice));
  auto opened = kernel::open_ebpf<::calls>(what);
  if (!opened) return std::move(opened).error();
  watch->programs_ = std::move(*opened);
  ::calls& all = *watch->programs_;
  all.rodata->tells_times = choice.times ? 1 : 0;
  all.rodata->tells_traffic = choice.traffic ? 1 : 0;
  if (choice.times)
    bpf_map__set_max_entries(all.maps.call_times,
                             static_cast<uint32_t>(tasks.memory().cpus.size() * kCalls));
  if (choice.traffic) bpf_map__set_max_entries(all.maps.open_files, limits.descriptors);
  if (Status status = tasks.share_with(all.obj); !status) return std::move(status).error();
  if (Status status = kernel::load_ebpf(watch->programs_, what); !status)
    return std::move(status).error();
  if (choice.times) {
    Result<MappedMap> times = MappedMap::of(all.maps.call_times, what);
    if (!times) return std::move(times).error();
    watch->times_ = std::move(*times);
  }
  if (choice.traffic) {
    watch->keys_.resize(limits.descriptors);
    watch->opens_.resize(limits.descriptors);
  }
  if (Status status = attach_all(all.obj, watch->links_); !status) return std::move(status).error();
  __atomic_store_n(&tasks.memory().control->tells_calls, 1, __ATOMIC_RELEASE);
  return watch;
}

CallWatch::CallWatch(const TaskPrograms& tasks, CallChoice choice)
    : tasks_(tasks), choice_(choice) {}

CallWatch::~CallWatch() {
  __atomic_store_n(&tasks_.memory().control->tells_calls, 0, __ATOMIC_RELEASE);
}

void CallWatch::tell(period::Machine& machine) {
  if (choice_.times)
    rows_.tell(times_.values<Times>(), {.end = kCalls, .stride = kCalls}, period::Latency::Syscall,
               call_name, machine.latencies);
  if (choice_.traffic) tell_traffic(machine);
}

// All entries by one system call or two, however many there are.
void CallWatch::tell_traffic(period::Machine& machine) {
  const int map = bpf_map__fd(programs_->maps.open_files);
  uint32_t size = 0;
  uint32_t place = 0;
  for (bool is_first = true; size < keys_.size(); is_first = false) {
    auto count = static_cast<uint32_t>(keys_.size() - size);
    const int status = bpf_map_lookup_batch(map, is_first ? nullptr : &place, &place, &keys_[size],
                                            &opens_[size], &count, nullptr);
    if (status == 0 || errno == ENOENT) size += count;
    if (status != 0) break;
  }
  open_rows_.tell({keys_.data(), size}, {opens_.data(), size}, machine);

  // Who has been idle for a while makes room; where there is little of it, who is idle.
  constexpr uint32_t kWhile = 3;
  const std::vector<OpenKey> idle = open_rows_.idle_since(size > keys_.size() / 4 * 3 ? 1 : kWhile);
  if (idle.empty()) return;
  auto count = static_cast<uint32_t>(idle.size());
  bpf_map_delete_batch(map, idle.data(), &count, nullptr);
  open_rows_.forget(idle);
}

}  // namespace strata::live
