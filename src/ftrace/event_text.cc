// SPDX-License-Identifier: Apache-2.0
#include "ftrace/event_text.h"

#include <vector>

#include "ftrace/fields_text.h"
#include "ftrace/known_texts.h"
#include "ftrace/print_format.h"
#include "ftrace/print_format_compiler.h"

namespace strata::ftrace {
namespace {

using trace::EventType;

// How the events of one type become text.
struct TypeText {
  const EventType* type = nullptr;
  EventText::Way way = EventText::Way::Fields;
  std::vector<TextProgram> programs;
  std::unique_ptr<FieldsText> fields;
};

}  // namespace

struct EventText::State {
  explicit State(const KernelText& kernel) : names(kernel) {}

  TypeText& of(const EventType& type) {
    if (type.id < by_id.size()) [[likely]] {
      TypeText* found = by_id[type.id].get();
      if (found && found->type == &type) [[likely]]
        return *found;
    }
    return prepare(type);
  }

  TypeText& prepare(const EventType& type);

  KernelNames names;
  std::vector<std::unique_ptr<TypeText>> by_id;
};

TypeText& EventText::State::prepare(const EventType& type) {
  if (type.id >= by_id.size()) by_id.resize(type.id + 1);
  auto& text = by_id[type.id];
  text = std::make_unique<TypeText>();
  text->type = &type;
  if (auto known = known_text(type, names)) {
    text->way = Way::Known;
    text->programs = std::move(known->programs);
    return *text;
  }
  if (auto format = parse_print_format(type, names.target)) {
    if (auto program = compile(*format, type, names)) {
      text->way = Way::Program;
      text->programs.push_back(std::move(*program));
      return *text;
    }
  }
  text->fields = std::make_unique<FieldsText>(type, names.target);
  return *text;
}

EventText::EventText(std::span<const EventType* const> types, KernelText kernel)
    : state_(std::make_unique<State>(kernel)) {
  uint32_t last = 0;
  for (const EventType* type : types) last = std::max(last, type->id);
  state_->by_id.resize(last + 1);
}

EventText::~EventText() = default;

void EventText::print(const trace::Event& event, TextBuffer& out) const {
  TypeText& text = state_->of(*event.type);
  for (const TextProgram& program : text.programs) program.run(event.record, out, state_->names);
  if (text.fields) [[unlikely]]
    text.fields->print(event.record, out);
}

EventText::Way EventText::way(const EventType& type) const { return state_->of(type).way; }

}  // namespace strata::ftrace
