// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "top/style.h"

namespace strata::top {

// How the number of a value is meant.
enum class Shown : uint8_t {
  Text,
  Id,              // a number that is a name
  Count,           // in the period
  PerSecond,       // counted in the period, shown by the second
  Bytes,           // at the end of the period
  BytesPerSecond,  // in the period, shown by the second
  Share,           // nanoseconds of the period, shown in percent of it, or as they are
  Duration,        // nanoseconds of something's length
  Percent,         // in thousandths of one
  Ratio,           // in thousandths
};

// What stands in one place of a list.
struct Value {
  enum class Kind : uint8_t { Nothing, Unknown, Number, Text };
  Kind kind = Kind::Nothing;
  bool is_estimated = false;
  uint64_t number = 0;
  std::string text = {};

  static Value unknown() { return {Kind::Unknown}; }
  static Value of(uint64_t number, bool is_estimated = false) {
    return {Kind::Number, is_estimated, number};
  }
  static Value of(std::string text) { return {Kind::Text, false, 0, std::move(text)}; }
};

// What numbers are seen against.
struct Scale {
  uint64_t length_ns = 0;  // of the period
  bool in_ns = false;      // shares of time are shown in nanoseconds, not in percent
};

// The number in the unit in which people see it, and conditions name it: percent, by the second.
std::optional<double> amount_of(const Value& value, Shown shown, const Scale& scale);
// As short as it stands in a list: "12.3", "~4.5M", "?".
std::string text_of(const Value& value, Shown shown, const Scale& scale);
// What conditions compare: the whole number, or the text.
std::string plain_text_of(const Value& value, Shown shown, const Scale& scale);
// Columns that the longest usual text of this kind takes.
unsigned width_of(Shown shown, const Scale& scale);

// "1.23M": three digits and a power of a thousand.
std::string short_number(double number);
// "12.3us"
std::string short_duration(uint64_t ns);

}  // namespace strata::top
