// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "trace/event.h"

namespace strata::trace {

// What of a TCP segment is the same at both ends of a connection and, taken together, seldom the
// same in two segments.
struct TcpSegment {
  uint32_t sequence = 0;
  uint32_t acknowledged = 0;
  uint16_t flags = 0;

  auto operator<=>(const TcpSegment&) const = default;
};

// Where events of one type tell the segment that a packet holds: of LTTng's kernel tracer since
// version 2.9, whose events of packets hold the headers, and of an experimental one of before. The
// kernel's own tracer does not tell it.
class TcpFields {
 public:
  enum class Way : uint8_t { None, Sent, Received };

  explicit TcpFields(const EventType& type);

  Way way() const { return way_; }
  // Nothing where the event's packet is no TCP segment.
  std::optional<TcpSegment> read(const Event& event) const;

 private:
  struct Header {
    FieldRef sequence;
    FieldRef acknowledged;
    FieldRef flags;
  };
  Way way_ = Way::None;
  std::array<Header, 2> headers_;  // in a packet of IPv4 and of IPv6
};

}  // namespace strata::trace
