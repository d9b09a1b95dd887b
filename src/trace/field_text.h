// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/text_buffer.h"
#include "trace/event.h"

namespace strata::trace {

// A field's value for people: 42, 0xffff8000, text as it is, {1, 2, 3}. Nothing where the record is
// too short for it.
void put_field_text(const Event& event, const FieldRef& field, TextBuffer& out);

// A field's value as JSON: a number, "0xffff8000", a string, an array of numbers; null where the
// record is too short for it. 64-bit numbers are written in full.
void put_field_json(const Event& event, const FieldRef& field, TextBuffer& out);

// A JSON string with its quotes. What is not UTF-8 becomes U+FFFD.
void put_json_string(std::string_view text, TextBuffer& out);

}  // namespace strata::trace
