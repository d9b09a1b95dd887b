// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/text_buffer.h"
#include "ftrace/text_program.h"
#include "trace/event.h"

namespace strata::ftrace {

// The text of an event type that no program gives, because it depends on more than one record's
// fields in place: on other events, on lists of unknown length, on a format that the record names.
class SpecialText {
 public:
  virtual ~SpecialText() = default;
  virtual void print(const trace::Event& event, TextBuffer& out) = 0;
};

// The address as a symbol's name, or as a number in hexadecimal after `prefix`.
void put_symbol(TextBuffer& out, const KernelNames& names, uint64_t address,
                std::string_view prefix);

// A field of `type` that is no common one, as a number without a sign; reads nothing where there is
// none.
trace::FieldRef number_field(const trace::EventType& type, std::string_view name);

}  // namespace strata::ftrace
