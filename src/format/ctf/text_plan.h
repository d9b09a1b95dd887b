// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text_buffer.h"
#include "format/ctf/description.h"
#include "trace/event.h"

namespace strata::ctf {

struct EventPlan;

// How events of one type are shown: their contexts and payload as show() would print them, with
// everything that is the same for all of them made once.
//
// A flat list of steps, each the text up to a value and that value. Integers and strings are read
// where the event's plan says they lie; whatever else there is (enumerations, arrays, floats) is
// shown from its place on, one by one.
class TextPlan {
 public:
  // Nothing for a type with variants or optionals: what is shown then differs from event to event.
  static std::optional<TextPlan> make(const EventPlan& plan);

  // `show_other` gets (const FieldClass&, const trace::FieldRef&): to put at the end of `out` what
  // has no step of its own; false ends the line there.
  template <typename ShowOther>
  void print(const trace::Event& event, TextBuffer& out, const ShowOther& show_other) const {
    for (const Step& step : steps_) {
      put_literal(step, out);
      switch (step.kind) {
        case Kind::Signed:
          out.put_decimal(event.integer(step.ref).value_or(0));
          break;
        case Kind::Unsigned:
          out.put_decimal(static_cast<uint64_t>(event.integer(step.ref).value_or(0)));
          break;
        case Kind::Hex:
          out.advance_to(write_upper_hex(
              out.room(16), static_cast<uint64_t>(event.integer(step.ref).value_or(0))));
          break;
        case Kind::Text:
          put_text(event.bytes(step.ref), out);
          break;
        case Kind::Other:
          if (!show_other(*step.type, step.ref)) return;
          break;
        case Kind::End:
          break;
      }
    }
  }

 private:
  enum class Kind : uint8_t { Signed, Unsigned, Hex, Text, Other, End };
  struct Step {
    uint32_t literal = 0;  // the text before the value: its place in literals_
    uint32_t literal_size = 0;
    Kind kind = Kind::End;
    trace::FieldRef ref;
    const FieldClass* type = nullptr;
  };
  class Maker;

  // Literals are copied in whole blocks of this size, which is faster than to the byte.
  static constexpr size_t kBlock = 16;

  void put_literal(const Step& step, TextBuffer& out) const {
    char* const to = out.room(step.literal_size + kBlock);
    const char* const from = literals_.data() + step.literal;
    for (size_t i = 0; i < step.literal_size; i += kBlock) std::memcpy(to + i, from + i, kBlock);
    out.advance_to(to + step.literal_size);
  }
  static void put_text(Bytes bytes, TextBuffer& out);

  std::string literals_;  // and a block of nothing at the end
  std::vector<Step> steps_;
};

}  // namespace strata::ctf
