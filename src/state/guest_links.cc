// SPDX-License-Identifier: Apache-2.0
#include "state/guest_links.h"

#include <algorithm>
#include <map>
#include <set>

#include "trace/merge.h"

namespace strata::state {
namespace {

using trace::Word;
using Traces = std::span<const std::unique_ptr<trace::Trace>>;

// More machines than one host runs: what a damaged trace tells is not kept without end.
constexpr size_t kMostUids = 1u << 16;

bool has_word(const trace::Trace& trace, Word word) {
  const auto types = trace.event_types();
  return std::ranges::any_of(
      types, [&](const trace::EventType* type) { return type->meaning.word == word; });
}

// A GUEST option names the guest's trace by its id; the threads are the guest's CPUs.
void add_told(Traces traces, std::span<const size_t> machine_of, std::vector<GuestLink>& links) {
  for (size_t host = 0; host < traces.size(); ++host) {
    for (const trace::GuestInfo& told : traces[host]->info().guests) {
      const auto guest = std::ranges::find_if(traces, [&](const auto& trace) {
        return told.trace_id != 0 && trace->info().trace_id == told.trace_id;
      });
      if (guest == traces.end()) continue;
      GuestLink link{.guest = machine_of[static_cast<size_t>(guest - traces.begin())],
                     .host = machine_of[host],
                     .name = told.name};
      const auto thread = std::ranges::find_if(told.vcpus, [](Tid vcpu) { return vcpu != kNoTid; });
      if (thread != told.vcpus.end()) link.thread = *thread;
      if (link.guest != link.host) links.push_back(std::move(link));
    }
  }
}

// Events with which hosts and guests tell by a number of the virtual machine's who is whose.
class SyncSearch {
 public:
  SyncSearch(Traces traces, std::span<const size_t> machine_of)
      : traces_(traces), machine_of_(machine_of) {
    for (size_t i = 0; i < traces.size(); ++i)
      if (has_word(*traces[i], Word::VmSyncGuest)) wanted_.insert(machine_of[i]);
  }

  void run(std::vector<GuestLink>& links) {
    for (const GuestLink& link : links) wanted_.erase(link.guest);
    if (wanted_.empty()) return;
    std::vector<std::unique_ptr<trace::Stream>> streams;
    std::vector<size_t> machines;
    for (size_t i = 0; i < traces_.size(); ++i) {
      if (!has_word(*traces_[i], Word::VmSyncHost) && !has_word(*traces_[i], Word::VmSyncGuest))
        continue;
      for (auto& stream : traces_[i]->open_streams()) {
        streams.push_back(std::move(stream));
        machines.push_back(machine_of_[i]);
      }
    }
    trace::Merge merge(std::move(streams));
    while (!wanted_.empty() && merge.next() == trace::Step::Event)
      take(merge.event(), machines[merge.stream_index()], links);
  }

 private:
  struct HostThread {
    size_t machine;
    Tid tid;
  };

  void take(const trace::Event& event, size_t machine, std::vector<GuestLink>& links) {
    const trace::Binding& meaning = event.type->meaning;
    if (meaning.word != Word::VmSyncHost && meaning.word != Word::VmSyncGuest) return;
    const std::optional<int64_t> uid = event.integer(meaning.part(trace::Role::VmUid));
    if (!uid || hosts_.size() + guests_.size() > kMostUids) return;
    if (meaning.word == Word::VmSyncGuest)
      guests_.emplace(*uid, machine);
    else if (const Tid tid = event.tid(); tid != kNoTid && tid != Tid{0})
      hosts_.emplace(*uid, HostThread{machine, tid});
    const auto host = hosts_.find(*uid);
    const auto guest = guests_.find(*uid);
    if (host == hosts_.end() || guest == guests_.end() || host->second.machine == guest->second)
      return;
    if (wanted_.erase(guest->second) != 0)
      links.push_back(
          {.guest = guest->second, .host = host->second.machine, .thread = host->second.tid});
  }

  Traces traces_;
  std::span<const size_t> machine_of_;
  std::set<size_t> wanted_;  // guests whose host is not known yet
  std::map<int64_t, HostThread> hosts_;
  std::map<int64_t, size_t> guests_;
};

}  // namespace

std::vector<GuestLink> find_guests(Traces traces, std::span<const size_t> machine_of) {
  std::vector<GuestLink> links;
  add_told(traces, machine_of, links);
  SyncSearch(traces, machine_of).run(links);
  return links;
}

}  // namespace strata::state
