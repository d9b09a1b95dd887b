// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::ctf::tsdl {

// Where something stands in the text, both counted from 1.
struct Place {
  uint32_t line = 1;
  uint32_t column = 1;
};

// "line 12, column 5: ..."
Error error_at(const std::string& path, Place place, std::string_view cause);

enum class TokenKind : uint8_t { End, Word, Integer, String, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  Place place;
  std::string_view text;  // as it stands; of a String, with its quotes
  uint64_t number = 0;    // of an Integer

  bool is(std::string_view symbol_or_word) const {
    return (kind == TokenKind::Word || kind == TokenKind::Symbol) && text == symbol_or_word;
  }
  // For messages: "'{'", "the end of the text".
  std::string shown() const;
};

// Takes TSDL apart: the words, literals and symbols of CTF 1.8 as in C, without its comments.
// Words that the language reserves are Words like all others: which ones are reserved depends on
// where they stand.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; from the end of the text on, End. False: at `place()` is `cause()` wrong.
  bool next(Token& token);
  Place place() const { return place_; }
  const std::string& cause() const { return cause_; }

 private:
  bool skip_space();
  bool lex_number(Token& token);
  bool lex_string(Token& token);
  void advance(size_t count);
  bool fail(Place place, std::string cause);

  std::string_view text_;
  size_t at_ = 0;
  Place place_;
  std::string cause_;
};

// What a String token means, its escape sequences replaced. One that C does not have stands for the
// character behind its backslash.
std::string unescape(std::string_view quoted);

}  // namespace strata::ctf::tsdl
