// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata::probe {

// Characters that lie somewhere, without a NUL at their end.
struct Characters {
  const char* begin;
  const char* end;
};

// One element of a pattern that stands for one character; `at` moves behind it.
inline bool element_matches(const char*& at, const char* end, char c) {
  const char first = *at++;
  if (first == '?') return true;
  if (first == '\\' && at != end) return *at++ == c;
  if (first != '[') return first == c;
  const auto wanted = static_cast<unsigned char>(c);
  const auto literal = [end](const char*& i) {  // a member of a class, as it is or behind a "\"
    if (*i == '\\' && end - i > 1) ++i;
    return static_cast<unsigned char>(*i++);
  };
  const char* i = at;
  const bool inverted = i != end && (*i == '!' || *i == '^');
  if (inverted) ++i;
  bool found = false;
  for (const char* const members = i; i != end;) {
    if (*i == ']' && i != members) {
      at = i + 1;
      return found != inverted;
    }
    const unsigned char low = literal(i);
    unsigned char high = low;
    if (end - i > 1 && i[0] == '-' && i[1] != ']') high = literal(++i);
    found = found || (low <= wanted && wanted <= high);
  }
  return c == '[';  // never closed: it stands for itself
}

// Whether the text is as the pattern says: * any characters, ? one, [a-z] one of these, [!a-z] none
// of these, \ before any of them takes its meaning away. The same patterns as everywhere in strata;
// here once more, since traced programs have nothing else of it. Takes at most pattern length times
// text length steps.
inline bool glob_matches(Characters pattern, Characters text) {
  const char* after_star = nullptr;
  const char* star_text = nullptr;
  const char* p = pattern.begin;
  for (const char* t = text.begin; t != text.end;) {
    if (p != pattern.end && *p == '*') {
      after_star = ++p;
      star_text = t;
    } else if (p != pattern.end && element_matches(p, pattern.end, *t)) {
      ++t;
    } else if (after_star != nullptr) {
      p = after_star;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p != pattern.end && *p == '*') ++p;
  return p == pattern.end;
}

}  // namespace strata::probe
