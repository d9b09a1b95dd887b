// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/app_choice.h"
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

// What of it concerns the probes of these programs: an --enable that chooses some of them is theirs
// alone and is taken out, a --disable is for all that it chooses. `events`: null where nothing of
// the kernel is recorded.
Result<AppChange> take_probes(SessionChange& change, const AppRequest& programs,
                              const KernelEvents* events);
std::string text_of(const AppChange& change);

// Changes what is recorded of the kernel, all of it or nothing. The head at `head` (none: nothing
// is written) explains new events before there can be any. Gives what was done, in words.
Result<std::string> apply(const SessionChange& change, const kernel::Tracefs& tracefs,
                          KernelEvents& events, const std::string& head);

}  // namespace strata::record
