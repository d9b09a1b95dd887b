// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/resolve.h"

#include <algorithm>
#include <array>
#include <map>

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
  Resolver(std::string file, bool options_have_names)
      : file_(std::move(file)), options_have_names_(options_have_names) {}

  // A scope of the record, whose fields are all resolved now; null: there is none.
  std::optional<Error> enter(Scope scope, FieldClass* type) {
    scope_ = scope;
    scopes_[static_cast<size_t>(scope)] = type;
    return type == nullptr ? std::nullopt : resolve_all(*type);
  }

  size_t slots() const { return slots_; }

 private:
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
      around_us_.push_back({variant, nullptr});
      for (Variant::Choice& choice : variant->choices) {
        around_us_.back().second = &choice;
        if (auto error = resolve_all(*choice.type)) return error;
      }
      around_us_.pop_back();
    } else if (auto* optional = std::get_if<Optional>(&type.kind)) {
      if (auto error = connect(optional->selector, optional->slot, &optional->selector_is_signed))
        return error;
      return resolve_all(*optional->type);
    } else if (auto* integer = std::get_if<Integer>(&type.kind)) {
      integer->seen = true;
    }
    return std::nullopt;
  }

  std::optional<Error> connect(const FieldPath& path, int& slot, bool* is_signed) {
    std::vector<Integer*> targets;
    if (FieldClass* root = scopes_[static_cast<size_t>(path.scope)])
      find(*root, path.names.begin(), path.names.end(), targets);
    if (targets.empty()) return fail("no integer at " + spelled(path));
    // Those that come later have no value yet.
    std::erase_if(targets, [](const Integer* target) { return !target->seen; });
    if (targets.empty())
      return fail("a length or choice depends on a later field, " + spelled(path));
    if (is_signed != nullptr) *is_signed = targets.front()->is_signed;
    const auto [known, is_new] = slot_of_.try_emplace(targets, static_cast<int>(slots_));
    slot = known->second;
    if (is_new) ++slots_;
    for (Integer* target : targets) {
      if (is_new) target->slots.push_back(slot);
      if (path.scope != scope_) target->is_needed_later = true;
    }
    return std::nullopt;
  }

  using Name = std::vector<std::string>::const_iterator;
  void find(FieldClass& type, Name name, Name end, std::vector<Integer*>& found) {
    if (auto* integer = std::get_if<Integer>(&type.kind)) {
      if (name == end) found.push_back(integer);
    } else if (auto* structure = std::get_if<Structure>(&type.kind)) {
      if (name == end) return;
      const auto member = std::ranges::find(structure->members, *name, &Member::name);
      if (member != structure->members.end()) find(*member->type, name + 1, end, found);
    } else if (auto* variant = std::get_if<Variant>(&type.kind)) {
      find_in(*variant, name, end, found);
    } else if (auto* array = std::get_if<Array>(&type.kind)) {
      find(*array->element, name, end, found);
    } else if (auto* optional = std::get_if<Optional>(&type.kind)) {
      find(*optional->type, name, end, found);
    }
  }

  void find_in(Variant& variant, Name name, Name end, std::vector<Integer*>& found) {
    const auto around = std::ranges::find(around_us_, &variant, [](auto& w) { return w.first; });
    if (around != around_us_.end()) {
      Variant::Choice& ours = *around->second;
      // Metadata name it, or go through it without a word; a field in it may be called alike.
      if (name != end && ours.name == *name) find(*ours.type, name + 1, end, found);
      if (found.empty()) find(*ours.type, name, end, found);
      return;
    }
    if (options_have_names_ && name != end) {
      const auto named = std::ranges::find(variant.choices, *name, &Variant::Choice::name);
      if (named != variant.choices.end()) return find(*named->type, name + 1, end, found);
    }
    for (Variant::Choice& choice : variant.choices) find(*choice.type, name, end, found);
  }

  Error fail(std::string cause) const { return {file_, std::nullopt, std::move(cause)}; }

  std::string file_;
  bool options_have_names_;  // by which a path may choose one
  Scope scope_ = Scope::PacketHeader;
  std::array<FieldClass*, kScopes> scopes_{};
  std::vector<std::pair<Variant*, Variant::Choice*>> around_us_;
  std::map<std::vector<Integer*>, int> slot_of_;
  size_t slots_ = 0;
};

}  // namespace

Result<size_t> resolve(Description& description, const std::string& path) {
  // CTF 2 goes through variants without naming options.
  Resolver resolver(path, description.version == 1);
  const auto enter = [&](Scope scope, FieldClassPtr& type) {
    return resolver.enter(scope, type.get());
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
