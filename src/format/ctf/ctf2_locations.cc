// SPDX-License-Identifier: Apache-2.0
//
// Of the FieldReader: fields whose values decide about later ones.
#include <fmt/format.h>

#include <algorithm>

#include "format/ctf/ctf2_fields.h"

namespace strata::ctf::ctf2 {
namespace {

// All integers that the names lead to: of a variant, those of any option. Of an array that is read
// already, no element is the one that is meant.
void find_in(const FieldClass& field, const std::string* name, const std::string* end,
             std::vector<const Integer*>& to) {
  if (const auto* integer = std::get_if<Integer>(&field.kind)) {
    if (name == end) to.push_back(integer);
  } else if (const auto* structure = std::get_if<Structure>(&field.kind)) {
    if (name == end) return;
    for (const Member& member : structure->members)
      if (member.name == *name) find_in(*member.type, name + 1, end, to);
  } else if (const auto* variant = std::get_if<Variant>(&field.kind)) {
    for (const Variant::Choice& choice : variant->choices) find_in(*choice.type, name, end, to);
  } else if (const auto* optional = std::get_if<Optional>(&field.kind)) {
    find_in(*optional->type, name, end, to);
  }
}

}  // namespace

std::optional<Scope> scope_named(std::string_view origin) {
  constexpr std::string_view kNames[] = {"packet-header",
                                         "packet-context",
                                         "event-record-header",
                                         "event-record-common-context",
                                         "event-record-specific-context",
                                         "event-record-payload"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == origin) return static_cast<Scope>(i);
  return std::nullopt;
}

// `names` lead on from the structure at `depth`; `to` is all of the path but those. A null leads
// out of a structure.
bool FieldReader::read_path(const Json& location, FieldPath& to, std::vector<std::string>& names,
                            size_t& depth) {
  std::string origin;
  if (!fragment_->take(location, "origin", origin)) return false;
  const bool is_relative = !location.contains("origin");
  to = {scope_, {}};
  depth = is_relative && !frames_.empty() ? frames_.size() - 1 : 0;
  if (!is_relative) {
    std::optional<Scope> scope = scope_named(origin);
    if (!scope) {
      Fragment::At at(*fragment_, "origin");
      return fragment_->fail(fmt::format("\"{}\" is no origin", origin));
    }
    to.scope = *scope;
  }
  const Json* path = fragment_->find(location, "path", Need::Required);
  if (!path) return false;
  Fragment::At at(*fragment_, "path");
  if (!path->is_array()) return fragment_->fail("expected an array");
  for (const Json& element : *path) {
    if (element.is_string()) {
      names.push_back(element.get<std::string>());
    } else if (!element.is_null()) {
      return fragment_->fail("expected strings and nulls");
    } else if (!names.empty()) {
      names.pop_back();
    } else if (is_relative && depth > 0) {
      --depth;
    } else {
      return fragment_->fail("the path leads out of its scope");
    }
  }
  if (path->empty() || names.empty() || path->back().is_null())
    return fragment_->fail("expected a path that ends in the name of a field");
  for (size_t i = 0; i < depth; ++i) {
    to.names.push_back(frames_[i].current);
    for (const std::string& choice : frames_[i + 1].choices)
      if (!choice.empty()) to.names.push_back(choice);
  }
  return true;
}

// In the structure at `depth` that is being read, and in what it holds so far.
void FieldReader::find(size_t depth, const std::string* name, const std::string* end,
                       std::vector<const Integer*>& to) const {
  for (; depth < frames_.size() && name != end; ++depth, ++name) {
    for (const Member& member : frames_[depth].structure->members)
      if (member.name == *name) return find_in(*member.type, name + 1, end, to);
    if (frames_[depth].current != *name) return;
  }
}

bool FieldReader::read_location(const Json& json, std::string_view key, Wanted wanted,
                                FieldPath& to, bool* is_signed) {
  const Json* location = fragment_->find(json, key, Need::Required);
  if (!location) return false;
  Fragment::At at(*fragment_, key);
  std::vector<std::string> names;
  size_t depth = 0;
  if (!read_path(*location, to, names, depth)) return false;
  std::vector<const Integer*> found;
  const std::string* first = names.data();
  const std::string* end = first + names.size();
  if (to.scope == scope_) {
    find(depth, first, end, found);
  } else if (to.scope < scope_) {
    if (const FieldClass* root = scopes_[static_cast<size_t>(to.scope)])
      find_in(*root, first, end, found);
  }
  if (found.empty()) return fragment_->fail("there is no integer before this field at that path");
  for (const Integer* integer : found) {
    const bool is_plain = !integer->is_bool && !integer->is_bit_map;
    if (wanted == Wanted::Boolean ? !integer->is_bool : !is_plain)
      return fragment_->fail(wanted == Wanted::Boolean ? "the field there must be a boolean"
                                                       : "the field there must be an integer");
    if (wanted == Wanted::Length && integer->is_signed)
      return fragment_->fail("the field there must be an unsigned integer");
    if (integer->is_signed != found[0]->is_signed)
      return fragment_->fail("the fields there must be all signed or all unsigned");
  }
  if (is_signed) *is_signed = found[0]->is_signed;
  if (!budget_.spend(to.names.size() + names.size()))
    return fragment_->fail("the aliases describe too many fields for a text of this length");
  to.names.insert(to.names.end(), names.begin(), names.end());
  return true;
}

}  // namespace strata::ctf::ctf2
