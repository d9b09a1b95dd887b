// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/control.h"
#include "record/event_choice.h"
#include "record/kernel_events.h"

namespace strata::record {

// What `strata session change` asks of a session. An event that is both enabled and disabled is
// enabled: so all others can be disabled with "*".
struct SessionChange {
  std::vector<EventWish> enable;
  std::vector<std::string> disable;             // patterns
  std::optional<std::vector<pid_t>> processes;  // none in it: all

  bool operator==(const SessionChange&) const = default;
};

// As it goes to the session, {"do": "change", ...}, and back. What comes is not trusted.
ControlSocket::Json to_json(const SessionChange& change);
Result<SessionChange> parse_change(const ControlSocket::Json& question);

// Changes what is recorded, all of it or nothing. The head at `head` (none: nothing is written)
// explains new events before there can be any. Gives what was done, in words.
Result<std::string> apply(const SessionChange& change, const kernel::Tracefs& tracefs,
                          KernelEvents& events, const std::string& head);

}  // namespace strata::record
