// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "format/tracedat/layout.h"
#include "trace/clock_map.h"

namespace strata::tracedat {

// One measurement of how a guest's clock stands against its host's.
struct ShiftSample {
  uint64_t time = 0;     // the guest's clock
  int64_t offset = 0;    // to be added to it
  uint64_t scaling = 1;  // the guest's clock runs scaling / 2^fraction times as fast as the host's
  uint8_t fraction = 0;

  bool operator==(const ShiftSample&) const = default;
};

// The TIME_SHIFT option.
struct TimeShift {
  uint64_t peer_trace_id = 0;
  bool interpolate = false;
  std::vector<std::vector<ShiftSample>> cpus;

  bool operator==(const TimeShift&) const = default;
};

Result<TimeShift> parse_time_shift(const Option& option, ByteOrder order, const std::string& file);
std::vector<std::byte> encode_time_shift(const TimeShift& shift, ByteOrder order);

// What one CPU's samples say, as a map from the guest's clock to the host's. With `interpolate` a
// straight line leads from each sample to the next, and on beyond the first and last; without, each
// sample holds until the next.
//
// KVM defines guest = offset' + host x scaling / 2^fraction with offset' = -offset, so the map is
// the inverse: host = (guest + offset) x 2^fraction / scaling.
trace::ClockMap shift_map(const std::vector<ShiftSample>& samples, bool interpolate);

// All that the options say of time.
struct ClockOptions {
  std::optional<TimeShift> shift;
  bool has_tsc = false;
  uint32_t tsc_mult = 1;
  uint32_t tsc_shift = 0;
  uint64_t tsc_offset = 0;  // kept; no reader applies it
  int64_t offset_ns = 0;    // OFFSET and DATE together
  bool has_date = false;

  // The chain of maps from what `cpu` stamped to the file's timeline.
  std::vector<trace::ClockMap> chain(uint32_t cpu) const;
};

// Problems (an option that is cut off or makes no sense) go to `problems`; such an option is left
// out.
ClockOptions read_clock_options(const Layout& layout, const std::string& file,
                                std::vector<Error>& problems);

}  // namespace strata::tracedat
