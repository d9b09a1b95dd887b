// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "clock/anchor.h"
#include "trace/clock_map.h"

namespace strata::clock {

// From anchors to the lines between clocks.

// Which of an anchor's readings.
enum class Reading : uint8_t { Tsc, MonotonicRaw, Monotonic, Boottime, Wall };
int64_t reading(const Anchor& anchor, Reading which);

// A counter's in its own unit, the others' in nanoseconds.
int64_t reading(const Anchor& anchor, Reading which);

// The straight line from one clock to another that fits the anchors best, those taken in a narrow
// window counting for more. It begins at the first anchor and is precise to the nanosecond however
// long ago the machine was booted. Two anchors at different times are needed.
//
// bound_ns holds from the first anchor to the last. Beyond, an error of the anchors grows with the
// distance: two anchors of +-20 ns that are 10 s apart give a line that may be off by 14 us an hour
// later. So a recording's line is made from anchors at its begin and its end.
//
// From the TSC, CLOCK_MONOTONIC_RAW is a straight line. The wall clock is not: it is slewed and
// set. For it bound_ns tells how far it left the line, and follow_wall() is exact.
Result<trace::ClockPiece> fit_line(std::span<const Anchor> anchors, Reading from, Reading to);

// The wall clock as it really went: a piece from each anchor to the next, as fast as
// CLOCK_MONOTONIC, which is slewed alike. A wall clock that was set in between jumps at the next
// anchor, and the piece in which that was says with bound_ns by how much. bound_ns also allows for
// a slew that changed between two anchors, as far as their neighbours tell.
Result<trace::ClockMap> follow_wall(std::span<const Anchor> anchors, Reading from);

// A line as trace.dat can say it: option TSC2NSEC, ns = tsc x mult >> shift from the counter's
// zero, and option OFFSET, in nanoseconds, which is then added. Other programs' readers take mult
// for signed and shift by 32 - shift, so there are 31 bits and a shift of at most 32: a slope off
// by up to f x 1.2e-10 for f GHz. Counted from zero, f x 70 us after a week's uptime. So OFFSET is
// computed for `at` to be exact, and the error grows from there, by up to f x 0.42 us an hour;
// `drift` says by how much for this very line. Where 100 ns matter over hours, only the recording's
// own map will do.
struct Tsc2Nsec {
  uint32_t mult = 1;
  uint32_t shift = 0;
  int64_t offset_ns = 0;
  double drift = 0;  // relative; x 3.6e12 for nanoseconds an hour
};
// The middle of the recording for `at` makes the largest error the least.
Tsc2Nsec tsc2nsec(const trace::ClockPiece& line, uint64_t at);

// A line as CTF's clock class can say it: a frequency in whole Hz and what reading 0 is. As above,
// the offset is such that `at` is exact; from there it is off by up to 0.75 us an hour at 2.4 GHz.
struct WholeHertz {
  uint64_t frequency = 1'000'000'000;
  int64_t offset_seconds = 0;
  uint64_t offset_cycles = 0;
  double drift = 0;
};
WholeHertz whole_hertz(const trace::ClockPiece& line, uint64_t at);

}  // namespace strata::clock
