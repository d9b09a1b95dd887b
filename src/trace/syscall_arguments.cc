// SPDX-License-Identifier: Apache-2.0
#include "trace/syscall_arguments.h"

#include <algorithm>

#include "trace/event_type.h"

namespace strata::trace {
namespace {

FieldRef element_of(const EventType& type, const Field& array, uint32_t number) {
  Field element = array;
  if (array.location == Location::BasedBits || array.element_size == 0) return {};
  if (number >= array.size / array.element_size) return {};
  element.offset += number * array.element_size;
  element.size = array.element_size;
  element.kind = ValueKind::Integer;
  element.is_signed = true;
  return {element, type.order};
}

}  // namespace

FieldRef syscall_argument(const EventType& type, uint32_t number,
                          std::initializer_list<std::string_view> names) {
  if (const Field* all = type.find("args"); all != nullptr && all->kind == ValueKind::Array)
    return element_of(type, *all, number);
  if (type.system == "syscalls") {
    // All of them, behind the call's number.
    const auto call = std::ranges::find_if(type.fields, [](const Field& field) {
      return field.name == "__syscall_nr" || field.name == "nr";
    });
    if (type.fields.end() - call <= static_cast<ptrdiff_t>(number) + 1) return {};
    return {*(call + 1 + number), type.order};
  }
  for (const std::string_view name : names)
    if (const FieldRef ref = type.ref(name)) return ref;
  return {};
}

FieldRef syscall_text(const EventType& type, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const std::string& field : {std::string(name), "__" + std::string(name) + "_val"})
      if (const Field* found = type.find(field); found != nullptr && found->kind == ValueKind::Text)
        return {*found, type.order};
  return {};
}

}  // namespace strata::trace
