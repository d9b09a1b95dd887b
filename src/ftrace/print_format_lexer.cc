// SPDX-License-Identifier: Apache-2.0
#include "ftrace/print_format_lexer.h"

namespace strata::ftrace {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_print(char c) { return c >= ' ' && c <= '~'; }
bool is_item(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
}

// `text` begins after the opening quote. False: it ends before the closing one.
bool take_quoted(std::string_view& text, char quote, std::string& out) {
  bool escaped = false;
  while (!text.empty() && text[0] != '\0') {
    const char c = text[0];
    text.remove_prefix(1);
    if (!escaped && c != '\n' && (c == quote || !is_print(c))) return true;
    out += c;
    escaped = c == '\\' && !escaped;
  }
  return false;
}

size_t operator_length(std::string_view text) {
  const char c = text[0];
  const char next = text.size() > 1 ? text[1] : '\0';
  switch (c) {
    case '-':
      if (next == '>') return 2;
      [[fallthrough]];
    case '+':
    case '|':
    case '&':
      return next == c || next == '=' ? 2 : 1;
    case '<':
    case '>':
      if (next == c) return text.size() > 2 && text[2] == '=' ? 3 : 2;
      return next == '=' ? 2 : 1;
    case '!':
    case '=':
      return next == '=' ? 2 : 1;
    default:
      return 1;
  }
}

}  // namespace

Token take_token(std::string_view& text) {
  skip_spaces(text);
  Token token;
  if (text.empty() || !is_print(text[0])) return token;
  const char c = text[0];

  if (c == '"' || c == '\'') {
    token.kind = c == '"' ? Token::Kind::String : Token::Kind::Character;
    text.remove_prefix(1);
    while (true) {
      if (!take_quoted(text, c, token.text)) token.kind = Token::Kind::End;
      std::string_view ahead = text;
      skip_spaces(ahead);
      if (token.kind != Token::Kind::String || !ahead.starts_with('"')) return token;
      text = ahead.substr(1);
    }
  }

  size_t size = 1;
  if (is_item(c)) {
    token.kind = Token::Kind::Item;
    while (size < text.size() && is_item(text[size])) ++size;
  } else if (c == '(' || c == ')' || c == ',') {
    token.kind = Token::Kind::Delimiter;
  } else {
    token.kind = Token::Kind::Operator;
    size = operator_length(text);
  }
  token.text = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

}  // namespace strata::ftrace
