// SPDX-License-Identifier: Apache-2.0
#include "trace/learned_names.h"

namespace strata::trace {
namespace {

constexpr int64_t kHighestTid = 4 * 1024 * 1024;  // the kernel's PID_MAX_LIMIT

}  // namespace

LearnedNames::LearnedNames(const Trace& trace) : names_(trace.task_names()) {
  mark_known(0);
  for (const auto& [tid, name] : names_.all()) mark_known(raw(tid));
}

void LearnedNames::mark_known(int64_t tid) {
  if (tid < 0 || tid >= kHighestTid) return;
  auto bit = static_cast<uint64_t>(tid);
  if (bit / 64 >= known_.size()) known_.resize(bit / 64 + 1);
  known_[bit / 64] |= uint64_t{1} << (bit % 64);
}

const LearnedNames::Named* LearnedNames::add_type(const EventType& type) {
  Named named;
  if (type.meaning.word == Word::SchedSwitch) {
    named.first = type.meaning.part(Role::PrevTid);
    named.second = type.meaning.part(Role::NextTid);
  } else {
    named.first = type.meaning.part(Role::Tid);
  }
  return types_.add(&type, named);
}

void LearnedNames::add_running(const Event& event) {
  const int64_t tid = raw(event.tid());
  if (is_known(tid)) return;
  names_.add(event.tid(), event.text(event.type->comm));
  mark_known(tid);
  ++version_;
}

void LearnedNames::add(const Event& event) {
  size_t before = names_.all().size();
  names_.learn(event);
  if (names_.all().size() != before) ++version_;
  const Named named = *types_.find(event.type);
  for (FieldRef ref : {named.first, named.second}) {
    std::optional<int64_t> tid = event.integer(ref);
    if (tid && names_.knows(Tid(static_cast<int32_t>(*tid)))) mark_known(*tid);
  }
}

}  // namespace strata::trace
