// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata::ctf::tsdl {
namespace {

// How a path from outside of its scope begins.
const std::pair<std::vector<std::string_view>, Scope> kPrefixes[] = {
    {{"trace", "packet", "header"}, Scope::PacketHeader},
    {{"stream", "packet", "context"}, Scope::PacketContext},
    {{"stream", "event", "header"}, Scope::EventHeader},
    {{"stream", "event", "context"}, Scope::EventCommonContext},
    {{"event", "context"}, Scope::EventSpecificContext},
    {{"event", "fields"}, Scope::EventPayload},
};

std::string_view without_underscore(std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  return name;
}

}  // namespace

bool FieldMaker::fail(Place place, std::string_view cause) {
  if (!error_) error_ = error_at(path_, place, cause);
  return false;
}

void FieldMaker::set_scope(Scope scope, TypePtr type) {
  auto index = static_cast<size_t>(scope);
  scopes_[index] = std::move(type);
  for (size_t later = index + 1; later < scopes_.size(); ++later) scopes_[later] = nullptr;
}

FieldClassPtr FieldMaker::make(Scope scope) {
  const TypePtr& type = scopes_[static_cast<size_t>(scope)];
  if (!type || error_) return nullptr;
  scope_ = scope;
  frames_.clear();
  return make_type(*type);
}

FieldClassPtr FieldMaker::make_type(const Type& type) {
  if (!budget_.spend()) {
    fail({}, "the types describe too many fields for a text of this length");
    return nullptr;
  }
  auto made = std::make_unique<FieldClass>();
  made->alignment = type.alignment;
  bool ok = true;
  if (const auto* integer = std::get_if<IntegerType>(&type.what)) {
    made->kind = integer->integer;
    ok = budget_.spend(integer->integer.mappings.size());
    if (!ok) fail({}, "enumerations are repeated too often for a text of this length");
    if (integer->unknown_clock)
      ok = fail(*integer->unknown_clock, "there is no clock of this name");
    if (integer->clock) clocks_.insert(*integer->clock);
  } else if (const auto* number = std::get_if<Float>(&type.what)) {
    made->kind = *number;
  } else if (std::holds_alternative<StringType>(type.what)) {
    made->kind = Text();
  } else if (const auto* array = std::get_if<ArrayType>(&type.what)) {
    ok = make_array(*array, *made);
  } else if (const auto* structure = std::get_if<StructType>(&type.what)) {
    ok = make_structure(*structure, *made);
  } else {
    ok = make_variant(std::get<VariantType>(type.what), *made);
  }
  if (!ok) return nullptr;
  return made;
}

bool FieldMaker::make_array(const ArrayType& array, FieldClass& to) {
  Target count;
  if (!array.length) {
    if (!find(array.count, array.place, count)) return false;
    const bool is_length =
        !count.integers.empty() &&
        std::none_of(count.integers.begin(), count.integers.end(),
                     [](const IntegerType* integer) { return integer->integer.is_signed; });
    if (!is_length)
      return fail(array.place, fmt::format("a length must be an unsigned integer; '{}' is none",
                                           array.count.joined()));
  }
  const auto* element = std::get_if<IntegerType>(&array.element->what);
  if (element && element->is_character && element->integer.size == 8 &&
      array.element->alignment == 8) {
    Text text;
    text.extent = array.length ? Text::Extent::Fixed : Text::Extent::Counted;
    text.length = array.length.value_or(0);
    text.count = std::move(count.path);
    to.kind = std::move(text);
    return true;
  }
  Array made;
  made.length = array.length;
  made.count = std::move(count.path);
  made.element = make_type(*array.element);
  if (!made.element) return false;
  to.kind = std::move(made);
  return true;
}

bool FieldMaker::make_structure(const StructType& structure, FieldClass& to) {
  Structure made;
  frames_.push_back({structure.members.get(), 0, true});
  for (const NamedType& member : structure.members->list) {
    FieldClassPtr type = make_type(*member.type);
    if (!type) return false;
    made.members.push_back({member.shown, std::move(type)});
    ++frames_.back().index;
  }
  frames_.pop_back();
  to.kind = std::move(made);
  return true;
}

bool FieldMaker::make_variant(const VariantType& variant, FieldClass& to) {
  if (!variant.tag) return fail(variant.place, "the variant says no field that chooses");
  Target tag;
  if (!find(*variant.tag, variant.place, tag)) return false;
  if (tag.integers.size() != 1 || !tag.integers[0]->integer.is_enum)
    return fail(variant.place, fmt::format("what chooses must be an enumeration; '{}' is none",
                                           variant.tag->joined()));
  Variant made;
  made.selector = std::move(tag.path);
  made.selector_is_signed = tag.integers[0]->integer.is_signed;
  frames_.push_back({variant.options.get(), 0, false});
  for (const NamedType& option : variant.options->list) {
    FieldClassPtr type = make_type(*option.type);
    if (!type) return false;
    made.choices.push_back({option.name, {}, std::move(type)});
    ++frames_.back().index;
  }
  frames_.pop_back();
  if (!set_choices(*tag.integers[0], made)) return false;
  for (size_t i = 0; i < made.choices.size(); ++i)
    made.choices[i].name = variant.options->list[i].shown;
  to.kind = std::move(made);
  return true;
}

// An option is chosen by the values that its name stands for. Where the enumeration does not have
// the name, the two may differ in the underscore that keeps names off the reserved words; an option
// that is left over is never chosen.
bool FieldMaker::set_choices(const IntegerType& tag, Variant& to) {
  const std::vector<Mapping>& mappings = tag.integer.mappings;
  if (!budget_.spend(mappings.size()))
    return fail({}, "enumerations are repeated too often for a text of this length");
  std::unordered_map<std::string_view, const Mapping*> exact, bare;
  for (const Mapping& mapping : mappings) {
    exact.emplace(mapping.name, &mapping);
    bare.emplace(without_underscore(mapping.name), &mapping);
  }
  for (Variant::Choice& choice : to.choices) {
    auto found = exact.find(choice.name);
    if (found == exact.end()) {
      found = bare.find(without_underscore(choice.name));
      if (found == bare.end()) continue;
    }
    choice.ranges = found->second->ranges;
    if (!budget_.spend(choice.ranges.size()))
      return fail({}, "enumerations are repeated too often for a text of this length");
  }
  return true;
}

bool FieldMaker::find(const Path& path, Place place, Target& to) {
  const std::vector<std::string>& names = path.names;
  Reference reference(frames_, names, budget_);
  bool ok = true;
  bool is_absolute = false;
  to.path.scope = scope_;
  for (const auto& [prefix, scope] : kPrefixes) {
    if (names.size() <= prefix.size() || !std::equal(prefix.begin(), prefix.end(), names.begin()))
      continue;
    is_absolute = true;
    to.path.scope = scope;
    const TypePtr& root = scopes_[static_cast<size_t>(scope)];
    if (root && scope == scope_) ok = reference.search_around_us(*root, prefix.size());
    if (root && scope < scope_) ok = reference.search(*root, prefix.size(), {});
  }
  // From within: in the innermost structure that has, before this field, one of the first name.
  for (size_t depth = frames_.size(); ok && !is_absolute && !reference.exists() && depth-- > 0;) {
    const Frame& frame = frames_[depth];
    const NamedType* first = frame.is_structure ? frame.types->find(names[0]) : nullptr;
    if (!first || static_cast<size_t>(first - frame.types->list.data()) >= frame.index) continue;
    std::vector<std::string> trail;
    for (size_t outer = 0; outer < depth; ++outer)
      trail.push_back(frames_[outer].types->list[frames_[outer].index].shown);
    trail.push_back(first->shown);
    ok = reference.search(*first->type, 1, std::move(trail));
  }
  if (!ok || !budget_.spend(reference.path().size()))
    return fail(place, "the types describe too many fields for a text of this length");
  if (!reference.exists())
    return fail(place, fmt::format("there is no field '{}' before this one", path.joined()));
  to.path.names = reference.path();
  to.integers = reference.targets();
  return true;
}

}  // namespace strata::ctf::tsdl
