// SPDX-License-Identifier: Apache-2.0
#include "clock/probe_link.h"

#include <algorithm>

#include "base/byte_writer.h"
#include "base/bytes.h"

namespace strata::clock {
namespace {

constexpr uint32_t kLast = 1;

}  // namespace

ProbeBytes to_bytes(const Probe& probe) {
  ByteWriter out(ByteOrder::Little);
  out.u32(probe.number);
  out.u32(probe.last ? kLast : 0);
  out.u64(probe.burst);
  out.u64(probe.sent);
  out.u64(probe.received);
  ProbeBytes bytes{};
  std::ranges::copy(out.bytes(), bytes.begin());
  return bytes;
}

Probe to_probe(const ProbeBytes& bytes) {
  ByteReader in(bytes, ByteOrder::Little);
  Probe probe;
  probe.number = in.u32();
  probe.last = (in.u32() & kLast) != 0;
  probe.burst = in.u64();
  probe.sent = in.u64();
  probe.received = in.u64();
  return probe;
}

}  // namespace strata::clock
