// SPDX-License-Identifier: Apache-2.0
#include "recording/processes.h"

#include <algorithm>

#include "trace/merge.h"

namespace strata::recording {

Processes::Processes(const trace::Trace& trace) {
  constexpr int64_t kCloneThread = 0x10000;  // CLONE_THREAD of the kernel's interface
  const auto types = trace.event_types();
  const bool tells = std::ranges::any_of(types, [](const trace::EventType* type) {
    return type->meaning.word == trace::Word::TaskNew;
  });
  if (!tells) return;
  trace::Merge events(trace.open_streams());
  while (events.next() == trace::Step::Event) {
    const trace::Event& event = events.event();
    const trace::Binding& meaning = event.type->meaning;
    if (meaning.word != trace::Word::TaskNew) [[likely]]
      continue;
    const auto tid = event.integer(meaning.part(trace::Role::Tid));
    const auto flags = event.integer(meaning.part(trace::Role::CloneFlags));
    if (!tid || !flags) continue;
    const auto child = static_cast<int32_t>(*tid);
    processes_[{child, event.time.count}] =
        (*flags & kCloneThread) != 0 ? process_of(event.tid(), event.time) : Tid{child};
  }
}

Tid Processes::process_of(Tid thread, Nanoseconds time) const {
  const auto after = processes_.upper_bound({raw(thread), time.count});
  if (after == processes_.begin()) return thread;
  const auto& [came, process] = *std::prev(after);
  return came.first == raw(thread) ? process : thread;
}

}  // namespace strata::recording
