// SPDX-License-Identifier: Apache-2.0
//
// This machine's clocks.

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "clock/anchor.h"
#include "clock/calibrate.h"
#include "clock/tsc.h"

namespace strata::clock {
namespace {

using std::chrono::milliseconds;

int64_t now(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

TEST(Tsc, TheCheckTellsWhatItFound) {
  const int64_t begin = now(CLOCK_MONOTONIC);
  const TscCheck check = check_tsc();
  const double ms = static_cast<double>(now(CLOCK_MONOTONIC) - begin) / 1e6;
  std::printf("%s%s: %u compared, %u not, at most %lu cycles apart, %.2f ms\n",
              check.trusted() ? "trusted" : "not trusted: ", check.reason.c_str(), check.compared,
              check.unmeasured, static_cast<unsigned long>(check.apart_cycles), ms);
  EXPECT_LT(ms, 500);
  if (!check.available) GTEST_SKIP() << check.reason;
  EXPECT_FALSE(check.clocksource.empty());
  if (check.trusted() && geteuid() == 0) {
    EXPECT_LT(check.apart_cycles, 1'000'000u) << "both threads could run at once";
  }
}

TEST(Tsc, ACpuThatIsNotThereIsNotMeasured) {
  if (!kHasTsc) GTEST_SKIP() << "no TSC";
  EXPECT_FALSE(measure_agreement(0, 100'000, milliseconds(5)));
}

TEST(Anchor, LiesBetweenReadingsBeforeAndAfter) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const int64_t raw = now(CLOCK_MONOTONIC_RAW), monotonic = now(CLOCK_MONOTONIC),
                  boottime = now(CLOCK_BOOTTIME), wall = now(CLOCK_REALTIME);
    const Anchor anchor = take_anchor();
    EXPECT_GE(anchor.monotonic_raw_ns, raw);
    EXPECT_LE(anchor.monotonic_raw_ns, now(CLOCK_MONOTONIC_RAW));
    EXPECT_GE(anchor.monotonic_ns, monotonic);
    EXPECT_LE(anchor.monotonic_ns, now(CLOCK_MONOTONIC));
    EXPECT_GE(anchor.boottime_ns, boottime);
    EXPECT_LE(anchor.boottime_ns, now(CLOCK_BOOTTIME));
    EXPECT_GE(anchor.wall_ns, wall);
    EXPECT_LE(anchor.wall_ns, now(CLOCK_REALTIME));
    least = std::min(least, anchor.uncertainty_ns);
  }
  std::printf("best anchor: +-%lu ns\n", static_cast<unsigned long>(least));
  EXPECT_LT(least, 1'000u);
}

TEST(Calibrate, TheLineOfTwoSecondsAgreesWithTheKernelsClocks) {
  if (const TscCheck check = check_tsc(); !check.trusted()) GTEST_SKIP() << check.reason;
  std::vector<Anchor> anchors;
  std::vector<Anchor> between;  // not given to the calibration
  for (int i = 0; i <= 20; ++i) {
    anchors.push_back(take_anchor());
    std::this_thread::sleep_for(milliseconds(50));
    between.push_back(take_anchor());
    std::this_thread::sleep_for(milliseconds(50));
  }
  between.pop_back();
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::Tsc, Reading::MonotonicRaw);
  ASSERT_TRUE(line) << line.error().text();
  const Result<trace::ClockMap> wall = follow_wall(anchors, Reading::Tsc);
  ASSERT_TRUE(wall) << wall.error().text();
  int64_t worst = 0, worst_wall = 0;
  for (const Anchor& anchor : between) {
    const int64_t off = line->at(anchor.tsc) - anchor.monotonic_raw_ns;
    const int64_t allowed = static_cast<int64_t>(line->bound_ns + anchor.uncertainty_ns);
    EXPECT_LE(std::abs(off), allowed);
    worst = std::max(worst, std::abs(off));
    worst_wall = std::max(worst_wall, std::abs(wall->at(anchor.tsc) - anchor.wall_ns));
  }
  const Tsc2Nsec option = tsc2nsec(*line, anchors.front().tsc);
  const WholeHertz hertz = whole_hertz(*line, anchors.front().tsc);
  std::printf(
      "line: bound %lu ns, worst %ld ns; wall: worst %ld ns; %lu Hz; TSC2NSEC %u >> %u "
      "drifts by %.0f ns an hour, whole Hz by %.0f\n",
      static_cast<unsigned long>(line->bound_ns), static_cast<long>(worst),
      static_cast<long>(worst_wall), static_cast<unsigned long>(hertz.frequency), option.mult,
      option.shift, option.drift * 3.6e12, hertz.drift * 3.6e12);
  EXPECT_LT(worst, 5'000);
  EXPECT_LT(worst_wall, 50'000);
}

}  // namespace
}  // namespace strata::clock
