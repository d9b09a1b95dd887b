// SPDX-License-Identifier: Apache-2.0
#include "record/host_clock.h"

#include <time.h>

#include <cinttypes>
#include <cstdio>

#include "base/byte_writer.h"

namespace strata::record {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

// How far the wall clock is ahead of another: from the closest of several pairs of readings.
int64_t wall_ahead_of(clockid_t id) {
  int64_t best = 0;
  int64_t narrowest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 20; ++i) {
    const int64_t before = read_clock(id);
    const int64_t wall = read_clock(CLOCK_REALTIME);
    const int64_t after = read_clock(id);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = wall - (before + (after - before) / 2);
  }
  return best;
}

}  // namespace

std::vector<tracedat::NewOption> HostClock::options() const {
  using tracedat::OptionId;
  std::vector<tracedat::NewOption> options;
  options.push_back(tracedat::text_option(OptionId::TraceClock, "[" + kernel_name + "]"));
  // DATE has microseconds only; what is left over goes into OFFSET.
  int64_t microseconds = offset_ns / 1000;
  if (offset_ns % 1000 < 0) --microseconds;
  char date[32];
  std::snprintf(date, sizeof date, "0x%" PRIx64, static_cast<uint64_t>(microseconds));
  options.push_back(tracedat::text_option(OptionId::Date, date));
  options.push_back(
      tracedat::text_option(OptionId::Offset, std::to_string(offset_ns - microseconds * 1000)));
  if (mult != 1 || shift != 0) {
    ByteWriter data(kNativeOrder);
    data.u32(mult);
    data.u32(shift);
    data.u64(0);
    options.push_back({OptionId::Tsc2Nsec, std::move(data).bytes()});
  }
  return options;
}

Result<HostClock> choose_clock(const std::string& wanted) {
  HostClock clock;
  clock.kernel_name = wanted.empty() ? "mono_raw" : wanted;
  clock.name = "host." + clock.kernel_name;
  refine(clock);
  return clock;
}

void refine(HostClock& clock) {
  clock.offset_ns = wall_ahead_of(CLOCK_MONOTONIC_RAW);
  clock.map = trace::ClockMap({{.t0 = 0, .u0 = clock.offset_ns}});
  clock.map.from = clock.name;
  clock.map.to = "epoch";
}

}  // namespace strata::record
