// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "clock/burst.h"

namespace strata::clock {

// Two machines whose clocks are known exactly, and a link between them with delays of all kinds.
struct SimulatedLink {
  double here_hz = 2.4e9;
  double there_hz = 3.1e9;
  double wander = 0;  // how fast the other clock's rate changes, relative, a second

  double forth_ns = 7'000;  // of the fastest message
  double back_ns = 7'000;
  double noise_ns = 800;       // the mean of what is added to each, most of it small
  double preempted = 0.01;     // how often a message waits for a CPU
  double preemption_ns = 4e6;  // and for how long, on the average
  double turn_ns = 300;        // from a message's arrival to the answer
  uint64_t here_begin = 1'000'000'000'000;
  uint64_t there_begin = 77'000'000'000;

  std::mt19937_64 random{1};

  // Readings at a time in seconds since the beginning, with fractions of a tick.
  long double here_at(long double seconds) const { return here_begin + seconds * here_hz; }
  long double there_at(long double seconds) const {
    return there_begin + (seconds + wander * seconds * seconds / 2) * there_hz;
  }
  // The true reading here at a reading there.
  long double here_of(uint64_t there) const {
    const long double passed = (static_cast<long double>(there) - there_begin) / there_hz;
    // seconds + wander x seconds^2 / 2 = passed
    const long double seconds =
        wander == 0 ? passed
                    : (std::sqrt(1 + 2 * static_cast<long double>(wander) * passed) - 1) / wander;
    return here_at(seconds);
  }

  double delay_ns(double least) {
    std::exponential_distribution<double> noise(1);
    double delay = least + noise_ns * std::pow(noise(random), 2) / 2;
    if (std::uniform_real_distribution<double>(0, 1)(random) < preempted)
      delay += preemption_ns * noise(random);
    return delay;
  }

  // `messages` to and fro, from `seconds` on.
  Burst burst(double begin, int messages) {
    Burst all;
    long double seconds = begin;
    for (int i = 0; i < messages; i += 2) {
      Crossing forth;
      forth.sent = static_cast<uint64_t>(here_at(seconds));
      seconds += delay_ns(forth_ns) * 1e-9L;
      forth.received = static_cast<uint64_t>(there_at(seconds)) + 1;
      all.forth.push_back(forth);
      seconds += turn_ns * 1e-9L;
      Crossing back;
      back.sent = static_cast<uint64_t>(there_at(seconds));
      seconds += delay_ns(back_ns) * 1e-9L;
      back.received = static_cast<uint64_t>(here_at(seconds)) + 1;
      all.back.push_back(back);
      seconds += turn_ns * 1e-9L;
    }
    return all;
  }
};

}  // namespace strata::clock
