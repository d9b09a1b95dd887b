// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace strata::ctf::tsdl {
namespace {

constexpr size_t kLongestShown = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// 123u, 123ULL, ...: says nothing, as every number has 64 bits.
bool is_number_suffix(std::string_view text) {
  size_t u = 0, l = 0;
  for (char c : text) {
    if (c == 'u' || c == 'U') {
      ++u;
    } else if (c == 'l' || c == 'L') {
      ++l;
    } else {
      return false;
    }
  }
  return u <= 1 && l <= 2;
}

std::string shown_character(char c) {
  if (c >= ' ' && c <= '~') return fmt::format("'{}'", c);
  return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

Error error_at(const std::string& path, Place place, std::string_view cause) {
  return {path, std::nullopt,
          fmt::format("line {}, column {}: {}", place.line, place.column, cause)};
}

std::string Token::shown() const {
  if (kind == TokenKind::End) return "the end of the text";
  if (text.size() > kLongestShown) return fmt::format("'{}...'", text.substr(0, kLongestShown));
  return fmt::format("'{}'", text);
}

bool Lexer::fail(Place place, std::string cause) {
  place_ = place;
  cause_ = std::move(cause);
  return false;
}

void Lexer::advance(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (text_[at_ + i] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
  }
  at_ += count;
}

bool Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      advance(1);
    } else if (text_.substr(at_).starts_with("/*")) {
      size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return fail(place_, "a comment begins that does not end");
      advance(end + 2 - at_);
    } else if (text_.substr(at_).starts_with("//")) {
      advance(std::min(text_.find('\n', at_), text_.size()) - at_);
    } else {
      break;
    }
  }
  return true;
}

bool Lexer::next(Token& token) {
  if (!skip_space()) return false;
  token = Token{TokenKind::End, place_, {}, 0};
  if (at_ == text_.size()) return true;
  std::string_view rest = text_.substr(at_);
  char first = rest[0];
  if (first == '"' || first == '\'' || rest.starts_with("L\"") || rest.starts_with("L'"))
    return lex_string(token);
  if (is_digit(first)) return lex_number(token);
  size_t length = 0;
  if (is_letter(first)) {
    token.kind = TokenKind::Word;
    while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) ++length;
  } else {
    token.kind = TokenKind::Symbol;
    for (std::string_view symbol : {"...", ":=", "->"})
      if (rest.starts_with(symbol)) length = symbol.size();
    if (length == 0) {
      if (std::string_view("[](){}<>*+-.,:;=").find(first) == std::string_view::npos)
        return fail(place_, fmt::format("{} is no part of the language", shown_character(first)));
      length = 1;
    }
  }
  token.text = rest.substr(0, length);
  advance(length);
  return true;
}

bool Lexer::lex_number(Token& token) {
  token.kind = TokenKind::Integer;
  std::string_view rest = text_.substr(at_);
  size_t length = 0;
  while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) ++length;
  token.text = rest.substr(0, length);

  std::string_view digits = token.text;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
    base = 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;  // the zero itself is a digit, for "0ULL"
  }
  const char* end = digits.data() + digits.size();
  auto [stopped, problem] = std::from_chars(digits.data(), end, token.number, base);
  if (problem == std::errc::result_out_of_range)
    return fail(token.place, token.shown() + " does not fit in 64 bits");
  if (problem != std::errc() || !is_number_suffix({stopped, static_cast<size_t>(end - stopped)}))
    return fail(token.place, token.shown() + " is not a number");
  advance(length);
  return true;
}

bool Lexer::lex_string(Token& token) {
  token.kind = TokenKind::String;
  std::string_view rest = text_.substr(at_);
  size_t quote = rest[0] == 'L' ? 1 : 0;
  size_t end = quote + 1;
  for (; end < rest.size() && rest[end] != rest[quote]; ++end) {
    if (rest[end] == '\0') {
      advance(end);
      return fail(place_, "there is a NUL in a string");
    }
    if (rest[end] == '\\') ++end;
  }
  if (end >= rest.size()) return fail(token.place, "a string begins that does not end");
  token.text = rest.substr(0, end + 1);
  advance(end + 1);
  return true;
}

std::string unescape(std::string_view quoted) {
  if (quoted.starts_with('L')) quoted.remove_prefix(1);
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string meaning;
  meaning.reserve(quoted.size());
  constexpr std::string_view kLetters = "abfnrtv";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v";
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      meaning += quoted[i];
      continue;
    }
    const char escaped = quoted[++i];
    const size_t letter = kLetters.find(escaped);
    unsigned base = 0, most = 0;  // of the digits of a character's code
    size_t digits = i;
    if (escaped == 'x') {
      base = 16, most = 2, ++digits;
    } else if (escaped >= '0' && escaped <= '7') {
      base = 8, most = 3;
    }
    unsigned code = 0;
    size_t end = digits;
    while (end < quoted.size() && end < digits + most && hex_value(quoted[end]) >= 0 &&
           static_cast<unsigned>(hex_value(quoted[end])) < base)
      code = code * base + static_cast<unsigned>(hex_value(quoted[end++]));
    if (end > digits) {
      meaning += static_cast<char>(code);
      i = end - 1;
    } else {
      meaning += letter == std::string_view::npos ? escaped : kMeanings[letter];
    }
  }
  return meaning;
}

}  // namespace strata::ctf::tsdl
