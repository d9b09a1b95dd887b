// SPDX-License-Identifier: Apache-2.0
#include "clock/causal_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::clock {
namespace {

// Far more than there are for clocks that are slewed; who has more has no clock.
constexpr size_t kMostStretches = 4096;

// Along the line, from another of its points on.
trace::ClockPiece piece_from(Line line, int64_t begin) {
  const long double rise = std::clamp(line.rise(begin), -0x1p62L, 0x1p62L);
  const int64_t whole = std::llround(rise);
  line.at = {begin, saturated(Int128{line.at.y} + whole)};
  line.above = rise - static_cast<long double>(whole);
  return piece_along(line, 0, 0);
}

}  // namespace

long double Stretch::at_zero() const {
  const Int128 apart = Int128{line.at.y} - line.at.x;
  return static_cast<long double>(apart) + line.above -
         static_cast<long double>(line.at.x) * line.steeper;
}

void CausalFit::caused(int64_t time, int64_t reference) { add(time, reference, false); }
void CausalFit::caused_by(int64_t time, int64_t reference) { add(time, reference, true); }

void CausalFit::add(int64_t time, int64_t reference, bool is_above) {
  if (!has_origin_) {
    has_origin_ = true;
    time_origin_ = time;
    reference_origin_ = reference;
  }
  const Point point{saturated(Int128{reference} - reference_origin_),
                    saturated(Int128{time} - time_origin_)};
  if (!is_near(point)) return;
  ++pairs_;
  above_ += is_above ? 1 : 0;
  if (!take(open_, point, is_above)) {
    close();
    take(open_, point, is_above);
  }
  const bool is_first = open_.pairs++ == 0;
  open_.begin = is_first ? time : std::min(open_.begin, time);
  open_.end = is_first ? time : std::max(open_.end, time);
  open_.first = is_first ? point.x : std::min(open_.first, point.x);
  open_.last = is_first ? point.x : std::max(open_.last, point.x);
}

bool CausalFit::take(Open& open, Point point, bool is_above) {
  if (!(is_above ? open.corridor.narrows_above(point) : open.corridor.narrows_below(point)))
    return true;
  Corridor with = open.corridor;
  is_above ? with.add_above(point) : with.add_below(point);
  if (!with.is_open()) return false;
  open.corridor = std::move(with);
  return true;
}

void CausalFit::close() {
  if (open_.pairs == 0) return;
  ++breaks_;
  const std::optional<Stretch> found = stretch_of(open_);
  if (found && stretches_.size() < kMostStretches) stretches_.push_back(*found);
  open_ = {};
}

std::optional<Stretch> CausalFit::stretch_of(const Open& open) const {
  const std::optional<Line> line = open.corridor.middle();
  if (!line || line->steeper <= -1) return std::nullopt;
  long double most = 0;
  for (const int64_t x : {open.first, open.last}) {
    const Corridor::Margins margins = open.corridor.margins(*line, x);
    most = std::max({most, margins.above, margins.below});
  }
  Stretch stretch{.begin = open.begin, .end = open.end, .pairs = open.pairs};
  stretch.line = line->inverse();
  stretch.line.at.x = saturated(Int128{stretch.line.at.x} + time_origin_);
  stretch.line.at.y = saturated(Int128{stretch.line.at.y} + reference_origin_);
  const long double bound = most * (1 + stretch.line.steeper);
  // A unit for the rounding of what is shown.
  stretch.bound = static_cast<uint64_t>(std::ceil(std::min(bound, 0x1p62L))) + 1;
  return stretch;
}

Result<std::vector<Stretch>> CausalFit::finish() {
  close();
  if (!stretches_.empty()) return std::move(stretches_);
  const char* why = pairs_ == 0 ? "no event of the one trace has its counterpart in the other"
                    : above_ == 0 || above_ == pairs_
                        ? "all that was matched went one way, which bounds nothing"
                    : breaks_ > 1 ? "no straight line fits: effects come before their causes"
                                  : "too little was matched to tell how the clocks' rates differ";
  return Error{"", std::nullopt, why};
}

trace::ClockMap map_of(const std::vector<Stretch>& stretches) {
  std::vector<trace::ClockPiece> pieces;
  for (const Stretch& stretch : stretches) {
    if (stretch.end < 0) continue;
    if (pieces.empty() && stretch.begin > 0) {
      pieces.push_back(piece_from(stretch.line, 0));
      pieces.back().bound_ns = trace::kNoBound;
    }
    trace::ClockPiece piece = piece_from(stretch.line, std::max<int64_t>(stretch.begin, 0));
    piece.bound_ns = stretch.bound;
    pieces.push_back(piece);
    const uint64_t after = static_cast<uint64_t>(stretch.end) + 1;
    piece.u0 = piece.at(after);
    piece.t0 = after;
    piece.bound_ns = trace::kNoBound;
    piece.gap = &stretch != &stretches.back();
    pieces.push_back(piece);
  }
  return trace::ClockMap(std::move(pieces));
}

}  // namespace strata::clock
