// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "format/ctf/metadata_writer.h"

namespace strata::ctf {

// The value of one field, a view: a number, characters, or the elements of an array or sequence as
// they lie in memory.
class Value {
 public:
  template <std::integral T>
  Value(T number) : number_(static_cast<uint64_t>(number)) {}
  Value(double number) : real_(number), kind_(Kind::Real) {}
  Value(std::string_view text) : bytes_(as_bytes(text)), kind_(Kind::Bytes) {}
  Value(const char* text) : Value(std::string_view(text)) {}
  template <std::integral T>
  Value(std::span<const T> elements) : bytes_(std::as_bytes(elements)), kind_(Kind::Bytes) {}
  Value(Bytes bytes) : bytes_(bytes), kind_(Kind::Bytes) {}

  bool is_integer() const { return kind_ == Kind::Integer; }
  uint64_t number() const { return number_; }  // of a signed one, the same bits
  double real() const { return kind_ == Kind::Real ? real_ : static_cast<double>(number_); }
  Bytes bytes() const { return bytes_; }
  bool has_bytes() const { return kind_ == Kind::Bytes; }

 private:
  enum class Kind : uint8_t { Integer, Real, Bytes };
  uint64_t number_ = 0;
  double real_ = 0;
  Bytes bytes_;
  Kind kind_ = Kind::Integer;
};

// How many bytes `values` take as `fields`; nothing where they do not fit them: another number of
// them, or characters for a number.
std::optional<size_t> encoded_size(std::span<const NewField> fields, std::span<const Value> values);
// Puts them at `out`, where there is room for that many, and gives the end. Texts are cut off or
// filled up with zeros to the length of their field, arrays likewise.
std::byte* encode(std::span<const NewField> fields, std::span<const Value> values, std::byte* out);

}  // namespace strata::ctf
