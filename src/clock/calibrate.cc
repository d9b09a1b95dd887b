// SPDX-License-Identifier: Apache-2.0
#include "clock/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/units.h"

namespace strata::clock {
int64_t reading(const Anchor& anchor, Reading which) {
  switch (which) {
    case Reading::Tsc:
      return static_cast<int64_t>(anchor.tsc);
    case Reading::MonotonicRaw:
      return anchor.monotonic_raw_ns;
    case Reading::Monotonic:
      return anchor.monotonic_ns;
    case Reading::Boottime:
      return anchor.boottime_ns;
    case Reading::Wall:
      return anchor.wall_ns;
  }
  return 0;
}

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t source(const Anchor& anchor, Reading from) {
  return static_cast<uint64_t>(reading(anchor, from));
}

Status check(std::span<const Anchor> anchors, Reading from) {
  if (anchors.size() < 2)
    return Error{"", std::nullopt, "a clock's rate needs two anchors, there is one or none"};
  for (size_t i = 1; i < anchors.size(); ++i)
    if (source(anchors[i], from) <= source(anchors[i - 1], from))
      return Error{"", std::nullopt, "a clock did not go on from one anchor to the next"};
  return {};
}

// Both are clocks, so they go forward; one that does not is taken for standing nearly still.
trace::Slope slope_between(int64_t rise, uint64_t run) {
  return trace::slope(static_cast<uint64_t>(std::max<int64_t>(rise, 1)), run);
}

trace::ClockPiece piece_from(uint64_t t0, int64_t u0, trace::Slope slope) {
  return {.t0 = t0,
          .u0 = u0,
          .mult = slope.mult,
          .shift = slope.shift,
          .rounding = slope.shift > 0 ? uint64_t{1} << (slope.shift - 1) : 0};
}

double slope_of(const trace::ClockPiece& piece) {
  return std::ldexp(static_cast<double>(piece.mult), -int{piece.shift});
}

// Relative, of two slopes that agree to many digits: the difference is taken before the rounding.
double relative_difference(UInt128 one, UInt128 other) {
  const bool more = one > other;
  const UInt128 difference = more ? one - other : other - one;
  return (more ? 1 : -1) * static_cast<double>(difference) / static_cast<double>(other);
}

// ns x frequency / 10^9, rounded down; a product may have 128 bits.
Int128 cycles_of(Int128 ns, uint64_t frequency) {
  const Int128 product = ns * Int128{frequency};
  const Int128 quotient = product / Int128{kSecond};
  return product % Int128{kSecond} < 0 ? quotient - 1 : quotient;
}

}  // namespace

Result<trace::ClockPiece> fit_line(std::span<const Anchor> anchors, Reading from, Reading to) {
  if (Status status = check(anchors, from); !status) return std::move(status).error();
  const uint64_t t0 = source(anchors.front(), from);
  const int64_t u0 = reading(anchors.front(), to);
  trace::ClockPiece line = piece_from(
      t0, u0, slope_between(reading(anchors.back(), to) - u0, source(anchors.back(), from) - t0));

  // What is left of the line through both ends is small, so doubles do for fitting a line to that.
  // Times are taken from their middle, which keeps the sums well apart.
  double weights = 0, mean_time = 0, mean_rest = 0;
  const auto time = [&](const Anchor& anchor) {
    return static_cast<double>(source(anchor, from) - t0);
  };
  const auto rest = [&](const Anchor& anchor) {
    return static_cast<double>(reading(anchor, to) - line.at(source(anchor, from)));
  };
  const auto weight = [](const Anchor& anchor) {
    return 1 / std::pow(static_cast<double>(anchor.uncertainty_ns) + 1, 2);
  };
  for (const Anchor& anchor : anchors) {
    weights += weight(anchor);
    mean_time += weight(anchor) * time(anchor);
    mean_rest += weight(anchor) * rest(anchor);
  }
  mean_time /= weights;
  mean_rest /= weights;
  double both = 0, squares = 0;
  for (const Anchor& anchor : anchors) {
    const double distance = time(anchor) - mean_time;
    both += weight(anchor) * distance * (rest(anchor) - mean_rest);
    squares += weight(anchor) * distance * distance;
  }
  const double steeper = squares > 0 ? both / squares : 0;
  const int64_t mult =
      static_cast<int64_t>(line.mult) + std::llround(std::ldexp(steeper, line.shift));
  line.mult = static_cast<uint64_t>(std::max<int64_t>(mult, 1));
  line.u0 += std::llround(mean_rest - steeper * mean_time);

  line.bound_ns = 0;
  for (const Anchor& anchor : anchors) {
    const auto off = static_cast<uint64_t>(std::fabs(rest(anchor)));
    line.bound_ns = std::max(line.bound_ns, off + anchor.uncertainty_ns);
  }
  return line;
}

Result<trace::ClockMap> follow_wall(std::span<const Anchor> anchors, Reading from) {
  if (Status status = check(anchors, from); !status) return std::move(status).error();
  std::vector<trace::ClockPiece> pieces;
  for (size_t i = 0; i + 1 < anchors.size(); ++i) {
    const Anchor& here = anchors[i];
    const Anchor& next = anchors[i + 1];
    const uint64_t run = source(next, from) - source(here, from);
    trace::ClockPiece piece = piece_from(source(here, from), here.wall_ns,
                                         slope_between(next.monotonic_ns - here.monotonic_ns, run));
    const int64_t set = (next.wall_ns - next.monotonic_ns) - (here.wall_ns - here.monotonic_ns);
    piece.bound_ns = std::max(here.uncertainty_ns, next.uncertainty_ns);
    // Within what the anchors are uncertain by, nobody set it.
    if (static_cast<uint64_t>(std::llabs(set)) > here.uncertainty_ns + next.uncertainty_ns)
      piece.bound_ns += static_cast<uint64_t>(std::llabs(set));
    pieces.push_back(piece);
  }
  // Two slopes that change in the middle of a piece leave the straight line by a quarter of what
  // they differ by over the whole of it.
  for (size_t i = 0; i < pieces.size(); ++i) {
    double differ = 0;
    if (i > 0) differ = std::fabs(slope_of(pieces[i]) - slope_of(pieces[i - 1]));
    if (i + 1 < pieces.size())
      differ = std::max(differ, std::fabs(slope_of(pieces[i + 1]) - slope_of(pieces[i])));
    const auto run = static_cast<double>(source(anchors[i + 1], from) - source(anchors[i], from));
    pieces[i].bound_ns += static_cast<uint64_t>(std::ceil(differ * run / 4));
  }
  // From the last anchor on it is known where the clock stands, and assumed that it goes on.
  trace::ClockPiece last = pieces.back();
  last.t0 = source(anchors.back(), from);
  last.u0 = anchors.back().wall_ns;
  last.bound_ns = trace::kNoBound;
  pieces.push_back(last);
  return trace::ClockMap(std::move(pieces));
}

Tsc2Nsec tsc2nsec(const trace::ClockPiece& line, uint64_t at) {
  constexpr uint64_t kMostMult = std::numeric_limits<int32_t>::max();
  Tsc2Nsec option;
  // mult / 2^shift of the line, with `shift` bits behind the point, rounded.
  const auto with_shift = [&](uint32_t shift) -> UInt128 {
    const UInt128 scaled = UInt128{line.mult} << shift;
    const UInt128 half = line.shift > 0 ? UInt128{1} << (line.shift - 1) : 0;
    return (scaled + half) >> line.shift;
  };
  option.shift = 32;
  while (option.shift > 0 && with_shift(option.shift) > kMostMult) --option.shift;
  option.mult = static_cast<uint32_t>(std::clamp<UInt128>(with_shift(option.shift), 1, kMostMult));
  const trace::ClockPiece told{.mult = option.mult, .shift = static_cast<uint8_t>(option.shift)};
  option.offset_ns = saturated(Int128{line.at(at)} - Int128{told.at(at)});
  option.drift =
      relative_difference(UInt128{option.mult} << line.shift, UInt128{line.mult} << option.shift);
  return option;
}

WholeHertz whole_hertz(const trace::ClockPiece& line, uint64_t at) {
  WholeHertz hertz;
  const UInt128 second = UInt128{kSecond} << line.shift;
  hertz.frequency = static_cast<uint64_t>((second + line.mult / 2) / line.mult);
  if (hertz.frequency == 0) hertz.frequency = 1;
  // What reading 0 is, in cycles since the epoch, on a counter of this frequency.
  const Int128 offset = cycles_of(line.at(at), hertz.frequency) - Int128{at};
  Int128 seconds = offset / Int128{hertz.frequency};
  if (offset % Int128{hertz.frequency} < 0) --seconds;
  hertz.offset_seconds = saturated(seconds);
  hertz.offset_cycles = static_cast<uint64_t>(offset - seconds * Int128{hertz.frequency});
  // A cycle takes 1 / frequency, where the line says mult / 2^shift.
  hertz.drift = relative_difference(second, UInt128{line.mult} * hertz.frequency);
  return hertz;
}

}  // namespace strata::clock
