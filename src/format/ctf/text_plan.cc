// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/text_plan.h"

#include "format/ctf/characters.h"
#include "format/ctf/event_plan.h"

namespace strata::ctf {

// Goes over an event's scopes as show() does, and over the plan's fields along with it.
class TextPlan::Maker {
 public:
  explicit Maker(const EventPlan& plan) : plan_(plan) {}

  bool add_scope(const FieldClass& scope) {
    if (!literal_.empty() || !text_.steps_.empty()) literal_ += ", ";
    return add(scope);
  }

  TextPlan finish() {
    end_step({});
    text_.literals_.append(kBlock, '\0');
    return std::move(text_);
  }

 private:
  bool add(const FieldClass& type) {
    if (const auto* structure = std::get_if<Structure>(&type.kind)) {
      literal_ += '{';
      bool first = true;
      for (const Member& member : structure->members) {
        literal_ += first ? " " : ", ";
        literal_ += member.name;
        literal_ += " = ";
        first = false;
        if (!add(*member.type)) return false;
      }
      literal_ += " }";
      return true;
    }
    return add_value(type);
  }

  bool add_value(const FieldClass& type) {
    if (std::holds_alternative<Variant>(type.kind) || std::holds_alternative<Optional>(type.kind))
      return false;
    // A field without a name is not in the plan, and one that the model cannot place has no place
    // to show it from.
    if (next_ == plan_.fields.size() || plan_.classes[next_] != &type) return false;
    const trace::Field& field = plan_.fields[next_++];
    if (std::holds_alternative<Float>(type.kind) && field.kind != trace::ValueKind::Float)
      return false;
    Step step{.kind = kind_of(type, field), .ref = {field, plan_.order}, .type = &type};
    if (step.kind == Kind::Text) literal_ += '"';
    if (step.kind == Kind::Hex) literal_ += "0x";
    end_step(step);
    if (step.kind == Kind::Text) literal_ += '"';
    return true;
  }

  static Kind kind_of(const FieldClass& type, const trace::Field& field) {
    if (const auto* integer = std::get_if<Integer>(&type.kind)) {
      if (integer->size == 0 || integer->is_bool || integer->is_enum || integer->reversed_bits)
        return Kind::Other;
      if (integer->base == 10) return integer->is_signed ? Kind::Signed : Kind::Unsigned;
      if (integer->base == 16 && !integer->is_signed) return Kind::Hex;
      return Kind::Other;
    }
    return field.kind == trace::ValueKind::Text ? Kind::Text : Kind::Other;
  }

  void end_step(Step step) {
    step.literal = static_cast<uint32_t>(text_.literals_.size());
    step.literal_size = static_cast<uint32_t>(literal_.size());
    text_.literals_ += literal_;
    literal_.clear();
    text_.steps_.push_back(step);
  }

  const EventPlan& plan_;
  size_t next_ = 0;
  std::string literal_;  // of the step to come
  TextPlan text_;
};

std::optional<TextPlan> TextPlan::make(const EventPlan& plan) {
  Maker maker(plan);
  for (const FieldClass* scope : plan.scopes()) {
    if (scope != nullptr && !maker.add_scope(*scope)) return std::nullopt;
  }
  return maker.finish();
}

void TextPlan::put_text(Bytes bytes, TextBuffer& out) { put_escaped(cut_at_nul(bytes), out); }

}  // namespace strata::ctf
