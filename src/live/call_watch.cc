// SPDX-License-Identifier: Apache-2.0
#include "live/call_watch.h"

#include <bpf/libbpf.h>

#include <cerrno>

#include "live/bpf/calls.skel.h"
#include "live/call_meanings.h"

namespace strata::live {

Result<std::unique_ptr<CallWatch>> CallWatch::open(const TaskPrograms& tasks, bool tells_times) {
  const std::string what = "to watch system calls";
  std::unique_ptr<CallWatch> watch(new CallWatch(tasks));
  watch->programs_ = calls__open();
  if (watch->programs_ == nullptr) return refused(what, errno);
  calls& all = *watch->programs_;
  all.rodata->tells_times = tells_times ? 1 : 0;
  if (tells_times)
    bpf_map__set_max_entries(all.maps.call_times,
                             static_cast<uint32_t>(tasks.memory().cpus.size() * kCalls));
  if (Status status = tasks.share_with(all.obj); !status) return std::move(status).error();
  if (calls__load(&all) != 0) return refused(what, errno);
  if (tells_times) {
    Result<MappedMap> times = MappedMap::of(all.maps.call_times, what);
    if (!times) return std::move(times).error();
    watch->times_ = std::move(*times);
  }
  if (Status status = attach_all(all.obj, watch->links_); !status) return std::move(status).error();
  __atomic_store_n(&tasks.memory().control->tells_calls, 1, __ATOMIC_RELEASE);
  return watch;
}

CallWatch::~CallWatch() {
  __atomic_store_n(&tasks_.memory().control->tells_calls, 0, __ATOMIC_RELEASE);
  links_.clear();
  calls__destroy(programs_);
}

void CallWatch::tell(period::Machine& machine) {
  if (tells_times())
    rows_.tell(times_.values<Times>(), {.end = kCalls, .stride = kCalls}, period::Latency::Syscall,
               call_name, machine.latencies);
}

}  // namespace strata::live
