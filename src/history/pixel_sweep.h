// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "history/history.h"

namespace strata::history {

// Paints pixels from what comes in the order of time.
class PixelSweep {
 public:
  PixelSweep(int64_t begin, int64_t end, const Weights& weights, std::span<Pixel> pixels)
      : begin_(begin),
        pixels_a_ns_(static_cast<double>(pixels.size()) / distance(begin, end)),
        weights_(weights),
        pixels_(pixels) {}

  // Of a pixel, in ns.
  double width() const { return 1 / pixels_a_ns_; }

  void add(int64_t begin, int64_t end, State state) {
    TimesList times;
    times.count = 1;
    times.states[0] = state;
    times.ns[0] = static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
    add(begin, end, times);
  }

  // Times that are spread evenly from `begin` to `end`.
  void add(int64_t begin, int64_t end, const TimesList& times) {
    const double first = pixels_before(begin);
    const double last = pixels_before(end);
    const double stop = std::min(last, static_cast<double>(pixels_.size()));
    const double a_pixel = 1 / (last - first);  // the part that lies in a whole one
    for (double at = std::max(first, 0.0); at < stop;) {
      const auto pixel = static_cast<size_t>(at);
      if (pixel != pixel_) finish_pixel(pixel);
      const double next = std::min(static_cast<double>(pixel + 1), stop);
      const double part = (next - at) * a_pixel;
      for (uint32_t i = 0; i < times.count; ++i) {
        sum_[times.states[i]] += part * static_cast<double>(times.ns[i]);
        touched_ |= 1u << times.states[i];
      }
      at = next;
    }
  }

  void finish() { finish_pixel(pixels_.size()); }

 private:
  // Times may be as far apart as 64 bits allow.
  static double distance(int64_t from, int64_t to) {
    const auto forward = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    return to >= from ? static_cast<double>(forward) : -static_cast<double>(-forward);
  }
  double pixels_before(int64_t time) const { return distance(begin_, time) * pixels_a_ns_; }

  void finish_pixel(size_t next) {
    double most = 0;
    for (; touched_ != 0; touched_ &= touched_ - 1) {
      const auto state = static_cast<State>(std::countr_zero(touched_));
      const double weight = sum_[state] * static_cast<double>(weights_.of[state]);
      if (weight > most) {
        most = weight;
        const double share = sum_[state] * pixels_a_ns_ * 255 + 0.5;
        pixels_[pixel_] = {state, static_cast<uint8_t>(std::clamp(share, 1.0, 255.0))};
      }
      sum_[state] = 0;
    }
    pixel_ = next;
  }

  int64_t begin_;
  double pixels_a_ns_;
  const Weights& weights_;
  std::span<Pixel> pixels_;
  size_t pixel_ = SIZE_MAX;  // the one that sum_ is of
  uint32_t touched_ = 0;     // a bit for each state in it
  std::array<double, kStates> sum_ = {};
};

}  // namespace strata::history
