// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/ctf2_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace strata::ctf::ctf2 {

bool FieldReader::read(Fragment& fragment, const Json& object, std::string_view key, Scope scope,
                       FieldClassPtr& to) {
  fragment_ = &fragment;
  scope_ = scope;
  frames_.clear();
  choices_.clear();
  depth_ = 0;
  const Json* json = fragment.find(object, key);
  if (!json) return !fragment.failed();
  if (!read_field(object, key, to)) return false;
  if (std::holds_alternative<Structure>(to->kind)) return true;
  Fragment::At at(fragment, key);
  return fragment.fail("expected a structure");
}

bool FieldReader::read_field(const Json& object, std::string_view key, FieldClassPtr& to) {
  const Json* json = fragment_->find(object, key, Need::Required);
  if (!json) return false;
  Fragment::At at(*fragment_, key);
  if (depth_ >= kDeepestField) return fragment_->fail("fields are nested too deeply");
  if (!budget_.spend())
    return fragment_->fail("the aliases describe too many fields for a text of this length");
  // An alias may stand for another one that came before it; itself it cannot be.
  for (unsigned hops = 0; json->is_string(); ++hops) {
    auto alias = aliases_.find(json->get_ref<const std::string&>());
    if (alias == aliases_.end() || hops == kDeepestField)
      return fragment_->fail(
          fmt::format("there is no field class alias \"{}\"", json->get_ref<const std::string&>()));
    json = &alias->second;
  }
  to = std::make_unique<FieldClass>();
  ++depth_;
  const bool ok = read_type(*json, *to);
  --depth_;
  return ok;
}

bool FieldReader::read_type(const Json& json, FieldClass& to) {
  std::string type;
  if (!fragment_->take(json, "type", type, Need::Required)) return false;
  return fragment_->has_no_extensions(json) && read_kind(json, type, to);
}

bool FieldReader::read_kind(const Json& json, const std::string& type, FieldClass& to) {
  if (type.starts_with("fixed-length-")) return read_bits(json, type, to);
  if (type == "variable-length-unsigned-integer" || type == "variable-length-signed-integer") {
    Integer integer;
    integer.size = 0;
    integer.order = ByteOrder::Little;
    integer.is_signed = type == "variable-length-signed-integer";
    to.alignment = 8;
    if (!read_integer(json, integer)) return false;
    to.kind = std::move(integer);
    return true;
  }
  if (type == "null-terminated-string" || type == "static-length-string" ||
      type == "dynamic-length-string")
    return read_text(json, type, to);
  if (type == "static-length-blob") return read_blob(json, false, to);
  if (type == "dynamic-length-blob") return read_blob(json, true, to);
  if (type == "static-length-array") return read_array(json, false, to);
  if (type == "dynamic-length-array") return read_array(json, true, to);
  if (type == "structure") return read_structure(json, to);
  if (type == "variant") return read_variant(json, to);
  if (type == "optional") return read_optional(json, to);
  Fragment::At at(*fragment_, "type");
  return fragment_->fail(fmt::format("\"{}\" is no type of a field class", type));
}

bool FieldReader::read_text(const Json& json, const std::string& type, FieldClass& to) {
  Text text;
  to.alignment = 8;
  std::string encoding = "utf-8";
  if (!fragment_->take(json, "encoding", encoding)) return false;
  constexpr std::pair<std::string_view, Encoding> kEncodings[] = {{"utf-8", Encoding::Utf8},
                                                                  {"utf-16be", Encoding::Utf16Be},
                                                                  {"utf-16le", Encoding::Utf16Le},
                                                                  {"utf-32be", Encoding::Utf32Be},
                                                                  {"utf-32le", Encoding::Utf32Le}};
  bool known = false;
  for (const auto& [name, meaning] : kEncodings) {
    if (encoding != name) continue;
    text.encoding = meaning;
    known = true;
  }
  if (!known) {
    Fragment::At at(*fragment_, "encoding");
    return fragment_->fail("expected utf-8, utf-16be, utf-16le, utf-32be or utf-32le");
  }
  if (type == "static-length-string") {
    text.extent = Text::Extent::Fixed;
    if (!fragment_->take(json, "length", text.length, Need::Required)) return false;
  } else if (type == "dynamic-length-string") {
    text.extent = Text::Extent::Counted;
    if (!read_location(json, "length-field-location", Wanted::Length, text.count)) return false;
  }
  to.kind = std::move(text);
  return true;
}

bool FieldReader::read_blob(const Json& json, bool is_dynamic, FieldClass& to) {
  Blob blob;
  to.alignment = 8;
  if (!fragment_->take(json, "media-type", blob.media_type)) return false;
  if (is_dynamic) {
    if (!read_location(json, "length-field-location", Wanted::Length, blob.count)) return false;
  } else if (!fragment_->take(json, "length", blob.length, Need::Required)) {
    return false;
  }
  if (const Json* roles = fragment_->find(json, "roles"); roles && !is_dynamic) {
    Fragment::At at(*fragment_, "roles");
    if (!roles->is_array()) return fragment_->fail("expected an array");
    for (const Json& role : *roles)
      if (role == "metadata-stream-uuid" && scope_ == Scope::PacketHeader)
        blob.role = FieldRole::MetadataUuid;
    if (blob.role != FieldRole::None && blob.length != uint64_t{16})
      return fragment_->fail("a UUID has 16 bytes");
  }
  to.kind = std::move(blob);
  return true;
}

bool FieldReader::read_array(const Json& json, bool is_dynamic, FieldClass& to) {
  Array array;
  if (is_dynamic) {
    if (!read_location(json, "length-field-location", Wanted::Length, array.count)) return false;
  } else if (!fragment_->take(json, "length", array.length, Need::Required)) {
    return false;
  }
  if (!fragment_->take_alignment(json, "minimum-alignment", to.alignment) ||
      !read_field(json, "element-field-class", array.element))
    return false;
  to.alignment = std::max(to.alignment, array.element->alignment);
  to.kind = std::move(array);
  return true;
}

bool FieldReader::read_structure(const Json& json, FieldClass& to) {
  if (!fragment_->take_alignment(json, "minimum-alignment", to.alignment)) return false;
  Structure structure;
  const Json* members = fragment_->find(json, "member-classes");
  if (members) {
    Fragment::At at(*fragment_, "member-classes");
    if (!members->is_array()) return fragment_->fail("expected an array");
    std::unordered_set<std::string> names;
    frames_.push_back({&structure, {}, std::exchange(choices_, {})});
    for (size_t i = 0; i < members->size(); ++i) {
      Fragment::At element(*fragment_, i);
      const Json& json_member = (*members)[i];
      Member member;
      if (!fragment_->take(json_member, "name", member.name, Need::Required) ||
          !fragment_->has_no_extensions(json_member))
        return false;
      if (!names.insert(member.name).second)
        return fragment_->fail(fmt::format("there are two members \"{}\"", member.name));
      frames_.back().current = member.name;
      if (!read_field(json_member, "field-class", member.type)) return false;
      to.alignment = std::max(to.alignment, member.type->alignment);
      structure.members.push_back(std::move(member));
    }
    choices_ = std::move(frames_.back().choices);
    frames_.pop_back();
  }
  to.kind = std::move(structure);
  return true;
}

bool FieldReader::read_variant(const Json& json, FieldClass& to) {
  Variant variant;
  if (!read_location(json, "selector-field-location", Wanted::Integer, variant.selector,
                     &variant.selector_is_signed))
    return false;
  const Json* options = fragment_->find(json, "options", Need::Required);
  if (!options) return false;
  Fragment::At at(*fragment_, "options");
  if (!options->is_array() || options->empty())
    return fragment_->fail("expected an array of options");
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < options->size(); ++i) {
    Fragment::At element(*fragment_, i);
    const Json& option = (*options)[i];
    Variant::Choice choice;
    if (!fragment_->take(option, "name", choice.name) || !fragment_->has_no_extensions(option))
      return false;
    if (!choice.name.empty() && !names.insert(choice.name).second)
      return fragment_->fail(fmt::format("there are two options \"{}\"", choice.name));
    const Json* ranges = fragment_->find(option, "selector-field-ranges", Need::Required);
    if (!ranges) return false;
    {
      Fragment::At key(*fragment_, "selector-field-ranges");
      if (!read_ranges(*ranges, variant.selector_is_signed, choice.ranges)) return false;
    }
    choices_.push_back(choice.name);
    if (!read_field(option, "field-class", choice.type)) return false;
    choices_.pop_back();
    variant.choices.push_back(std::move(choice));
  }
  to.kind = std::move(variant);
  return true;
}

bool FieldReader::read_optional(const Json& json, FieldClass& to) {
  Optional optional;
  const Json* ranges = fragment_->find(json, "selector-field-ranges");
  if (!read_location(json, "selector-field-location", ranges ? Wanted::Integer : Wanted::Boolean,
                     optional.selector, &optional.selector_is_signed))
    return false;
  if (ranges) {
    Fragment::At key(*fragment_, "selector-field-ranges");
    if (!read_ranges(*ranges, optional.selector_is_signed, optional.ranges)) return false;
  }
  if (!read_field(json, "field-class", optional.type)) return false;
  to.kind = std::move(optional);
  return true;
}

}  // namespace strata::ctf::ctf2
