// SPDX-License-Identifier: Apache-2.0
#include "ftrace/address_text.h"

#include "base/text_buffer.h"

namespace strata::ftrace {
namespace {

constexpr char kLower[] = "0123456789abcdef";
constexpr char kUpper[] = "0123456789ABCDEF";

char* write_byte(char* out, uint8_t byte, const char* digits) {
  out[0] = digits[byte >> 4];
  out[1] = digits[byte & 15];
  return out + 2;
}

uint16_t group(const uint8_t* address, int i) {
  return static_cast<uint16_t>(address[2 * i] << 8 | address[2 * i + 1]);
}

// ::ffff:a.b.c.d, and the interface identifiers 0:5efe and 200:5efe of ISATAP.
bool ends_in_ipv4(const uint8_t* address) {
  bool mapped = group(address, 4) == 0 && group(address, 5) == 0xffff;
  for (int i = 0; i < 4; ++i) mapped = mapped && group(address, i) == 0;
  const bool isatap = (group(address, 4) | 0x0200) == 0x0200 && group(address, 5) == 0x5efe;
  return mapped || isatap;
}

}  // namespace

char* write_hex_byte(char* out, uint8_t byte) { return write_byte(out, byte, kLower); }

char* write_mac(char* out, const uint8_t* mac, char separator, bool backwards) {
  for (int i = 0; i < 6; ++i) {
    if (i > 0 && separator != '\0') *out++ = separator;
    out = write_hex_byte(out, mac[backwards ? 5 - i : i]);
  }
  return out;
}

char* write_ipv4(char* out, const uint8_t* address, bool padded, bool backwards) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) *out++ = '.';
    const uint64_t part = address[backwards ? 3 - i : i];
    out = padded ? write_padded(out, part, 3) : write_decimal(out, part);
  }
  return out;
}

char* write_ipv6(char* out, const uint8_t* address, bool colons) {
  for (int i = 0; i < 16; ++i) {
    if (colons && i > 0 && i % 2 == 0) *out++ = ':';
    out = write_hex_byte(out, address[i]);
  }
  return out;
}

char* write_ipv6_compressed(char* out, const uint8_t* address) {
  const bool ipv4 = ends_in_ipv4(address);
  const int groups = ipv4 ? 6 : 8;
  // A single zero is not worth leaving out.
  int gap = -1;
  int gap_size = 1;
  for (int begin = 0; begin < groups; ++begin) {
    int end = begin;
    while (end < groups && group(address, end) == 0) ++end;
    if (end - begin > gap_size) {
      gap = begin;
      gap_size = end - begin;
    }
  }
  bool colon = false;
  for (int i = 0; i < groups; ++i) {
    if (i == gap) {
      if (colon || i == 0) *out++ = ':';
      *out++ = ':';
      colon = false;
      i += gap_size - 1;
      continue;
    }
    if (colon) *out++ = ':';
    out = write_hex(out, group(address, i));
    colon = true;
  }
  if (!ipv4) return out;
  if (colon) *out++ = ':';
  return write_ipv4(out, address + 12, false, false);
}

char* write_uuid(char* out, const uint8_t* uuid, char style) {
  static constexpr uint8_t kAsIs[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr uint8_t kGuid[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  const uint8_t* order = style == 'l' || style == 'L' ? kGuid : kAsIs;
  const char* digits = style == 'L' || style == 'B' ? kUpper : kLower;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
    out = write_byte(out, uuid[order[i]], digits);
  }
  return out;
}

}  // namespace strata::ftrace
