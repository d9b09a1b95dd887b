// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "record/host_clock.h"
#include "record/source.h"
#include "recording/description.h"

namespace strata::record {

// Another machine that is recorded along, into the same folder: a guest. It is at the other end of
// a link, and what becomes of it harms nobody else: it works in threads of its own, nothing here
// waits for longer than a few seconds, and what went wrong is told and ends its own part alone.
class MachineSource : public Source {
 public:
  virtual const std::string& name() const = 0;

  // First: asks for the machine, without waiting for it. `clock` outlives this.
  virtual void call(const std::string& folder, const HostClock& clock) = 0;
  // Then: the threads that do it, which are to be left out of the recording.
  virtual std::vector<pid_t> threads() const = 0;
  // start() waits until it records, or until it is known why it does not.
  //
  // Before stop(), of all machines at once: asks it to end, without waiting.
  virtual void ask_to_end() = 0;

  // Readable when what follows, or parts(), may have changed, until problems() is asked.
  virtual int file() const = 0;
  // What recording.json tells of it besides parts(). The better known, the later it is asked.
  virtual recording::Machine machine() const = 0;
  virtual std::vector<recording::NamedClock> clocks() const = 0;
  virtual std::vector<trace::ClockMap> maps() const = 0;
  // What went wrong since this was last asked.
  virtual std::vector<Error> problems() = 0;
};

}  // namespace strata::record
