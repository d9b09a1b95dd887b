// SPDX-License-Identifier: Apache-2.0
#include "trace/task_names.h"

namespace strata::trace {

void TaskNames::add(Tid tid, std::string_view name) {
  if (raw(tid) != 0) names_.try_emplace(tid, name);
}

void TaskNames::learn(const Event& event) {
  const auto name = [&](Role tid_role, Role comm_role) {
    const std::optional<int64_t> tid = event.integer(event.type->meaning.part(tid_role));
    const FieldRef comm = event.type->meaning.part(comm_role);
    if (tid && comm && !knows(Tid(static_cast<int32_t>(*tid))))
      add(Tid(static_cast<int32_t>(*tid)), event.text(comm));
  };
  switch (event.type->meaning.word) {
    case Word::SchedSwitch:
      name(Role::PrevTid, Role::PrevComm);
      name(Role::NextTid, Role::NextComm);
      break;
    case Word::SchedWakeup:
    case Word::SchedWakeupNew:
      name(Role::Tid, Role::Comm);
      break;
    default:
      break;
  }
}

std::string_view TaskNames::find(Tid tid) const {
  if (raw(tid) == 0) return "<idle>";
  const auto it = names_.find(tid);
  return it == names_.end() ? std::string_view("<...>") : it->second;
}

}  // namespace strata::trace
