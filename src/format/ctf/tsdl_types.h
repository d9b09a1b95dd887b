// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "format/ctf/description.h"
#include "format/ctf/tsdl_syntax.h"

// The types that a TSDL text declares, their names looked up. A type stands for itself wherever it
// is used: what depends on the place of use (which field a length names) is still to be found.
namespace strata::ctf::tsdl {

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct IntegerType {
  Integer integer;
  bool is_character = false;           // an array of these is a string
  std::optional<size_t> clock;         // into Surroundings::clocks
  std::optional<Place> unknown_clock;  // it is mapped to one that is not there: must not be used
};

struct StringType {};

// The members of a structure, the options of a variant.
struct NamedType {
  std::string name;   // as the text says it
  std::string shown;  // without the underscore that keeps names off the reserved words
  TypePtr type;
};
struct NamedTypes {
  std::vector<NamedType> list;
  std::unordered_map<std::string_view, size_t> by_name;

  const NamedType* find(std::string_view name) const;
};

struct ArrayType {
  TypePtr element;
  std::optional<uint64_t> length;
  Path count;  // where there is no length
  Place place;
};

struct StructType {
  std::shared_ptr<const NamedTypes> members;
};

struct VariantType {
  std::optional<Path> tag;  // must be there by when it is used
  Place place;
  std::shared_ptr<const NamedTypes> options;
};

struct Type {
  std::variant<IntegerType, Float, StringType, ArrayType, StructType, VariantType> what;
  uint32_t alignment = 1;
  unsigned depth = 1;  // of types within types
};

// What types refer to and what is said outside of them.
struct Surroundings {
  ByteOrder order = kNativeOrder;
  std::vector<std::string> clocks;                      // their names
  std::map<std::string, int64_t, std::less<>> numbers;  // of the environment
};

// The names that a block or body declares. Each is looked for outwards.
class Names {
 public:
  explicit Names(const Names* outer = nullptr) : outer_(outer) {}

  TypePtr find(const std::string& name) const;
  // False where this very scope has it already.
  bool add(const std::string& name, TypePtr type) { return types_.emplace(name, type).second; }

 private:
  const Names* outer_;
  std::unordered_map<std::string, TypePtr> types_;  // "uint8_t", "void *", "struct x", "enum x"
};

// Makes types of their syntax. The first failure stays; from then on nothing is made any more.
class TypeBuilder {
 public:
  TypeBuilder(const Surroundings& surroundings, const std::string& path)
      : surroundings_(surroundings), path_(path) {}

  // Null: failed.
  TypePtr build(const TypeSpecifier& specifier, Names& names);
  // A typedef, a typealias, or a named type on its own.
  bool declare(const Declaration& declaration, Names& names);

  const Error& error() const { return *error_; }

 private:
  bool fail(Place place, std::string_view cause);
  // Hands every attribute to `take`, which gives what is wrong with it, or nothing. None may be
  // said twice.
  bool read_attributes(const std::vector<Attribute>& attributes,
                       const std::function<std::string_view(const Attribute&)>& take);
  TypePtr build_integer(const ScalarSpecifier& specifier, Place place);
  TypePtr build_float(const ScalarSpecifier& specifier, Place place);
  TypePtr build_string(const ScalarSpecifier& specifier);
  TypePtr build_structure(const StructSpecifier& specifier, Place place, Names& names);
  TypePtr build_variant(const VariantSpecifier& specifier, Place place, Names& names);
  TypePtr build_enumeration(const EnumSpecifier& specifier, Place place, Names& names);
  bool enumerate(const std::vector<Enumerator>& body, Integer& integer);
  std::shared_ptr<const NamedTypes> build_body(const std::vector<Declaration>& body, Names& names);
  TypePtr build_declarator(const TypeSpecifier& specifier, TypePtr base,
                           const Declarator& declarator, const Names& names);
  TypePtr build_pointer(const TypeSpecifier& specifier, const Declarator& declarator,
                        const Names& names);
  TypePtr build_array(TypePtr element, const Value& length);
  TypePtr finish(Type type, Place place);
  bool add(Names& names, const std::string& name, TypePtr type, Place place);

  const Surroundings& surroundings_;
  const std::string& path_;
  std::optional<Error> error_;
};

// Why `value` is no such thing is for the caller to say.
std::optional<uint64_t> as_unsigned(const Value& value);
std::optional<int64_t> as_signed(const Value& value);
std::optional<bool> as_boolean(const Value& value);
// A string literal, or words with their dots.
std::optional<std::string> as_text(const Value& value);
// le, be, network, native
std::optional<ByteOrder> as_byte_order(const Value& value, std::optional<ByteOrder> native);

}  // namespace strata::ctf::tsdl
