// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "trace/clock_map.h"

namespace strata::clock {

// What KVM makes of the host's counter for a virtual CPU, modulo 2^64:
//
//     guest = (host x ratio >> fraction_bits) + offset
struct CounterShift {
  uint64_t offset = 0;
  uint64_t ratio = 1;  // ratio / 2^fraction_bits; 1 and 0: the host's own rate
  uint8_t fraction_bits = 0;

  uint64_t guest(uint64_t host) const {
    return static_cast<uint64_t>(UInt128{host} * ratio >> fraction_bits) + offset;
  }
  // As told by somebody: a ratio that is not zero, at most 62 bits behind the point.
  bool is_valid() const { return ratio != 0 && fraction_bits <= 62; }
  bool operator==(const CounterShift&) const = default;
};

// From this reading of the host's counter on it is so.
struct CounterChange {
  uint64_t host = 0;
  uint32_t vcpu = 0;
  CounterShift shift;
  bool is_anew = false;  // the guest was reset, or put back into a state of before
};

// The maps from the guest's counter to the host's, one for each segment, from all that is known of
// one guest's virtual CPUs. Changes that are not valid are left out.
//
// The guest takes its counters for one, and so does the map: it is that of the lowest vCPU, and the
// bound says how far another was off meanwhile, as it is for a moment whenever KVM writes them one
// by one. Otherwise the map is exact, or to a tick of both clocks where the guest has another rate.
//
// Where the guest's counter is set forward, the readings that were left out are a gap. Where it is
// set back, as when a guest that was stopped goes on with the reading it had, readings from there
// on belong to the time after. A new segment begins where the guest began anew, and where its
// counter is set back behind all that it was, since readings then repeat.
std::vector<trace::ClockMap> guest_maps(std::span<const CounterChange> changes,
                                        double host_ns_per_tick);

}  // namespace strata::clock
