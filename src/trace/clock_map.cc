// SPDX-License-Identifier: Apache-2.0
#include "trace/clock_map.h"

#include <algorithm>
#include <bit>

namespace strata::trace {

int64_t ClockPiece::at_negative(int64_t t) const {
  const Int128 distance = Int128{t} - Int128{t0};
  // With 65 bits of distance the product may need more than 128. Then u is far below its range.
  constexpr Int128 kLowest = -(Int128{1} << 126) * 2 + (Int128{1} << 64);
  if (mult != 0 && distance < kLowest / Int128{mult}) return std::numeric_limits<int64_t>::min();
  return saturated(Int128{u0} + ((distance * Int128{mult} + Int128{rounding}) >> shift));
}

ClockMap::ClockMap(std::vector<ClockPiece> pieces) {
  std::ranges::stable_sort(pieces, {}, &ClockPiece::t0);
  for (const ClockPiece& piece : pieces) {
    if (!pieces_.empty() && pieces_.back().t0 == piece.t0)
      pieces_.back() = piece;
    else
      pieces_.push_back(piece);
  }
  if (pieces_.empty()) pieces_.emplace_back();
}

ClockMap::Span ClockMap::span_at(uint64_t t) const {
  auto next = std::ranges::upper_bound(pieces_, t, {}, &ClockPiece::t0);
  const bool first = next == pieces_.begin() || next - pieces_.begin() == 1;
  if (next == pieces_.begin()) ++next;
  const ClockPiece& piece = *(next - 1);
  Span span{&piece, first ? 0 : piece.t0, std::nullopt};
  if (next != pieces_.end()) span.until = next->t0;
  return span;
}

bool ClockMap::is_identity() const {
  if (pieces_.size() != 1) return false;
  const ClockPiece& piece = pieces_.front();
  return piece.mult == uint64_t{1} << piece.shift && std::bit_cast<int64_t>(piece.t0) == piece.u0;
}

Slope slope(uint64_t numerator, uint64_t denominator) {
  // As many bits as fit: mult below 2^63 and shift at most 62, so that (t - t0) x mult stays within
  // 127 bits.
  uint8_t shift = 62;
  while (shift > 0 && ((UInt128{numerator} << shift) / denominator) >> 63) --shift;
  const UInt128 scaled = UInt128{numerator} << shift;
  return {static_cast<uint64_t>((scaled + denominator / 2) / denominator), shift};
}

ClockReader::ClockReader(std::vector<ClockMap> chain) {
  std::erase_if(chain, [](const ClockMap& map) { return map.is_identity(); });
  if (chain.empty()) return;
  first_.map = std::move(chain.front());
  for (size_t i = 1; i < chain.size(); ++i) rest_.emplace_back().map = std::move(chain[i]);
  is_chain_ = !rest_.empty();
}

int64_t ClockReader::Step::move_to(uint64_t t) {
  const ClockMap::Span span = map.span_at(t);
  const ClockPiece& piece = *span.piece;
  t0 = piece.t0;
  u0 = std::bit_cast<uint64_t>(piece.u0);
  mult = piece.mult;
  rounding = piece.rounding;
  shift = piece.shift;
  // As far as (distance x mult + rounding) >> shift is no more than what u may grow by.
  const auto growth = static_cast<UInt128>(Int128{std::numeric_limits<int64_t>::max()} - piece.u0);
  const UInt128 product = growth << shift;
  const UInt128 fits = product < rounding ? 0 : (product - rounding) / std::max<uint64_t>(mult, 1);
  const uint64_t serves = span.until.value_or(std::numeric_limits<uint64_t>::max()) - t0;
  reach = fits < serves ? static_cast<uint64_t>(fits) : serves;
  return piece.at(t);
}

int64_t ClockReader::through_rest(int64_t value) {
  for (Step& step : rest_) {
    value = value < 0 ? step.map.pieces().front().at_negative(value)
                      : step.at(static_cast<uint64_t>(value));
  }
  return value;
}

}  // namespace strata::trace
