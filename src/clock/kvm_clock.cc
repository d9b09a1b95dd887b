// SPDX-License-Identifier: Apache-2.0
#include "clock/kvm_clock.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace strata::clock {
namespace {

using trace::ClockPiece;

bool is_host_rate(const CounterShift& shift) {
  return shift.ratio == uint64_t{1} << shift.fraction_bits;
}

// One guest's, along the host's time.
class Timeline {
 public:
  explicit Timeline(double host_ns_per_tick) : ns_per_tick_(host_ns_per_tick) {}

  void change(const CounterChange& change) {
    if (change.is_anew) {
      finish_segment();
      vcpus_.clear();
    }
    vcpus_[change.vcpu] = change.shift;
    const CounterShift& shift = vcpus_.begin()->second;
    const uint64_t guest = shift.guest(change.host);
    const uint64_t bound_ns = bound(shift, change.host);
    if (!pieces_.empty()) {
      if (shift == shift_ && bound_ns == pieces_.back().bound_ns) return;
      const uint64_t before = shift_.guest(change.host);
      if (guest > before) add_gap(before, change.host);
      if (guest < pieces_.front().t0) finish_segment();
      while (!pieces_.empty() && pieces_.back().t0 >= guest) pieces_.pop_back();
    }
    shift_ = shift;
    ClockPiece piece = line(shift, guest, change.host);
    piece.bound_ns = bound_ns;
    pieces_.push_back(piece);
  }

  std::vector<trace::ClockMap> take() {
    finish_segment();
    return std::move(maps_);
  }

 private:
  static ClockPiece line(const CounterShift& shift, uint64_t guest, uint64_t host) {
    ClockPiece piece{.t0 = guest, .u0 = saturated(Int128{host})};
    if (is_host_rate(shift)) return piece;
    const trace::Slope slope = trace::slope(uint64_t{1} << shift.fraction_bits, shift.ratio);
    piece.mult = slope.mult;
    piece.shift = slope.shift;
    piece.rounding = slope.shift > 0 ? uint64_t{1} << (slope.shift - 1) : 0;
    return piece;
  }

  void add_gap(uint64_t guest, uint64_t host) {
    ClockPiece gap = line(shift_, guest, host);
    gap.gap = true;
    while (!pieces_.empty() && pieces_.back().t0 >= guest) pieces_.pop_back();
    pieces_.push_back(gap);
  }

  uint64_t bound(const CounterShift& shift, uint64_t host) const {
    // What KVM rounds is less than a tick of the guest's, what the map rounds one of the host's.
    double ticks = is_host_rate(shift) ? 0
                                       : 1 + std::ldexp(1.0, shift.fraction_bits) /
                                                 static_cast<double>(shift.ratio);
    uint64_t apart = 0;
    for (const auto& [number, other] : vcpus_) {
      if (other.ratio != shift.ratio || other.fraction_bits != shift.fraction_bits)
        return trace::kNoBound;
      const uint64_t ahead = other.guest(host) - shift.guest(host);
      apart = std::max(apart, std::min(ahead, -ahead));
    }
    ticks += std::ldexp(static_cast<double>(apart), shift.fraction_bits) /
             static_cast<double>(shift.ratio);
    const double ns = std::ceil(ticks * ns_per_tick_);
    return ns < 0x1p63 ? static_cast<uint64_t>(ns) : trace::kNoBound;
  }

  void finish_segment() {
    if (pieces_.empty()) return;
    trace::ClockMap& map = maps_.emplace_back(std::move(pieces_));
    map.segment = static_cast<uint32_t>(maps_.size() - 1);
    pieces_.clear();
  }

  double ns_per_tick_;
  std::map<uint32_t, CounterShift> vcpus_;  // as they are now
  CounterShift shift_;                      // of the last piece
  std::vector<ClockPiece> pieces_;          // of this segment
  std::vector<trace::ClockMap> maps_;       // of those before
};

}  // namespace

std::vector<trace::ClockMap> guest_maps(std::span<const CounterChange> changes,
                                        double host_ns_per_tick) {
  std::vector<CounterChange> sorted;
  for (const CounterChange& change : changes)
    if (change.shift.is_valid()) sorted.push_back(change);
  std::ranges::stable_sort(sorted, {}, &CounterChange::host);
  Timeline timeline(host_ns_per_tick);
  for (const CounterChange& change : sorted) timeline.change(change);
  return timeline.take();
}

}  // namespace strata::clock
