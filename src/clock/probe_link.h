// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace strata::clock {

// A message of a burst, 32 bytes, little-endian: what two machines send to and fro to find out how
// their counters stand to each other.
struct Probe {
  uint32_t number = 0;    // in its burst; who asks sends the even ones
  bool last = false;      // who asks has enough; the answer to it is the last too
  uint64_t burst = 0;     // which one, so that what is left over from another is passed over
  uint64_t sent = 0;      // the sender's counter, just before
  uint64_t received = 0;  // the sender's counter when the message before this one had come
};

using ProbeBytes = std::array<std::byte, 32>;
ProbeBytes to_bytes(const Probe& probe);
Probe to_probe(const ProbeBytes& bytes);  // any bytes are one

// What probes go over: a connection that delivers in order, whole, and each at once (TCP without
// delay). Only one thing at a time goes over it: nothing else during a burst.
class ProbeLink {
 public:
  virtual ~ProbeLink() = default;

  // Sends it now.
  virtual Status send(const ProbeBytes& bytes) = 0;
  // Takes a probe that has come, without waiting. False: none is there yet, or not all of it.
  virtual Result<bool> try_receive(ProbeBytes& bytes) = 0;
  // Sleeps until something may have come, at most so long.
  virtual void wait(std::chrono::microseconds most) = 0;
};

}  // namespace strata::clock
