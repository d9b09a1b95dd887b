// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace strata::kernel {

// The kernel's text files, taken apart from the left: each of these takes what it gives off the
// front of `text`. At the end there is only empty text.

inline std::string_view take_until(std::string_view& text, char end) {
  const size_t length = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

inline std::string_view take_line(std::string_view& text) { return take_until(text, '\n'); }

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

inline std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const size_t length = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// The whole of `text` as a number that fits.
template <std::integral T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value, base);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace strata::kernel
