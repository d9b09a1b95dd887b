// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "format/ctf/field_budget.h"

namespace strata::ctf::tsdl {
namespace {

// Words that make up the names of C's basic types: several may stand in a row.
constexpr std::array<std::string_view, 13> kBasicTypeWords = {
    "void",   "char",     "short", "int",      "long",       "float", "double",
    "signed", "unsigned", "_Bool", "_Complex", "_Imaginary", "bool"};
// Words that cannot name a field or a type, as reading on would not tell what they are.
constexpr std::array<std::string_view, 9> kTypeWords = {"const",     "enum",    "floating_point",
                                                        "integer",   "string",  "struct",
                                                        "typealias", "typedef", "variant"};

template <size_t N>
bool is_among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_basic(const Token& token) {
  return token.kind == TokenKind::Word && is_among(token.text, kBasicTypeWords);
}
bool is_name(const Token& token) {
  return token.kind == TokenKind::Word && !is_among(token.text, kBasicTypeWords) &&
         !is_among(token.text, kTypeWords);
}

std::optional<Block::Kind> block_kind(std::string_view word) {
  if (word == "trace") return Block::Kind::Trace;
  if (word == "stream") return Block::Kind::Stream;
  if (word == "event") return Block::Kind::Event;
  if (word == "env") return Block::Kind::Env;
  if (word == "clock") return Block::Kind::Clock;
  if (word == "callsite") return Block::Kind::Callsite;
  return std::nullopt;
}

// By recursive descent. Each function reads what its name says into its argument; false: it failed,
// and the first reason stays.
class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : lexer_(text), path_(path) {}

  Result<Syntax> run() {
    bool ok = advance() && advance() && all();
    if (!ok) return std::move(*error_);
    return std::move(syntax_);
  }

 private:
  bool fail(Place place, std::string_view cause) {
    if (!error_) error_ = error_at(path_, place, cause);
    return false;
  }
  bool expected(std::string_view what) {
    return fail(token_.place, fmt::format("expected {}, not {}", what, token_.shown()));
  }

  // One token ahead of the current one is known, too.
  bool advance() {
    token_ = ahead_;
    if (!lexer_.next(ahead_)) return fail(lexer_.place(), lexer_.cause());
    return true;
  }
  bool expect(std::string_view symbol) {
    if (!token_.is(symbol)) return expected(fmt::format("'{}'", symbol));
    return advance();
  }
  // Whether the token is there; then it is passed over, which may fail in itself.
  bool accept(std::string_view symbol, bool& ok) {
    if (!token_.is(symbol)) return false;
    ok = advance();
    return ok;
  }
  bool take_word(std::string& word) {
    word = token_.text;
    return advance();
  }

  bool begins_declaration() const {
    for (std::string_view word : {"typealias", "typedef", "struct", "variant", "enum"})
      if (token_.is(word)) return true;
    return false;
  }

  bool all() {
    Block trace_assignments{Block::Kind::Trace, {}, {}};
    while (token_.kind != TokenKind::End) {
      std::optional<Block::Kind> kind =
          token_.kind == TokenKind::Word ? block_kind(token_.text) : std::nullopt;
      if (token_.is(";")) {
        if (!advance()) return false;
      } else if (kind && ahead_.is("{")) {
        Block& block = syntax_.blocks.emplace_back(Block{*kind, token_.place, {}});
        if (!advance() || !advance() || !entries(block) || !expect(";")) return false;
      } else if (begins_declaration()) {
        if (!declaration(syntax_.declarations.emplace_back())) return false;
      } else if (token_.is("trace") && ahead_.is(".")) {  // trace.packet.header := ...;
        if (!advance() || !advance() || !entry(trace_assignments)) return false;
      } else {
        return expected("a block or the declaration of a type");
      }
    }
    if (trace_assignments.entries.empty()) return true;
    for (Block& block : syntax_.blocks) {
      if (block.kind != Block::Kind::Trace) continue;
      std::move(trace_assignments.entries.begin(), trace_assignments.entries.end(),
                std::back_inserter(block.entries));
      break;
    }
    return true;
  }

  // What a block holds, up to and with its '}'.
  bool entries(Block& block) {
    while (!token_.is("}")) {
      if (token_.is(";")) {
        if (!advance()) return false;
      } else if (!entry(block)) {
        return false;
      }
    }
    return advance();
  }

  bool entry(Block& block) {
    if (begins_declaration() && !ahead_.is("=") && !ahead_.is(".") && !ahead_.is(":="))
      return declaration(std::get<Declaration>(block.entries.emplace_back(Declaration())));
    Place place = token_.place;
    Path name;
    if (!path(name)) return false;
    if (token_.is(":=")) {
      TypeAssignment& to = std::get<TypeAssignment>(block.entries.emplace_back(TypeAssignment()));
      to.place = place;
      to.name = name.joined();
      return advance() && type(to.type) && expect(";");
    }
    if (!token_.is("=")) return expected("'=' or ':='");
    Attribute& to = std::get<Attribute>(block.entries.emplace_back(Attribute()));
    to.place = place;
    to.name = name.joined();
    return advance() && value(to.value) && expect(";");
  }

  bool attributes(std::vector<Attribute>& to) {
    while (!token_.is("}")) {
      if (token_.is(";")) {
        if (!advance()) return false;
        continue;
      }
      if (token_.kind != TokenKind::Word) return expected("an attribute or '}'");
      Attribute& attribute = to.emplace_back();
      attribute.place = token_.place;
      Path name;
      if (!path(name)) return false;
      attribute.name = name.joined();
      if (!expect("=") || !value(attribute.value) || !expect(";")) return false;
    }
    return advance();
  }

  bool path(Path& to) {
    for (;;) {
      if (token_.kind != TokenKind::Word) return expected("a name");
      if (!take_word(to.names.emplace_back())) return false;
      if (!token_.is(".") && !token_.is("->")) return true;
      if (!advance()) return false;
    }
  }

  bool number(Number& to) {
    to.negative = token_.is("-");
    if ((to.negative || token_.is("+")) && !advance()) return false;
    if (token_.kind != TokenKind::Integer) return expected("a number");
    to.magnitude = token_.number;
    if (to.negative && to.magnitude > uint64_t{1} << 63)
      return fail(token_.place, fmt::format("-{} does not fit in 64 bits", to.magnitude));
    return advance();
  }

  bool literal(std::string& to) {
    to = unescape(token_.text);
    return advance();
  }

  bool value(Value& to) {
    to.place = token_.place;
    switch (token_.kind) {
      case TokenKind::String:
        return literal(to.what.emplace<std::string>());
      case TokenKind::Word:
        return path(to.what.emplace<Path>());
      case TokenKind::Integer:
        return number(to.what.emplace<Number>());
      default:
        if (token_.is("-") || token_.is("+")) return number(to.what.emplace<Number>());
        return expected("a value");
    }
  }

  bool declaration(Declaration& to) {
    to.place = token_.place;
    bool ok = true;
    if (accept("typealias", ok)) {
      to.kind = Declaration::Kind::Alias;
      if (!type(to.type)) return false;
      if (!token_.is(":=") && !declarator(to.declarators.emplace_back())) return false;
      return expect(":=") && alias(to) && expect(";");
    }
    if (!ok) return false;
    if (accept("typedef", ok)) to.kind = Declaration::Kind::Typedef;
    if (!ok || !type(to.type)) return false;
    bool declares_type = to.kind == Declaration::Kind::Field &&
                         !std::holds_alternative<NameSpecifier>(to.type.what) &&
                         !std::holds_alternative<ScalarSpecifier>(to.type.what);
    if (declares_type && token_.is(";")) return advance();
    for (;;) {
      Declarator& next = to.declarators.emplace_back();
      if (!declarator(next)) return false;
      if (next.name.empty()) return expected("a name");
      if (!token_.is(",")) return expect(";");
      if (!advance()) return false;
    }
  }

  // The new name that a typealias gives: words of C's types, or a single other one, and pointers.
  // With lengths behind it, it names an array.
  bool alias(Declaration& to) {
    TypeSpecifier named;
    if (!is_basic(token_) && !is_name(token_) && !token_.is("const"))
      return expected("the name of a type");
    if (!type_name(named)) return false;
    Declarator marks;
    if (!pointers(marks) || !lengths(marks)) return false;
    to.alias = std::get<NameSpecifier>(named.what).name + marks.pointers;
    if (!marks.lengths.empty()) {
      if (to.declarators.empty()) to.declarators.emplace_back();
      std::move(marks.lengths.begin(), marks.lengths.end(),
                std::back_inserter(to.declarators.front().lengths));
    }
    return true;
  }

  bool pointers(Declarator& to) {
    bool ok = true;
    while (accept("*", ok)) {
      to.pointers += " *";
      while (ok && accept("const", ok)) to.pointers += " const";
    }
    return ok;
  }

  bool declarator(Declarator& to) {
    to.place = token_.place;
    if (!pointers(to)) return false;
    if (is_name(token_) && !take_word(to.name)) return false;
    if (token_.is(":")) return fail(token_.place, "bit fields of C are no part of the language");
    return lengths(to);
  }

  bool lengths(Declarator& to) {
    bool ok = true;
    while (accept("[", ok)) {
      if (to.lengths.size() == kDeepestField) return fail(token_.place, "too many dimensions");
      if (!value(to.lengths.emplace_back()) || !expect("]")) return false;
    }
    return ok;
  }

  bool type(TypeSpecifier& to) {
    if (depth_ == kDeepestField) return fail(token_.place, "types are nested too deeply");
    ++depth_;
    bool ok = shallow_type(to);
    --depth_;
    return ok;
  }

  bool shallow_type(TypeSpecifier& to) {
    bool ok = true;
    while (accept("const", ok)) {
    }
    to.place = token_.place;
    if (accept("integer", ok)) return scalar(to, ScalarSpecifier::Kind::Integer);
    if (ok && accept("floating_point", ok)) return scalar(to, ScalarSpecifier::Kind::Float);
    if (ok && accept("string", ok)) return scalar(to, ScalarSpecifier::Kind::String);
    if (ok && accept("struct", ok)) return structure(to.what.emplace<StructSpecifier>());
    if (ok && accept("variant", ok)) return variant(to.what.emplace<VariantSpecifier>());
    if (ok && accept("enum", ok)) return enumeration(to.what.emplace<EnumSpecifier>());
    if (!ok) return false;
    if (!is_basic(token_) && !is_name(token_)) return expected("a type");
    return type_name(to);
  }

  // Basic words may stand in any order in C; here they get one. `const` changes no value.
  bool type_name(TypeSpecifier& to) {
    to.place = token_.place;
    std::vector<std::string> words;
    while (is_basic(token_) || token_.is("const") || (words.empty() && is_name(token_))) {
      bool is_own = is_name(token_);
      if (token_.is("const")) {
        if (!advance()) return false;
        continue;
      }
      if (words.size() == kBasicTypeWords.size()) return expected("fewer words");
      if (!take_word(words.emplace_back())) return false;
      if (is_own) break;
    }
    if (words.empty()) return expected("the name of a type");
    std::sort(words.begin(), words.end());
    to.what = NameSpecifier{fmt::format("{}", fmt::join(words, " "))};
    return true;
  }

  bool scalar(TypeSpecifier& to, ScalarSpecifier::Kind kind) {
    ScalarSpecifier& scalar = to.what.emplace<ScalarSpecifier>();
    scalar.kind = kind;
    if (kind == ScalarSpecifier::Kind::String && !token_.is("{")) return true;
    return expect("{") && attributes(scalar.attributes);
  }

  bool body(bool& has_body, std::vector<Declaration>& to) {
    if (!token_.is("{")) return true;
    has_body = true;
    if (!advance()) return false;
    while (!token_.is("}")) {
      if (token_.is(";")) {
        if (!advance()) return false;
      } else if (!declaration(to.emplace_back())) {
        return false;
      }
    }
    return advance();
  }

  bool structure(StructSpecifier& to) {
    if (is_name(token_) && !take_word(to.name)) return false;
    if (!body(to.has_body, to.body)) return false;
    if (to.name.empty() && !to.has_body) return expected("a name or '{'");
    if (!token_.is("align") || !ahead_.is("(")) return true;
    return advance() && advance() && value(to.alignment.emplace()) && expect(")");
  }

  bool variant(VariantSpecifier& to) {
    if (is_name(token_) && !take_word(to.name)) return false;
    bool ok = true;
    if (accept("<", ok)) {
      if (token_.kind != TokenKind::Word) return expected("the name of a field");
      if (!value(to.tag.emplace()) || !expect(">")) return false;
    }
    if (!ok || !body(to.has_body, to.body)) return false;
    if (to.name.empty() && !to.has_body) return expected("a name or '{'");
    return true;
  }

  bool enumeration(EnumSpecifier& to) {
    if (is_name(token_) && !take_word(to.name)) return false;
    bool ok = true;
    if (accept(":", ok)) {
      to.container = std::make_unique<TypeSpecifier>();
      if (!type(*to.container)) return false;
    }
    if (!ok) return false;
    if (!token_.is("{")) {
      if (to.name.empty() || to.container) return expected("'{'");
      return true;
    }
    to.has_body = true;
    if (!advance()) return false;
    while (!token_.is("}")) {
      if (!enumerator(to.body.emplace_back())) return false;
      if (!token_.is(",") && !token_.is("}")) return expected("',' or '}'");
      if (token_.is(",") && !advance()) return false;
    }
    return advance();
  }

  bool enumerator(Enumerator& to) {
    to.place = token_.place;
    if (token_.kind == TokenKind::String) {
      if (!literal(to.name)) return false;
    } else if (token_.kind == TokenKind::Word) {
      if (!take_word(to.name)) return false;
    } else {
      return expected("a name");
    }
    bool ok = true;
    if (!accept("=", ok)) return ok;
    if (!number(to.first.emplace())) return false;
    if (!accept("...", ok)) return ok;
    return number(to.last.emplace());
  }

  Lexer lexer_;
  const std::string& path_;
  Token token_;
  Token ahead_;
  unsigned depth_ = 0;
  Syntax syntax_;
  std::optional<Error> error_;
};

}  // namespace

Result<Syntax> parse(std::string_view text, const std::string& path) {
  return Parser(text, path).run();
}

}  // namespace strata::ctf::tsdl
