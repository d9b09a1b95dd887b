// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ftrace/print_format_compiler.h"
#include "ftrace/special_text.h"
#include "trace/event_type.h"

namespace strata::ftrace {

// The text of an event whose print format cannot be understood: its fields one by one, as
// libtraceevent shows them then.
class FieldsText : public SpecialText {
 public:
  FieldsText(const trace::EventType& type, Target target);

  // [FAILED TO PARSE] name=value ...
  void print(Bytes record, TextBuffer& out);
  void print(const trace::Event& event, TextBuffer& out) override { print(event.record, out); }

 private:
  struct Shown {
    trace::Field field;
    FieldNature nature;
    // An array of characters that once had others than printable ones is a list of bytes from then
    // on.
    bool text;
  };
  void print_array(Shown& shown, Bytes record, TextBuffer& out) const;
  void print_number(const Shown& shown, Bytes record, TextBuffer& out) const;

  std::vector<Shown> fields_;
  ByteOrder order_;
};

}  // namespace strata::ftrace
