// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/characters.h"

#include <array>
#include <cstring>

#include "format/ctf/cursor.h"

namespace strata::ctf {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

void append_utf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

bool is_surrogate(uint32_t c) { return c >= 0xd800 && c <= 0xdfff; }

// The character that an escape stands for; 0: none.
constexpr auto kEscapes = [] {
  std::array<char, 256> escapes{};
  escapes['\a'] = 'a';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  escapes['\v'] = 'v';
  escapes['"'] = '"';
  escapes['\''] = '\'';
  escapes['?'] = '?';
  escapes['\\'] = '\\';
  return escapes;
}();

// How many characters at the start of `text` stand for themselves, in whole blocks.
size_t plain_blocks(std::string_view text) {
  using Block = unsigned char __attribute__((vector_size(16)));
  size_t done = 0;
  for (; text.size() - done >= sizeof(Block); done += sizeof(Block)) {
    Block block;
    std::memcpy(&block, text.data() + done, sizeof block);
    const auto special = (block < 0x20) | (block == 0x7f) | (block == '"') | (block == '\'') |
                         (block == '?') | (block == '\\');
    uint64_t halves[2];
    static_assert(sizeof halves == sizeof special);
    std::memcpy(halves, &special, sizeof halves);
    if ((halves[0] | halves[1]) != 0) break;
  }
  return done;
}

}  // namespace

void put_escaped(std::string_view text, TextBuffer& out) {
  char* at = out.room(text.size() * 4);
  const size_t plain = plain_blocks(text);
  if (plain > 0) std::memcpy(at, text.data(), plain);
  at += plain;
  for (const char c : text.substr(plain)) {
    const auto byte = static_cast<unsigned char>(c);
    if (kEscapes[byte] != 0) {
      *at++ = '\\';
      *at++ = kEscapes[byte];
    } else if (byte < 0x20 || byte == 0x7f) {
      *at++ = '\\';
      *at++ = 'x';
      *at++ = "0123456789abcdef"[byte >> 4];
      *at++ = "0123456789abcdef"[byte & 15];
    } else {
      *at++ = c;
    }
  }
  out.advance_to(at);
}

std::string to_utf8(Bytes bytes, Encoding encoding) {
  const unsigned unit = unit_of(encoding);
  const bool big = encoding == Encoding::Utf16Be || encoding == Encoding::Utf32Be;
  const auto unit_at = [&](size_t i) {
    return static_cast<uint32_t>(trace::read_bits(bytes.data(), uint64_t{i} * 8, unit * 8, big));
  };
  std::string text;
  for (size_t i = 0; i + unit <= bytes.size(); i += unit) {
    uint32_t c = unit_at(i);
    if (c == 0) break;
    if (unit == 2 && is_surrogate(c)) {
      const uint32_t low = i + 4 <= bytes.size() ? unit_at(i + 2) : 0;
      if (c < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        i += 2;
      } else {
        c = kReplacement;
      }
    }
    append_utf8(c > 0x10ffff || is_surrogate(c) ? kReplacement : c, text);
  }
  return text;
}

}  // namespace strata::ctf
