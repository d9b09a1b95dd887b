// SPDX-License-Identifier: Apache-2.0
#include "trace/event_type.h"

#include <algorithm>

namespace strata::trace {

const Field* EventType::find(std::string_view field_name) const {
  const auto it = std::ranges::find(fields, field_name, &Field::name);
  return it == fields.end() ? nullptr : &*it;
}

FieldRef EventType::ref(std::string_view field_name) const {
  const Field* field = find(field_name);
  return field == nullptr ? FieldRef{} : FieldRef(*field, order);
}

}  // namespace strata::trace
