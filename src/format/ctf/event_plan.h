// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "format/ctf/description.h"
#include "format/ctf/measure.h"
#include "format/ctf/text_plan.h"
#include "trace/event_type.h"

namespace strata::ctf {

// How events of one class are read: their type for the model, with every field's place resolved,
// and how to find where a record ends.
//
// A record is what follows the event header: common context, specific context, payload. It begins
// where the first of these is aligned to.
struct EventPlan : trace::EventType {
  const StreamClass* stream = nullptr;
  const EventClass* event = nullptr;
  std::vector<const FieldClass*> classes;  // of `fields`, one each
  uint32_t alignment = 8;                  // of a record's begin, in bits
  // Of all records, in bits; nothing: `measure` finds it.
  std::optional<uint64_t> size;
  Measure measure;
  std::optional<TextPlan> text;  // nothing: it is walked over to be shown
  trace::FieldRef cpu;           // where the event itself tells it; else its packet does

  // What makes up a record, in this order; null for what there is not.
  std::array<const FieldClass*, 3> scopes() const {
    return {stream->common_context.get(), event->specific_context.get(), event->payload.get()};
  }
};

// Nothing for a class that is beyond all reason: tens of thousands of varying fields.
std::unique_ptr<EventPlan> plan_event(const Description& description, const StreamClass& stream,
                                      const EventClass& event);

}  // namespace strata::ctf
