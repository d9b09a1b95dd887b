// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/byte_writer.h"
#include "base/bytes.h"
#include "base/result.h"
#include "guest/protocol.h"

namespace strata::guest {

// A body names its fields once, in fields(), for both directions: an Encoder writes them and a
// Decoder reads them, with the same limits.

constexpr bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// A name that can be a file's wherever it comes to lie: letters, digits, '.', '_', '-', not at its
// beginning a dot; at most one '/' between two such names.
constexpr bool is_file_name(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash != std::string_view::npos)
    return name.find('/', slash + 1) == std::string_view::npos &&
           is_file_name(name.substr(0, slash)) && is_file_name(name.substr(slash + 1));
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

template <typename T>
concept Number = std::unsigned_integral<T> && !std::same_as<T, bool>;

class Encoder {
 public:
  template <Number T>
  void number(T value) {
    if constexpr (sizeof(T) == 1) out_.u8(value);
    if constexpr (sizeof(T) == 2) out_.u16(value);
    if constexpr (sizeof(T) == 4) out_.u32(value);
    if constexpr (sizeof(T) == 8) out_.u64(value);
  }
  void flag(bool value) { out_.u8(value ? 1 : 0); }
  template <typename E>
  void choice(E value, [[maybe_unused]] E first, [[maybe_unused]] E last) {
    open_choice(value);
  }
  template <typename E>
  void open_choice(E value) {
    number(static_cast<std::underlying_type_t<E>>(value));
  }
  template <size_t Size>
  void array(const std::array<std::byte, Size>& value) {
    out_.raw(value);
  }
  // What is too long is cut, and what is not printable becomes '?'.
  void text(std::string_view value, size_t most) {
    value = value.substr(0, most);
    out_.u16(static_cast<uint16_t>(value.size()));
    for (const char c : value) out_.u8(static_cast<uint8_t>(is_printable(c) ? c : '?'));
  }
  void file_name(std::string_view value, size_t most) { text(value, most); }
  // What goes beyond `most` is left out.
  template <typename T, typename Each>
  void list(const std::vector<T>& values, uint32_t most, [[maybe_unused]] size_t least_bytes,
            Each each) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(values.size(), most));
    out_.u32(count);
    for (uint32_t i = 0; i < count; ++i) each(values[i]);
  }
  // The last field: all that is left of the body.
  void rest(Bytes value, size_t most) { out_.raw(value.first(std::min(value.size(), most))); }

  std::vector<std::byte> take() && { return std::move(out_).bytes(); }

 private:
  ByteWriter out_{ByteOrder::Little};
};

class Decoder {
 public:
  explicit Decoder(Bytes body) : in_(body, ByteOrder::Little) {}

  template <Number T>
  void number(T& value) {
    if constexpr (sizeof(T) == 1) value = in_.u8();
    if constexpr (sizeof(T) == 2) value = in_.u16();
    if constexpr (sizeof(T) == 4) value = in_.u32();
    if constexpr (sizeof(T) == 8) value = in_.u64();
  }
  void flag(bool& value) {
    const uint8_t byte = in_.u8();
    value = byte != 0;
    expect(byte <= 1, "a flag that is neither 0 nor 1");
  }
  template <typename E>
  void choice(E& value, E first, E last) {
    open_choice(value);
    expect(value >= first && value <= last, "a choice that there is not");
  }
  // One that a later version may have added to.
  template <typename E>
  void open_choice(E& value) {
    std::underlying_type_t<E> chosen{};
    number(chosen);
    value = static_cast<E>(chosen);
  }
  template <size_t Size>
  void array(std::array<std::byte, Size>& value) {
    const Bytes bytes = in_.take(Size);
    if (bytes.size() == Size) std::ranges::copy(bytes, value.begin());
  }
  void text(std::string& value, size_t most) {
    const uint16_t size = in_.u16();
    if (!expect(size <= most, "a text that is too long")) return;
    value = as_text(in_.take(size));
    expect(std::ranges::all_of(value, is_printable), "a text that is not printable");
  }
  void file_name(std::string& value, size_t most) {
    text(value, most);
    expect(is_file_name(value), "a name that is none of a file");
  }
  // `least_bytes`, which one of them takes at least: nothing is made for elements that cannot be
  // there.
  template <typename T, typename Each>
  void list(std::vector<T>& values, uint32_t most, size_t least_bytes, Each each) {
    const uint32_t count = in_.u32();
    if (!expect(count <= most, "a list that is too long") ||
        !expect(count * least_bytes <= in_.remaining(), "a list without its end"))
      return;
    values.resize(count);
    for (T& value : values) each(value);
  }
  void rest(Bytes& value, size_t most) {
    if (expect(in_.remaining() <= most, "more bytes than there may be"))
      value = in_.take(in_.remaining());
  }

  // Whatever is behind the last field is of a later version.
  bool ok() const { return in_.ok() && problem_.empty(); }
  std::string_view problem() const { return in_.ok() ? problem_ : "fields without their end"; }

 private:
  bool expect(bool holds, std::string_view otherwise) {
    if (!holds && ok()) problem_ = otherwise;
    return ok();
  }

  ByteReader in_;
  std::string_view problem_;
};

// The whole message, its head included.
template <typename Body>
std::vector<std::byte> encode(const Body& body, uint32_t recording = 0) {
  Encoder fields;
  Body::fields(body, fields);
  const std::vector<std::byte> bytes = std::move(fields).take();
  ByteWriter message(ByteOrder::Little);
  message.u32(static_cast<uint32_t>(bytes.size()));
  message.u16(static_cast<uint16_t>(Body::kKind));
  message.u16(0);
  message.u32(recording);
  message.raw(bytes);
  return std::move(message).bytes();
}

// The first message in its direction.
inline std::vector<std::byte> with_preamble(Bytes message) {
  ByteWriter all(ByteOrder::Little);
  all.text(kPreamble);
  all.raw(message);
  return std::move(all).bytes();
}

// What a Body has of views lies in the message.
template <typename Body>
Result<Body> decode(const Message& message) {
  if (message.kind != Body::kKind)
    return Error{"", std::nullopt,
                 "a message that is no " + std::string(info_of(Body::kKind)->name)};
  Body body;
  Decoder fields(message.body);
  Body::fields(body, fields);
  if (!fields.ok())
    return Error{"", std::nullopt,
                 std::string(info_of(Body::kKind)->name) + " has " + std::string(fields.problem())};
  return body;
}

}  // namespace strata::guest
