// SPDX-License-Identifier: Apache-2.0
#include "record/own_threads.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace strata::record {
namespace {

// Of RingDrain's threads and of the session's loop, which reads and writes by rare calls
// (base/rare_calls.h) so that the usual ones need no filter.
constexpr std::string_view kOwnCalls[] = {"poll",      "splice",          "preadv2",
                                          "pwritev2",  "openat2",         "getdents64",
                                          "fdatasync", "sync_file_range", "close_range"};

constexpr std::string_view kQuietSystems[] = {
    "block", "exceptions", "irq",    "irq_vectors", "ipi",  "kvm",   "net",
    "power", "sched",      "signal", "syscalls",    "task", "cpuhp", "cgroup"};

bool is_own_call(const kernel::EventChoice& event) {
  if (event.system != "syscalls") return false;
  std::string_view name = event.name;
  for (const std::string_view prefix : {"sys_enter_", "sys_exit_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return std::ranges::find(kOwnCalls, name) != std::end(kOwnCalls);
}

// Reading a cgroup's statistics brings them up to date, of which these tell.
bool is_of_cgroup_statistics(const kernel::EventChoice& event) {
  return event.system == "cgroup" && event.name.starts_with("cgroup_rstat");
}

bool is_one_of(const std::string& name, auto& names) {
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

bool filters_suffice(const std::vector<kernel::EventChoice>& events) {
  return std::ranges::all_of(events, [](const kernel::EventChoice& event) {
    return is_one_of(event.system, kQuietSystems) && !is_of_cgroup_statistics(event) &&
           (event.filter.empty() || !is_one_of(event.system, kBusySystems));
  });
}

std::vector<kernel::EventChoice> own_calls(const std::vector<kernel::EventChoice>& events) {
  std::vector<kernel::EventChoice> own;
  std::ranges::copy_if(events, std::back_inserter(own), is_own_call);
  return own;
}

// Threads that are made one after the other mostly have numbers one after the other.
std::string none_of(std::vector<pid_t> threads) {
  std::ranges::sort(threads);
  std::string filter;
  for (size_t begin = 0, end = 0; begin < threads.size(); begin = end) {
    for (end = begin + 1; end < threads.size() && threads[end] <= threads[end - 1] + 1;) ++end;
    if (!filter.empty()) filter += " && ";
    filter += "(common_pid < " + std::to_string(threads[begin]) + " || common_pid > " +
              std::to_string(threads[end - 1]) + ")";
  }
  return filter;
}

}  // namespace strata::record
