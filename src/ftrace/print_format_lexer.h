// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata::ftrace {

// One word of a print format.
struct Token {
  enum class Kind : uint8_t { End, Item, String, Character, Operator, Delimiter };
  Kind kind = Kind::End;
  std::string text;  // of a string: without its quotes, escapes as they are

  bool is(Kind k, std::string_view t) const { return kind == k && text == t; }
  bool is_operator(std::string_view t) const { return is(Kind::Operator, t); }
  bool is_delimiter(std::string_view t) const { return is(Kind::Delimiter, t); }
  // What can begin an operand and is no operator: in front of it, a parenthesis is a cast.
  bool is_word() const {
    return kind == Kind::Item || kind == Kind::String || kind == Kind::Character;
  }
};

// Takes the next word off the front of `text`. Strings that follow each other are one; a character
// that does not print ends a string or the whole text.
Token take_token(std::string_view& text);

}  // namespace strata::ftrace
