// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "history/history.h"

namespace strata::history {

// Paints pixels from what comes in the order of time.
//
// Times are whole numbers from the range's beginning on, and so are the edges of pixels: what lies
// within the same pixel as what came before is an addition. Where pixels are shorter than a
// nanosecond, the numbers are parts of one.
class PixelSweep {
 public:
  PixelSweep(int64_t begin, int64_t end, const Weights& weights, std::span<Pixel> pixels)
      : begin_(begin), end_(end), weights_(weights), pixels_(pixels) {
    const uint64_t count = pixels.size();
    const uint64_t ns = distance(begin, end);
    parts_ = ns < count * kFinest ? count * kFinest / std::max<uint64_t>(ns, 1) + 1 : 1;
    whole_ = ns * parts_ / count;
    rest_ = ns * parts_ % count;
    width_ns_ = static_cast<double>(ns) / static_cast<double>(count);
    edge_ = width_ = next_width();
  }

  // Of a pixel, in ns.
  double width() const { return width_ns_; }

  void add(int64_t begin, int64_t end, State state) {
    uint64_t at = offset(begin);
    const uint64_t stop = offset(end);
    if (at >= edge_) [[unlikely]]
      leave_until(at);
    if (stop > edge_) {
      add_part(state, edge_ - at);
      at = edge_;
      next_pixel();
      const Pixel whole = weights_.of[state] > 0 ? Pixel{state, 255} : Pixel{};
      for (; stop > edge_; advance()) {
        at = edge_;
        pixels_[pixel_] = whole;
      }
    }
    add_part(state, stop - at);
  }

  // Times that are spread evenly from `begin` to `end`, which is later.
  void add(int64_t begin, int64_t end, const TimesList& times) {
    uint64_t at = offset(begin);
    const uint64_t stop = offset(end);
    if (at >= edge_) leave_until(at);
    const double one = 1 / static_cast<double>(distance(begin, end));
    const auto add_until = [&](uint64_t until) {
      const double part = static_cast<double>(until - at) * one;
      for (uint32_t i = 0; i < times.count; ++i)
        add_part(times.states[i],
                 static_cast<uint64_t>(part * static_cast<double>(times.ns[i]) + 0.5));
      at = until;
    };
    for (; stop > edge_; next_pixel()) add_until(edge_);
    add_until(stop);
  }

  void finish() { paint(); }

 private:
  static constexpr uint64_t kFinest = 256;  // of a pixel's parts

  static uint64_t distance(int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  }
  uint64_t offset(int64_t time) const {
    return distance(begin_, std::clamp(time, begin_, end_)) * parts_;
  }
  void add_part(State state, uint64_t part) {
    sum_[state] += part;
    touched_ |= 1u << state;
  }

  // What does not divide evenly, some pixels have more of.
  uint64_t next_width() {
    carry_ += rest_;
    if (carry_ < pixels_.size()) return whole_;
    carry_ -= pixels_.size();
    return whole_ + 1;
  }
  void advance() {
    ++pixel_;
    width_ = next_width();
    edge_ = pixel_ < pixels_.size() ? edge_ + width_ : UINT64_MAX;
  }
  void next_pixel() {
    paint();
    advance();
  }
  void leave_until(uint64_t at) {
    while (at >= edge_) next_pixel();
  }
  void paint() {
    double most = 0;
    for (; touched_ != 0; touched_ &= touched_ - 1) {
      const auto state = static_cast<State>(std::countr_zero(touched_));
      const auto sum = static_cast<double>(sum_[state]);
      const double weight = sum * static_cast<double>(weights_.of[state]);
      sum_[state] = 0;
      if (weight <= most || pixel_ >= pixels_.size()) continue;
      most = weight;
      const double share = sum * 255 / static_cast<double>(width_) + 0.5;
      pixels_[pixel_] = {state, static_cast<uint8_t>(std::clamp(share, 1.0, 255.0))};
    }
  }

  int64_t begin_;
  int64_t end_;
  const Weights& weights_;
  std::span<Pixel> pixels_;
  double width_ns_;
  uint64_t parts_;  // of a nanosecond, that times are counted in
  uint64_t whole_;  // so many a pixel has
  uint64_t rest_;   // and so many are left for all of them
  uint64_t carry_ = 0;
  size_t pixel_ = 0;      // that sum_ is of
  uint64_t width_ = 0;    // its
  uint64_t edge_ = 0;     // where it ends
  uint32_t touched_ = 0;  // a bit for each state in it
  std::array<uint64_t, kStates> sum_ = {};
};

}  // namespace strata::history
