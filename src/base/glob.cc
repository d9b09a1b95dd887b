// SPDX-License-Identifier: Apache-2.0
#include "base/glob.h"

#include <utility>

namespace strata {
namespace {

// One element of a pattern that stands for one character: does it match `c`? `at` moves behind it.
bool element_matches(std::string_view pattern, size_t& at, char c) {
  char first = pattern[at++];
  if (first == '?') return true;
  if (first == '\\' && at < pattern.size()) return pattern[at++] == c;
  if (first != '[') return first == c;

  size_t i = at;
  bool inverted = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (inverted) ++i;
  bool found = false;
  // A "]" that comes first is a character of the class, as in the shell.
  for (bool first_member = true; i < pattern.size(); first_member = false) {
    auto low = static_cast<unsigned char>(pattern[i]);
    if (low == ']' && !first_member) {
      at = i + 1;
      return found != inverted;
    }
    if (low == '\\' && i + 1 < pattern.size()) low = static_cast<unsigned char>(pattern[++i]);
    ++i;
    unsigned char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = static_cast<unsigned char>(pattern[i + 1]);
      i += 2;
      if (high == '\\' && i < pattern.size()) high = static_cast<unsigned char>(pattern[i++]);
    }
    auto wanted = static_cast<unsigned char>(c);
    if (low <= wanted && wanted <= high) found = true;
  }
  return c == '[';  // never closed
}

// Remembers the last "*" only: when what follows it fails, that star takes one more character. An
// earlier star never needs to take more, since what was matched up to the last one can stay.
bool general_match(std::string_view pattern, std::string_view text) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t p = 0;
  size_t t = 0;
  size_t after_star = kNone;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_text = t;
      if (p == pattern.size()) return true;
      continue;
    }
    if (p < pattern.size() && element_matches(pattern, p, text[t])) {
      ++t;
      continue;
    }
    if (after_star == kNone) return false;
    p = after_star;
    t = ++star_text;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

Glob::Glob(std::string pattern) : pattern_(std::move(pattern)) {
  size_t begin = 0;
  size_t end = pattern_.size();
  bool leading = false;
  bool trailing = false;
  while (begin < end && pattern_[begin] == '*') leading = true, ++begin;
  // Only where it is not escaped; "\\*" at the end is rare enough to be left to the general way.
  while (end > begin && pattern_[end - 1] == '*' && (end < 2 || pattern_[end - 2] != '\\'))
    trailing = true, --end;
  for (size_t i = begin; i < end; ++i) {
    char c = pattern_[i];
    if (c == '*' || c == '?' || c == '[') return;
    if (c == '\\') {
      if (i + 1 >= end) return;
      c = pattern_[++i];
    }
    literal_ += c;
  }
  if (literal_.empty() && (leading || trailing)) {
    shape_ = Shape::Any;
  } else {
    shape_ = leading ? (trailing ? Shape::Middle : Shape::Suffix)
                     : (trailing ? Shape::Prefix : Shape::Whole);
  }
}

bool Glob::matches(std::string_view text) const {
  switch (shape_) {
    case Shape::Whole:
      return text == literal_;
    case Shape::Prefix:
      return text.starts_with(literal_);
    case Shape::Suffix:
      return text.ends_with(literal_);
    case Shape::Middle:
      return text.find(literal_) != std::string_view::npos;
    case Shape::Any:
      return true;
    case Shape::General:
      break;
  }
  return general_match(pattern_, text);
}

}  // namespace strata
