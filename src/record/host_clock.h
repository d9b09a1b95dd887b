// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clock/anchor.h"
#include "format/ctf/metadata_writer.h"
#include "format/tracedat/writer.h"
#include "kernel/state_clock.h"
#include "recording/description.h"

namespace strata::record {

// This boot of this machine, as traces of one machine tell it: all zeros where it is not known.
ctf::Uuid machine_uuid();

// The clock that stamps a recording's events, and how it leads to the time of day.
//
// It is the TSC where that can be trusted, since applications can read it as cheaply as the kernel
// does; CLOCK_MONOTONIC_RAW otherwise. Anchors (readings of all clocks at one moment) are taken
// when the session begins, now and then, and when it ends; the line through them is the map.
class HostClock {
 public:
  // `wanted` is a name of trace_clock; empty: the best there is.
  static Result<HostClock> choose(const std::string& wanted);

  // As trace_clock calls it: "x86-tsc", "mono_raw".
  const std::string& kernel_name() const { return kernel_name_; }
  // In recording.json: "host.tsc".
  const std::string& name() const { return name_; }

  void take_anchor();
  // What it shows now; nothing where it is no time ("counter").
  std::optional<Ticks> now() const;
  // The recording goes on in another chunk, at the last anchor. How the clocks went long ago says
  // nothing of it: anchors of the chunk before stay, so that the line is known at once, older ones
  // go.
  void begin_chunk();
  // For who records for ever, and looks back only a little: no more than so many anchors stay.
  void forget_anchors(size_t but_last);
  // What this clock showed at the newest anchor; none where only the kernel can read it.
  std::optional<Ticks> last_reading() const;

  // What the anchors so far tell, to the epoch: of this clock, unless it is no time ("counter"),
  // and of CLOCK_MONOTONIC_RAW, which perf stamps with.
  std::vector<trace::ClockMap> maps() const;
  // The first of these: none where it is no time, or before the second anchor.
  std::optional<trace::ClockMap> to_epoch() const;
  std::vector<recording::NamedClock> descriptions(const std::string& machine) const;
  // For what is told in CTF: the starting state. Stamped with `state_clock()`.
  kernel::StateClock state_clock() const;
  std::string state_clock_name() const;
  ctf::NewClock ctf_clock() const;
  // The same as a trace.dat says it.
  std::vector<tracedat::NewOption> options() const;

 private:
  // How the kernel's clock becomes nanoseconds since the epoch, for trace.dat.
  struct Line {
    uint32_t mult = 1;
    uint32_t shift = 0;
    int64_t offset_ns = 0;
    bool is_known = false;
  };
  Line line() const;
  std::optional<Ticks> reading_at(const clock::Anchor& anchor) const;

  std::string kernel_name_;
  std::string name_;
  std::string note_;
  std::vector<clock::Anchor> anchors_;
  size_t chunk_begin_ = 0;  // in anchors_
};

}  // namespace strata::record
