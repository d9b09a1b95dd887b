// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/uuid.h"

#include <fmt/format.h>

#include <charconv>

namespace strata::ctf {
namespace {

constexpr size_t kSize = 16;
constexpr size_t kTextSize = 36;

bool has_dash_before(size_t byte) { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

}  // namespace

std::optional<std::string> parse_uuid(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  std::string bytes;
  const char* at = text.data();
  for (size_t i = 0; i < kSize; ++i) {
    if (has_dash_before(i) && *at++ != '-') return std::nullopt;
    uint8_t byte = 0;
    auto [stopped, problem] = std::from_chars(at, at + 2, byte, 16);
    if (problem != std::errc() || stopped != at + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
    at += 2;
  }
  return bytes;
}

std::string uuid_text(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (has_dash_before(i)) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

}  // namespace strata::ctf
