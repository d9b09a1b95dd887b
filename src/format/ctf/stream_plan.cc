// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/stream_plan.h"

#include <algorithm>

namespace strata::ctf {
namespace {

constexpr uint64_t kSmallIds = 1 << 16;

// One that no later field needs: what is read without walking leaves nothing in slots.
const Integer* integer_of(const Member& member, uint32_t size, uint32_t most_alignment) {
  const auto* integer = std::get_if<Integer>(&member.type->kind);
  if (integer == nullptr || integer->size != size || integer->is_signed || integer->reversed_bits ||
      !integer->slots.empty() || member.type->alignment > most_alignment)
    return nullptr;
  return integer;
}

// "struct { uint27 timestamp; }"
bool is_short_form(const FieldClass& type, uint32_t time_bits, uint32_t alignment,
                   ByteOrder order) {
  const auto* structure = std::get_if<Structure>(&type.kind);
  if (structure == nullptr || type.alignment > alignment || structure->members.size() != 1)
    return false;
  const Integer* time = integer_of(structure->members[0], time_bits, alignment);
  return time != nullptr && time->role == FieldRole::Timestamp && time->order == order;
}

// "struct { uint32 id; uint64 timestamp; } align(8)"
bool is_extended_form(const FieldClass& type, ByteOrder order) {
  const auto* structure = std::get_if<Structure>(&type.kind);
  if (structure == nullptr || type.alignment != 8 || structure->members.size() != 2) return false;
  const Integer* id = integer_of(structure->members[0], 32, 8);
  const Integer* time = integer_of(structure->members[1], 64, 8);
  return id != nullptr && time != nullptr && id->role == FieldRole::EventClassId &&
         time->role == FieldRole::Timestamp && id->order == order && time->order == order;
}

// Readings to nanoseconds since the clock's origin.
trace::ClockMap clock_map(const Clock& clock) {
  constexpr int64_t kSecond = 1'000'000'000;
  const Int128 seconds = Int128{clock.offset_seconds} * kSecond;
  trace::ClockPiece piece;
  if (clock.frequency == static_cast<uint64_t>(kSecond) || clock.frequency == 0) {
    piece.u0 = saturated(seconds + clock.offset_cycles);
  } else {
    const trace::Slope slope = trace::slope(static_cast<uint64_t>(kSecond), clock.frequency);
    piece.mult = slope.mult;
    piece.shift = slope.shift;
    piece.u0 = saturated(seconds + Int128{clock.offset_cycles} * kSecond /
                                       static_cast<int64_t>(clock.frequency));
  }
  trace::ClockMap map({piece});
  map.from = clock.name;
  map.to = clock.since_epoch ? "epoch" : clock.name;
  return map;
}

}  // namespace

HeaderForm header_form(const FieldClass* header) {
  const auto* structure = header == nullptr ? nullptr : std::get_if<Structure>(&header->kind);
  if (structure == nullptr || header->alignment != 8 || structure->members.size() != 2)
    return HeaderForm::General;
  const auto* id = std::get_if<Integer>(&structure->members[0].type->kind);
  const auto* variant = std::get_if<Variant>(&structure->members[1].type->kind);
  if (id == nullptr || variant == nullptr || id->role != FieldRole::EventClassId || id->is_signed ||
      id->reversed_bits || id->is_needed_later || id->slots != std::vector{variant->slot} ||
      variant->choices.size() != 2 || structure->members[0].type->alignment > 8)
    return HeaderForm::General;
  const bool compact = id->size == 5;
  if (!compact && id->size != 16) return HeaderForm::General;
  const int64_t extended = compact ? 31 : 65535;
  const Variant::Choice& first = variant->choices[0];
  const Variant::Choice& second = variant->choices[1];
  const bool ranges = first.ranges == std::vector<IntegerRange>{{0, extended - 1}} &&
                      second.ranges == std::vector<IntegerRange>{{extended, extended}};
  const bool forms = is_short_form(*first.type, compact ? 27 : 32, compact ? 1 : 8, id->order) &&
                     is_extended_form(*second.type, id->order) &&
                     structure->members[1].type->alignment <= (compact ? 1u : 8u);
  if (!ranges || !forms) return HeaderForm::General;
  return compact ? HeaderForm::Compact : HeaderForm::Large;
}

StreamPlan plan_stream(const Description& description, const StreamClass& stream) {
  StreamPlan plan;
  plan.stream = &stream;
  plan.header = header_form(stream.event_header.get());
  if (plan.header != HeaderForm::General) {
    const auto& members = std::get<Structure>(stream.event_header->kind).members;
    const ByteOrder order = std::get<Integer>(members[0].type->kind).order;
    plan.swap = order != kNativeOrder;
    plan.big = order == ByteOrder::Big;
  }
  if (stream.clock) {
    plan.clock = {clock_map(description.clocks[*stream.clock])};
    plan.has_clock = true;
  }
  for (const EventClass& event : stream.events) {
    std::unique_ptr<EventPlan> event_plan = plan_event(description, stream, event);
    if (event_plan == nullptr) continue;
    plan.most_bases = std::max(plan.most_bases, event_plan->measure.base_count);
    if (event.id < kSmallIds) {
      if (plan.by_id.size() <= event.id) plan.by_id.resize(event.id + 1);
      plan.by_id[event.id] = event_plan.get();
    } else {
      plan.by_large_id[event.id] = event_plan.get();
    }
    plan.events.push_back(std::move(event_plan));
  }
  return plan;
}

}  // namespace strata::ctf
