// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "format/ctf/field_budget.h"

namespace strata::ctf::tsdl {
namespace {

// 64 bits; whether they are signed is the container's to say.
int64_t as_bits(const Number& number) {
  return static_cast<int64_t>(number.negative ? 0 - number.magnitude : number.magnitude);
}

unsigned depth_within(const Type& type) {
  unsigned deepest = 0;
  const NamedTypes* named = nullptr;
  if (const auto* array = std::get_if<ArrayType>(&type.what)) deepest = array->element->depth;
  if (const auto* structure = std::get_if<StructType>(&type.what)) named = structure->members.get();
  if (const auto* variant = std::get_if<VariantType>(&type.what)) named = variant->options.get();
  if (named)
    for (const NamedType& each : named->list) deepest = std::max(deepest, each.type->depth);
  return deepest;
}

std::string_view without_underscore(std::string_view name) {
  if (name.size() > 1 && name.starts_with('_')) name.remove_prefix(1);
  return name;
}

// A leading underscore is dropped, unless two names would become one.
void show_names(NamedTypes& types) {
  std::unordered_set<std::string_view> bare;
  bool clash = false;
  for (const NamedType& each : types.list)
    clash = !bare.insert(without_underscore(each.name)).second || clash;
  for (NamedType& each : types.list) each.shown = clash ? each.name : without_underscore(each.name);
}

}  // namespace

const NamedType* NamedTypes::find(std::string_view name) const {
  auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &list[found->second];
}

TypePtr Names::find(const std::string& name) const {
  for (const Names* names = this; names; names = names->outer_) {
    auto found = names->types_.find(name);
    if (found != names->types_.end()) return found->second;
  }
  return nullptr;
}

bool TypeBuilder::fail(Place place, std::string_view cause) {
  if (!error_) error_ = error_at(path_, place, cause);
  return false;
}

TypePtr TypeBuilder::finish(Type type, Place place) {
  type.depth = depth_within(type) + 1;
  if (type.depth > kDeepestField) {
    fail(place, "types are nested too deeply");
    return nullptr;
  }
  return std::make_shared<const Type>(std::move(type));
}

bool TypeBuilder::add(Names& names, const std::string& name, TypePtr type, Place place) {
  if (name.find('*') != std::string::npos && std::holds_alternative<IntegerType>(type->what)) {
    Type address = *type;  // to be shown as such
    std::get<IntegerType>(address.what).integer.base = 16;
    type = std::make_shared<const Type>(std::move(address));
  }
  if (names.add(name, std::move(type))) return true;
  return fail(place, fmt::format("'{}' is declared twice here", name));
}

TypePtr TypeBuilder::build(const TypeSpecifier& specifier, Names& names) {
  if (error_) return nullptr;
  if (const auto* named = std::get_if<NameSpecifier>(&specifier.what)) {
    TypePtr type = names.find(named->name);
    if (!type) fail(specifier.place, fmt::format("there is no type '{}' here", named->name));
    return type;
  }
  if (const auto* scalar = std::get_if<ScalarSpecifier>(&specifier.what)) {
    switch (scalar->kind) {
      case ScalarSpecifier::Kind::Integer:
        return build_integer(*scalar, specifier.place);
      case ScalarSpecifier::Kind::Float:
        return build_float(*scalar, specifier.place);
      case ScalarSpecifier::Kind::String:
        return build_string(*scalar);
    }
  }
  if (const auto* structure = std::get_if<StructSpecifier>(&specifier.what))
    return build_structure(*structure, specifier.place, names);
  if (const auto* variant = std::get_if<VariantSpecifier>(&specifier.what))
    return build_variant(*variant, specifier.place, names);
  return build_enumeration(std::get<EnumSpecifier>(specifier.what), specifier.place, names);
}

TypePtr TypeBuilder::build_variant(const VariantSpecifier& specifier, Place place, Names& names) {
  const std::string name = "variant " + specifier.name;
  VariantType variant;
  if (specifier.has_body) {
    Names inner(&names);
    variant.options = build_body(specifier.body, inner);
    if (!variant.options) return nullptr;
  } else {
    TypePtr named = names.find(name);
    if (!named) {
      fail(place, fmt::format("there is no '{}' here", name));
      return nullptr;
    }
    variant = std::get<VariantType>(named->what);
  }
  variant.place = specifier.tag ? specifier.tag->place : place;
  if (specifier.tag) variant.tag = std::get<Path>(specifier.tag->what);
  // It lies as what it chooses does, so that it has no alignment of its own.
  TypePtr finished = finish(Type{std::move(variant), 1, 1}, place);
  const bool declares = specifier.has_body && !specifier.name.empty();
  if (finished && declares && !add(names, name, finished, place)) return nullptr;
  return finished;
}

TypePtr TypeBuilder::build_enumeration(const EnumSpecifier& specifier, Place place, Names& names) {
  const std::string name = "enum " + specifier.name;
  if (!specifier.has_body) {
    TypePtr type = names.find(name);
    if (!type) fail(place, fmt::format("there is no '{}' here", name));
    return type;
  }
  TypePtr container = specifier.container ? build(*specifier.container, names) : names.find("int");
  if (!container) {
    fail(place, "the enumeration says no type, and there is no 'int' here");
    return nullptr;
  }
  const auto* plain = std::get_if<IntegerType>(&container->what);
  if (!plain || plain->integer.is_enum) {
    fail(specifier.container ? specifier.container->place : place,
         "an enumeration's type must be an integer");
    return nullptr;
  }
  Type type = *container;
  Integer& integer = std::get<IntegerType>(type.what).integer;
  if (!enumerate(specifier.body, integer)) return nullptr;
  TypePtr finished = finish(std::move(type), place);
  if (finished && !specifier.name.empty() && !add(names, name, finished, place)) return nullptr;
  return finished;
}

bool TypeBuilder::enumerate(const std::vector<Enumerator>& body, Integer& integer) {
  integer.is_enum = true;
  integer.mappings.clear();
  std::unordered_map<std::string_view, size_t> known;  // a name may stand for several ranges
  uint64_t next = 0;
  for (const Enumerator& each : body) {
    IntegerRange range;
    range.first = each.first ? as_bits(*each.first) : static_cast<int64_t>(next);
    range.last = each.last ? as_bits(*each.last) : range.first;
    bool backwards = integer.is_signed
                         ? range.first > range.last
                         : static_cast<uint64_t>(range.first) > static_cast<uint64_t>(range.last);
    if (backwards)
      return fail(each.place, fmt::format("the range of '{}' ends before it begins", each.name));
    next = static_cast<uint64_t>(range.last) + 1;
    auto [at, is_new] = known.emplace(each.name, integer.mappings.size());
    if (is_new) integer.mappings.push_back({each.name, {}});
    integer.mappings[at->second].ranges.push_back(range);
  }
  return true;
}

std::shared_ptr<const NamedTypes> TypeBuilder::build_body(const std::vector<Declaration>& body,
                                                          Names& names) {
  auto types = std::make_shared<NamedTypes>();
  for (const Declaration& declaration : body) {
    if (declaration.kind != Declaration::Kind::Field || declaration.declarators.empty()) {
      if (!declare(declaration, names)) return nullptr;
      continue;
    }
    // Of a pointer, only the name it makes with what it points to is known.
    const bool all_pointers =
        std::all_of(declaration.declarators.begin(), declaration.declarators.end(),
                    [](const Declarator& d) { return !d.pointers.empty(); });
    TypePtr base = all_pointers ? nullptr : build(declaration.type, names);
    if (!all_pointers && !base) return nullptr;
    for (const Declarator& declarator : declaration.declarators) {
      TypePtr type = build_declarator(declaration.type, base, declarator, names);
      if (!type) return nullptr;
      types->list.push_back({declarator.name, {}, std::move(type)});
    }
  }
  for (size_t i = 0; i < types->list.size(); ++i) {
    if (types->by_name.emplace(types->list[i].name, i).second) continue;
    for (const Declaration& declaration : body)
      for (const Declarator& declarator : declaration.declarators)
        if (declarator.name == types->list[i].name)
          fail(declarator.place, fmt::format("there are two fields '{}'", declarator.name));
    return nullptr;
  }
  show_names(*types);
  return types;
}

TypePtr TypeBuilder::build_declarator(const TypeSpecifier& specifier, TypePtr base,
                                      const Declarator& declarator, const Names& names) {
  TypePtr type =
      declarator.pointers.empty() ? std::move(base) : build_pointer(specifier, declarator, names);
  // x[2][3] is an array of 2 arrays of 3.
  for (auto length = declarator.lengths.rbegin(); type && length != declarator.lengths.rend();
       ++length)
    type = build_array(std::move(type), *length);
  return type;
}

TypePtr TypeBuilder::build_pointer(const TypeSpecifier& specifier, const Declarator& declarator,
                                   const Names& names) {
  const auto* named = std::get_if<NameSpecifier>(&specifier.what);
  const std::string name = (named ? named->name : "") + declarator.pointers;
  TypePtr type = named ? names.find(name) : nullptr;
  if (!type) fail(specifier.place, fmt::format("there is no type '{}' here", name));
  return type;
}

TypePtr TypeBuilder::build_array(TypePtr element, const Value& length) {
  const uint32_t alignment = element->alignment;
  ArrayType array{std::move(element), as_unsigned(length), {}, length.place};
  if (!array.length) {
    const auto* path = std::get_if<Path>(&length.what);
    if (!path) {
      fail(length.place, "expected a length: a number, or the name of a field");
      return nullptr;
    }
    array.count = *path;
    if (path->names.size() > 1 && path->names[0] == "env") {
      auto found = surroundings_.numbers.find(path->joined().substr(4));
      if (found == surroundings_.numbers.end() || found->second < 0) {
        fail(length.place, fmt::format("'{}' is no length", path->joined()));
        return nullptr;
      }
      array.length = static_cast<uint64_t>(found->second);
    }
  }
  return finish(Type{std::move(array), alignment, 1}, length.place);
}

bool TypeBuilder::declare(const Declaration& declaration, Names& names) {
  if (declaration.kind == Declaration::Kind::Field)
    return build(declaration.type, names) != nullptr;
  if (declaration.kind == Declaration::Kind::Alias && declaration.declarators.empty()) {
    TypePtr type = build(declaration.type, names);
    return type && add(names, declaration.alias, std::move(type), declaration.place);
  }
  TypePtr base;
  for (const Declarator& declarator : declaration.declarators) {
    if (declarator.pointers.empty() && !base && !(base = build(declaration.type, names)))
      return false;
    TypePtr type = build_declarator(declaration.type, base, declarator, names);
    if (!type) return false;
    const bool is_alias = declaration.kind == Declaration::Kind::Alias;
    if (is_alias && !declarator.name.empty())
      return fail(declarator.place, fmt::format("expected ':=', not '{}'", declarator.name));
    if (!add(names, is_alias ? declaration.alias : declarator.name, std::move(type),
             declaration.place))
      return false;
  }
  return true;
}

}  // namespace strata::ctf::tsdl
