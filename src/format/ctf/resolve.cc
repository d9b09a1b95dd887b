// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/resolve.h"

#include <algorithm>
#include <array>

namespace strata::ctf {
namespace {

constexpr size_t kScopes = 6;

std::string spelled(const FieldPath& path) {
  static constexpr std::array<std::string_view, kScopes> kNames = {
      "packet header",        "packet context",         "event header",
      "event common context", "event specific context", "event payload"};
  std::string text(kNames[static_cast<size_t>(path.scope)]);
  for (const std::string& name : path.names)
    text += (&name == path.names.data() ? ": " : ".") + name;
  return text;
}

class Resolver {
 public:
  explicit Resolver(std::string file) : file_(std::move(file)) {}

  std::array<FieldClass*, kScopes> scopes{};

  // Everything below `type` that refers to something.
  std::optional<Error> resolve_all(FieldClass& type) {
    if (auto* text = std::get_if<Text>(&type.kind)) {
      if (text->extent == Text::Extent::Counted) return connect(text->count, text->slot, nullptr);
    } else if (auto* blob = std::get_if<Blob>(&type.kind)) {
      if (!blob->length) return connect(blob->count, blob->slot, nullptr);
    } else if (auto* array = std::get_if<Array>(&type.kind)) {
      if (!array->length) {
        if (auto error = connect(array->count, array->slot, nullptr)) return error;
      }
      return resolve_all(*array->element);
    } else if (auto* structure = std::get_if<Structure>(&type.kind)) {
      for (Member& member : structure->members) {
        if (auto error = resolve_all(*member.type)) return error;
      }
    } else if (auto* variant = std::get_if<Variant>(&type.kind)) {
      if (auto error = connect(variant->selector, variant->slot, &variant->selector_is_signed))
        return error;
      for (Variant::Choice& choice : variant->choices) {
        if (auto error = resolve_all(*choice.type)) return error;
      }
    } else if (auto* optional = std::get_if<Optional>(&type.kind)) {
      if (auto error = connect(optional->selector, optional->slot, &optional->selector_is_signed))
        return error;
      return resolve_all(*optional->type);
    } else if (auto* integer = std::get_if<Integer>(&type.kind)) {
      integer->seen = true;
    }
    return std::nullopt;
  }

  size_t slots() const { return slots_; }

 private:
  std::optional<Error> connect(const FieldPath& path, int& slot, bool* is_signed) {
    std::vector<Integer*> targets;
    if (FieldClass* root = scopes[static_cast<size_t>(path.scope)])
      find(*root, path.names.begin(), path.names.end(), targets);
    if (targets.empty()) return fail("no integer at " + spelled(path));
    for (Integer* target : targets) {
      if (!target->seen)
        return fail("a length or choice depends on a later field, " + spelled(path));
      if (target->slot < 0) target->slot = slot < 0 ? static_cast<int>(slots_++) : slot;
      // Several integers of one name (in the alternatives of a variant) share one slot.
      slot = target->slot;
      if (is_signed != nullptr) *is_signed = target->is_signed;
    }
    return std::nullopt;
  }

  using Name = std::vector<std::string>::const_iterator;
  static void find(FieldClass& type, Name name, Name end, std::vector<Integer*>& found) {
    if (auto* integer = std::get_if<Integer>(&type.kind)) {
      if (name == end) found.push_back(integer);
    } else if (auto* structure = std::get_if<Structure>(&type.kind)) {
      if (name == end) return;
      const auto member = std::ranges::find(structure->members, *name, &Member::name);
      if (member != structure->members.end()) find(*member->type, name + 1, end, found);
    } else if (auto* variant = std::get_if<Variant>(&type.kind)) {
      for (Variant::Choice& choice : variant->choices) {
        if (name != end && choice.name == *name)
          find(*choice.type, name + 1, end, found);
        else
          find(*choice.type, name, end, found);
      }
    } else if (auto* array = std::get_if<Array>(&type.kind)) {
      find(*array->element, name, end, found);
    } else if (auto* optional = std::get_if<Optional>(&type.kind)) {
      find(*optional->type, name, end, found);
    }
  }

  Error fail(std::string cause) const { return {file_, std::nullopt, std::move(cause)}; }

  std::string file_;
  size_t slots_ = 0;
};

}  // namespace

Result<size_t> resolve(Description& description, const std::string& path) {
  Resolver resolver(path);
  const auto enter = [&](Scope scope, FieldClassPtr& type) -> std::optional<Error> {
    resolver.scopes[static_cast<size_t>(scope)] = type.get();
    return type == nullptr ? std::nullopt : resolver.resolve_all(*type);
  };
  if (auto error = enter(Scope::PacketHeader, description.packet_header)) return *error;
  for (StreamClass& stream : description.streams) {
    if (auto error = enter(Scope::PacketContext, stream.packet_context)) return *error;
    if (auto error = enter(Scope::EventHeader, stream.event_header)) return *error;
    if (auto error = enter(Scope::EventCommonContext, stream.common_context)) return *error;
    for (EventClass& event : stream.events) {
      if (auto error = enter(Scope::EventSpecificContext, event.specific_context)) return *error;
      if (auto error = enter(Scope::EventPayload, event.payload)) return *error;
    }
  }
  return resolver.slots();
}

}  // namespace strata::ctf
