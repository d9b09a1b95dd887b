// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/text_buffer.h"
#include "base/time_text.h"
#include "trace/trace.h"
#include "trace/type_table.h"

namespace strata::trace {

// An event as `babeltrace2` prints it, so that scripts made for that go on working:
//
//     [14:30:05.123456789] (+0.000001695) web1 sched_switch: { cpu_id = 0 }, { prev_comm = "bash",
//     ... }
//
// One for each trace; the time between lines is that between lines of all traces, so they share it.
class BabeltraceLine {
 public:
  // The time of the line before, of whatever trace.
  struct Before {
    std::optional<Nanoseconds> time;
  };

  // `trace` and `before` must outlive it.
  BabeltraceLine(const Trace& trace, Before& before);

  void print(const Event& event, TextBuffer& out);

 private:
  const Trace& trace_;
  Before& before_;
  bool timed_;
  WallClock wall_{false};
  std::string origin_;            // "web1 ", "web1:nginx:(1234) "
  TypeTable<std::string> names_;  // "provider:event: "
};

}  // namespace strata::trace
