// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/output.h"
#include "cli/terminal.h"
#include "trace/event_type.h"

namespace strata::cli {

// Types of events for people and for programs, wherever they come from: a trace, or this kernel.

enum class TypeDetail : uint8_t {
  Names,
  Fields,
  Declaration,  // the tracer's own text
};

struct TypeStyle {
  TypeDetail detail = TypeDetail::Fields;
  bool by_family = false;
};

// In the order of `types`, or for each family in that order.
void put_types(const std::vector<const trace::EventType*>& types, TypeStyle how, const Style& style,
               Output& out);

// An array, in the same order; each with its family. Fields are always there, the tracer's own text
// if `how` says so.
nlohmann::ordered_json json_types(const std::vector<const trace::EventType*>& types, TypeStyle how);

}  // namespace strata::cli
