// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::kernel {

struct Socket {
  uint64_t inode = 0;
  std::string protocol;  // "tcp", "tcp6", "udp", "udp6", "unix"
  std::string local;     // "127.0.0.1:22", "[::1]:53", a path, "@" and an abstract name
  std::string peer;      // empty: none, or the kernel does not tell (unix)
  std::string state;     // "LISTEN", "ESTABLISHED", ...

  bool operator==(const Socket&) const = default;
};

// /proc/net/tcp, tcp6, udp, udp6. Appended to `sockets`: only those that a process still holds.
void parse_internet_sockets(std::string_view text, std::string_view protocol,
                            std::vector<Socket>& sockets);
// /proc/net/unix
void parse_unix_sockets(std::string_view text, std::vector<Socket>& sockets);

}  // namespace strata::kernel
