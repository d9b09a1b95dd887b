// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata {

// A pattern for names, as in the shell and in the kernel's filters:
//
//     *       any characters, also none       [a-z_]  one character of these
//     ?       one character                   [!0-9]  one character that is none of these
//     \x      x itself, whatever it means elsewhere
//
// A "[" that is never closed stands for itself. Matching takes at most pattern length times text
// length steps, whatever the pattern; the common shapes (a whole name, "prefix*", "*suffix",
// "*middle*") are a single comparison or search.
class Glob {
 public:
  explicit Glob(std::string pattern);

  bool matches(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

  // Nothing in it is special: it matches one name only.
  bool is_literal() const { return shape_ == Shape::Whole; }

 private:
  enum class Shape : unsigned char { Whole, Prefix, Suffix, Middle, Any, General };

  std::string pattern_;
  std::string literal_;  // of the simple shapes: the characters to be found, escapes undone
  Shape shape_ = Shape::General;
};

}  // namespace strata
