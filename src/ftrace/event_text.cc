// SPDX-License-Identifier: Apache-2.0
#include "ftrace/event_text.h"

#include <algorithm>
#include <vector>

#include "ftrace/fields_text.h"
#include "ftrace/function_texts.h"
#include "ftrace/futex_text.h"
#include "ftrace/graph_texts.h"
#include "ftrace/known_texts.h"
#include "ftrace/libtraceevent_text.h"
#include "ftrace/print_format.h"
#include "ftrace/print_format_compiler.h"
#include "ftrace/printk_text.h"

namespace strata::ftrace {
namespace {

using trace::Event;
using trace::EventType;

// How the events of one type become text: by programs, or by something special.
struct TypeText {
  const EventType* type = nullptr;
  EventText::Way way = EventText::Way::Fields;
  std::vector<TextProgram> programs;
  std::unique_ptr<SpecialText> special;
};

}  // namespace

struct EventText::State {
  explicit State(const KernelText& kernel) : names(kernel), libtraceevent(names) {}

  TypeText& of(const EventType& type) {
    if (type.id < by_id.size()) [[likely]] {
      TypeText& found = by_id[type.id];
      if (found.type == &type) [[likely]]
        return found;
    }
    return prepare(type);
  }

  TypeText& prepare(const EventType& type);
  std::unique_ptr<SpecialText> special_text(const EventType& type);

  KernelNames names;
  CallDepths call_depths;
  Libtraceevent libtraceevent;
  std::vector<TypeText> by_id;
};

std::unique_ptr<SpecialText> EventText::State::special_text(const EventType& type) {
  if (auto text = function_text(type, names, call_depths)) return text;
  if (auto text = graph_text(type, names)) return text;
  return PrintkText::of(type, names);
}

TypeText& EventText::State::prepare(const EventType& type) {
  if (type.id >= by_id.size()) by_id.resize(type.id + 1);
  TypeText& text = by_id[type.id];
  text = {};
  text.type = &type;
  text.way = Way::Known;
  if (auto known = known_text(type, names)) {
    text.programs = std::move(known->programs);
    return text;
  }
  if ((text.special = special_text(type))) return text;
  text.way = Way::Libtraceevent;
  if ((text.special = libtraceevent.text_of(type))) return text;
  if (auto format = parse_print_format(type, names.target)) {
    if (auto program = compile(*format, type, names)) {
      text.way = Way::Known;
      if ((text.special = futex_text(type, names, *program))) return text;
      text.way = Way::Program;
      text.programs.push_back(std::move(*program));
      return text;
    }
  }
  text.way = Way::Fields;
  text.special = std::make_unique<FieldsText>(type, names.target);
  return text;
}

EventText::EventText(std::span<const EventType* const> types, KernelText kernel)
    : state_(std::make_unique<State>(kernel)) {
  uint32_t last = 0;
  for (const EventType* type : types) last = std::max(last, type->id);
  state_->by_id.resize(last + 1);
}

EventText::~EventText() = default;

void EventText::print(const Event& event, TextBuffer& out) const {
  TypeText& text = state_->of(*event.type);
  if (text.special) [[unlikely]]
    return text.special->print(event, out);
  for (const TextProgram& program : text.programs) program.run(event.record, out, state_->names);
}

EventText::Way EventText::way(const EventType& type) const { return state_->of(type).way; }

bool EventText::is_leaf(const Event& entry, const Event& next) {
  return ftrace::is_leaf(entry, next);
}

void EventText::print_leaf(const Event& entry, const Event& exit, TextBuffer& out) const {
  ftrace::print_leaf(entry, exit, state_->names, out);
}

}  // namespace strata::ftrace
