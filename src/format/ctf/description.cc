// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/description.h"

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace strata::ctf {

bool Clock::set_offset(int64_t seconds, int64_t cycles) {
  const auto hertz = static_cast<Int128>(frequency);
  Int128 whole = cycles / hertz;
  Int128 rest = cycles % hertz;
  if (rest < 0) {
    rest += hertz;
    --whole;
  }
  whole += seconds;
  if (whole < std::numeric_limits<int64_t>::min() || whole > std::numeric_limits<int64_t>::max())
    return false;
  offset_seconds = static_cast<int64_t>(whole);
  offset_cycles = static_cast<uint64_t>(rest);
  return true;
}

const std::variant<int64_t, std::string>* Description::find_environment(
    std::string_view key) const {
  for (const auto& [known, value] : environment)
    if (known == key) return &value;
  return nullptr;
}

std::string Description::environment_text(std::string_view key) const {
  const auto* value = find_environment(key);
  if (value == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  return std::to_string(std::get<int64_t>(*value));
}

namespace {

// Variants and optionals have no alignment of their own, but what they hold has.
uint32_t largest_within(const FieldClass& type) {
  uint32_t largest = type.alignment;
  const auto look = [&](const FieldClassPtr& part) {
    largest = std::max(largest, largest_within(*part));
  };
  if (const auto* array = std::get_if<Array>(&type.kind)) look(array->element);
  if (const auto* optional = std::get_if<Optional>(&type.kind)) look(optional->type);
  if (const auto* structure = std::get_if<Structure>(&type.kind))
    for (const Member& member : structure->members) look(member.type);
  if (const auto* variant = std::get_if<Variant>(&type.kind))
    for (const Variant::Choice& choice : variant->choices) look(choice.type);
  return largest;
}

}  // namespace

uint32_t largest_alignment(const StreamClass& stream) {
  uint32_t largest = 1;
  const auto look = [&](const FieldClassPtr& type) {
    if (type != nullptr) largest = std::max(largest, largest_within(*type));
  };
  look(stream.event_header);
  look(stream.common_context);
  for (const EventClass& event : stream.events) {
    look(event.specific_context);
    look(event.payload);
  }
  return largest;
}

}  // namespace strata::ctf
