// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::ftrace {

// Addresses as the kernel's %p conversions show them. Each writes at `out` and gives the end; the
// room they need is the constant beside them.

constexpr size_t kMacRoom = 17;
// No separator: '\0'.
char* write_mac(char* out, const uint8_t* mac, char separator, bool backwards);

constexpr size_t kIpv4Room = 15;
// `padded`: three digits each.
char* write_ipv4(char* out, const uint8_t* address, bool padded, bool backwards);

constexpr size_t kIpv6Room = 47;
char* write_ipv6(char* out, const uint8_t* address, bool colons);
// The longest run of zeros left out, the last part as IPv4 where it is one.
char* write_ipv6_compressed(char* out, const uint8_t* address);

constexpr size_t kUuidRoom = 36;
// b: as it is; l: its first three parts are little-endian; capitals give capital digits.
char* write_uuid(char* out, const uint8_t* uuid, char style);

char* write_hex_byte(char* out, uint8_t byte);

}  // namespace strata::ftrace
