// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "format/ctf/tsdl_lexer.h"

// What a TSDL text says, as its grammar groups it; nothing is looked up, checked or computed yet.
namespace strata::ctf::tsdl {

struct Number {
  uint64_t magnitude = 0;
  bool negative = false;
};

// `stream.event.header.id`, or a single word.
struct Path {
  std::vector<std::string> names;

  std::string joined() const {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ".") + name;
    return all;
  }
};

// What stands behind a '=' or between brackets. A string literal is a std::string.
struct Value {
  Place place;
  std::variant<Number, std::string, Path> what;
};

// size = 32;
struct Attribute {
  Place place;
  std::string name;  // its words joined by dots
  Value value;
};

// The name of a field, with what makes its type another one than the specifier's: `* x[4][n]`.
struct Declarator {
  Place place;
  std::string pointers;        // " *", " * const *": part of the type's name; or empty
  std::string name;            // may be empty
  std::vector<Value> lengths;  // of arrays, the outermost first
};

struct Declaration;

// integer { ... }, floating_point { ... }, string { ... }
struct ScalarSpecifier {
  enum class Kind : uint8_t { Integer, Float, String } kind = Kind::Integer;
  std::vector<Attribute> attributes;
};

// uint32_t, unsigned long: words in one order, with single spaces.
struct NameSpecifier {
  std::string name;
};

struct StructSpecifier {
  std::string name;  // may be empty, as below
  bool has_body = false;
  std::vector<Declaration> body;
  std::optional<Value> alignment;
};

struct VariantSpecifier {
  std::string name;
  std::optional<Value> tag;
  bool has_body = false;
  std::vector<Declaration> body;
};

struct TypeSpecifier;

struct Enumerator {
  Place place;
  std::string name;
  std::optional<Number> first;
  std::optional<Number> last;
};

struct EnumSpecifier {
  std::string name;
  std::unique_ptr<TypeSpecifier> container;  // null: int
  bool has_body = false;
  std::vector<Enumerator> body;
};

struct TypeSpecifier {
  Place place;
  std::variant<NameSpecifier, ScalarSpecifier, StructSpecifier, VariantSpecifier, EnumSpecifier>
      what;
};

struct Declaration {
  enum class Kind : uint8_t {
    Field,    // type declarator, ...; without declarators: declares a struct, variant or enum
    Typedef,  // typedef type declarator, ...;
    Alias,    // typealias type declarator := alias;
  } kind = Kind::Field;
  Place place;
  TypeSpecifier type;
  std::vector<Declarator> declarators;
  std::string alias;  // with its pointers: "void *"
};

// packet.header := struct { ... };
struct TypeAssignment {
  Place place;
  std::string name;
  TypeSpecifier type;
};

struct Block {
  enum class Kind : uint8_t { Trace, Stream, Event, Env, Clock, Callsite } kind = Kind::Trace;
  Place place;
  std::vector<std::variant<Attribute, TypeAssignment, Declaration>> entries;
};

struct Syntax {
  std::vector<Block> blocks;
  std::vector<Declaration> declarations;  // outside of all blocks
};

}  // namespace strata::ctf::tsdl
