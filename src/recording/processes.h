// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "trace/trace.h"

namespace strata::recording {

// Which process a thread belongs to, as far as a kernel's trace tells. The kernel's own tracer
// speaks of threads alone; task_newtask says whether a new one is a process of its own. A thread
// that the trace does not see come is taken for one.
class Processes {
 public:
  Processes() = default;
  // Reads through the whole trace.
  explicit Processes(const trace::Trace& trace);

  // Ids are given again: at a time.
  Tid process_of(Tid thread, Nanoseconds time) const;

 private:
  // By thread and when it came.
  std::map<std::pair<int32_t, int64_t>, Tid> processes_;
};

}  // namespace strata::recording
