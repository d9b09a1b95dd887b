// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::guest {

enum class Transport : uint8_t { Tcp, Vsock, Virtio, Unix };

inline constexpr uint32_t kDefaultPort = 7823;
inline constexpr uint32_t kAnyCid = UINT32_MAX;

// Where an agent is, or where it listens.
//
//     tcp://HOST[:PORT]   HOST a name, 192.0.2.1 or [2001:db8::1]; to listen: * for everywhere
//     vsock://CID[:PORT]  to listen: * for any
//     virtio://PATH       a control port: on the host QEMU's UNIX socket or pipe, in the guest a
//                         device or the name of a port (strata.ctl)
//     unix://PATH         a UNIX socket
struct Address {
  Transport transport = Transport::Tcp;
  std::string host = {};         // Tcp: without brackets; empty: everywhere
  uint32_t cid = kAnyCid;        // Vsock
  uint32_t port = kDefaultPort;  // Tcp, Vsock
  std::string path = {};         // Virtio, Unix

  // As it is read.
  std::string text() const;
  bool operator==(const Address&) const = default;
};

Result<Address> parse_address(std::string_view text);

// The port for a stream of a recording beside a control port: for the last "ctl" of its name
// "cpu3", or "clock" for probes of the clocks.
Result<Address> stream_port(const Address& control, uint32_t stream);

}  // namespace strata::guest
