// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/event_plan.h"

#include <algorithm>

namespace strata::ctf {
namespace {

using trace::Field;
using trace::Location;
using trace::ValueKind;
using Kind = Measure::Kind;

// No record is that long; what claims to be does not fit any packet.
constexpr uint64_t kEndless = uint64_t{1} << 40;

uint64_t bits_of(uint64_t bytes) { return std::min(bytes, kEndless) * 8; }

// For the model, which has 32 bits for it.
uint32_t field_size(uint64_t bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, 1u << 28));
}

constexpr uint16_t kMaxBases = 0xffff;

bool fills_bytes(uint64_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

// Lays the fields of a record out, one after the other. What is known at each point: the last base,
// how many bits lie between it and here, and what the base is certainly a multiple of.
class Planner {
 public:
  explicit Planner(EventPlan& plan) : plan_(plan), certain_(plan.alignment) {}

  void scope(const FieldClass* type, bool is_common) {
    if (type == nullptr) return;
    add(*type, "");
    if (is_common) plan_.common_fields = static_cast<uint32_t>(plan_.fields.size());
  }

  // False: beyond all reason.
  bool finish() {
    if (plan_.measure.steps.empty())
      plan_.size = offset_;
    else
      flush();
    return !too_complex_;
  }

 private:
  // Moves the cursor of the program to here.
  void flush() {
    if (offset_ > flushed_) step({.kind = Kind::Skip, .bits = offset_ - flushed_});
    flushed_ = offset_;
  }

  void step(Measure::Step step) { plan_.measure.steps.push_back(std::move(step)); }

  // Offsets count from here on.
  uint16_t new_base(uint32_t certain) {
    flush();
    if (plan_.measure.base_count == kMaxBases) {
      too_complex_ = true;
      return base_;
    }
    base_ = plan_.measure.base_count++;
    step({.kind = Kind::Mark, .base = base_});
    offset_ = flushed_ = 0;
    certain_ = certain;
    return base_;
  }

  void align(uint32_t alignment) {
    if (alignment <= certain_) {
      offset_ = (offset_ + alignment - 1) / alignment * alignment;
      return;
    }
    flush();
    step({.kind = Kind::Align, .bits = alignment});
    new_base(alignment);
  }

  bool on_byte() const { return certain_ >= 8 && offset_ % 8 == 0; }

  // A field for the model, unless this is inside an array, where one name stands for many.
  Field* field(const std::string& name, std::string type) {
    if (in_array_ > 0 || name.empty()) return nullptr;
    Field& field = plan_.fields.emplace_back();
    plan_.classes.push_back(class_);
    field.name = name;
    field.type = std::move(type);
    field.base = base_;
    field.location = base_ == 0 ? Location::InPlace : Location::Based;
    field.offset = static_cast<uint32_t>(offset_ / 8);
    return &field;
  }

  void add(const FieldClass& type, const std::string& name) {
    align(type.alignment);
    class_ = &type;
    std::visit([&](const auto& kind) { add_kind(type, kind, name); }, type.kind);
  }

  // What later fields need of an integer that lies here.
  void save(const Integer& integer) {
    for (const int slot : integer.slots)
      step({.kind = Kind::Save, .slot = slot, .bits = offset_ - flushed_, .integer = &integer});
  }

  void add_kind(const FieldClass&, const Integer& integer, const std::string& name) {
    const std::string described = (integer.is_signed ? "int" : "uint") +
                                  (integer.size == 0 ? "" : std::to_string(integer.size));
    if (integer.size == 0) {
      // Of variable length: no place that the model could read; the trace itself shows it.
      flush();
      if (Field* f = field(name, described)) f->kind = ValueKind::Compound;
      save(integer);
      step({.kind = Kind::Integer, .integer = &integer});
      const uint16_t begun = base_;
      const uint64_t at = offset_;
      const uint16_t end = new_base(8);
      if (in_array_ == 0 && !name.empty()) make_span(plan_.fields.back(), begun, at, end);
      return;
    }
    save(integer);
    if (Field* f = field(name, described)) {
      f->is_signed = integer.is_signed;
      f->order = integer.order;
      f->kind = integer.base == 16 ? ValueKind::Pointer : ValueKind::Integer;
      if (fills_bytes(integer.size) && on_byte() && !integer.reversed_bits) {
        f->size = f->element_size = integer.size / 8;
      } else {
        f->location = Location::BasedBits;
        f->offset = static_cast<uint32_t>(offset_);
        f->size = integer.size;
      }
    }
    offset_ += integer.size;
  }

  void add_kind(const FieldClass&, const Float& real, const std::string& name) {
    if (Field* f = field(name, "float" + std::to_string(real.size))) {
      f->order = real.order;
      f->size = f->element_size = real.size / 8;
      f->kind = on_byte() && (real.size == 32 || real.size == 64) ? ValueKind::Float
                                                                  : ValueKind::Compound;
    }
    offset_ += real.size;
  }

  static void make_span(Field& field, uint16_t base, uint64_t offset, uint16_t end) {
    field.location = Location::Span;
    field.base = base;
    field.offset = static_cast<uint32_t>(offset / 8);
    field.end_base = end;
    field.size = 1;  // there is a field; how long it is, the bases tell
  }

  // Something whose length varies, which `skip` passes over.
  void add_varying(const std::string& name, std::string type, ValueKind kind, uint32_t element_size,
                   Measure::Step skip) {
    flush();
    const bool shown = field(name, std::move(type)) != nullptr;
    const size_t index = plan_.fields.size();
    const uint16_t begun = base_;
    const uint64_t at = offset_;
    step(std::move(skip));
    const uint16_t end = new_base(8);
    if (!shown) return;
    Field& f = plan_.fields[index - 1];
    f.kind = kind;
    f.element_size = element_size;
    make_span(f, begun, at, end);
  }

  void add_kind(const FieldClass&, const Text& text, const std::string& name) {
    const ValueKind kind = text.encoding == Encoding::Utf8 ? ValueKind::Text : ValueKind::Compound;
    if (text.extent == Text::Extent::Fixed) {
      if (Field* f = field(name, "char[" + std::to_string(text.length) + "]")) {
        f->kind = kind;
        f->size = field_size(text.length);
        f->element_size = 1;
      }
      offset_ += bits_of(text.length);
    } else if (text.extent == Text::Extent::Terminated) {
      add_varying(name, "string", kind, 1,
                  {.kind = Kind::Terminated, .bits = unit_of(text.encoding)});
    } else {
      add_varying(name, "char[]", kind, 1, {.kind = Kind::Counted, .slot = text.slot, .bits = 8});
    }
  }

  void add_kind(const FieldClass&, const Blob& blob, const std::string& name) {
    if (blob.length) {
      if (Field* f = field(name, "uint8[" + std::to_string(*blob.length) + "]")) {
        f->kind = ValueKind::Array;
        f->size = field_size(*blob.length);
        f->element_size = 1;
      }
      offset_ += bits_of(*blob.length);
    } else {
      add_varying(name, "uint8[]", ValueKind::Array, 1,
                  {.kind = Kind::Counted, .slot = blob.slot, .bits = 8});
    }
  }

  void add_kind(const FieldClass&, const Array& array, const std::string& name) {
    // Elements that lie side by side as plain integers can be read as such.
    const auto* integer = std::get_if<Integer>(&array.element->kind);
    if (integer != nullptr && integer->slots.empty()) align(array.element->alignment);
    const bool plain = integer != nullptr && integer->slots.empty() && !integer->reversed_bits &&
                       fills_bytes(integer->size) && on_byte() &&
                       array.element->alignment <= integer->size;
    if (plain) {
      const uint32_t bytes = integer->size / 8;
      const std::string described =
          (integer->is_signed ? "int" : "uint") + std::to_string(integer->size);
      if (!array.length) {
        add_varying(name, described + "[]", ValueKind::Array, bytes,
                    {.kind = Kind::Counted, .slot = array.slot, .bits = integer->size});
        if (in_array_ == 0 && !name.empty()) set_element(plan_.fields.back(), *integer);
        return;
      }
      if (*array.length < (uint64_t{1} << 28)) {
        if (Field* f = field(name, described + "[" + std::to_string(*array.length) + "]")) {
          f->kind = ValueKind::Array;
          f->size = static_cast<uint32_t>(*array.length) * bytes;
          f->element_size = bytes;
          set_element(*f, *integer);
        }
        offset_ += *array.length * integer->size;
        return;
      }
    }
    add_loop(array, name);
  }

  static void set_element(Field& field, const Integer& integer) {
    field.is_signed = integer.is_signed;
    field.order = integer.order;
  }

  // Element by element. Inside, nothing is known of the alignment.
  void add_loop(const Array& array, const std::string& name) {
    flush();
    if (!on_byte()) new_base(1);
    const bool shown = field(name, "array") != nullptr;
    const size_t index = plan_.fields.size();
    const uint16_t begun = base_;
    const uint64_t at = offset_;
    const size_t loop = plan_.measure.steps.size();
    step({.kind = Kind::Loop,
          .slot = array.length ? -1 : array.slot,
          .bits = array.length.value_or(0)});
    ++in_array_;
    certain_ = 1;
    offset_ = flushed_ = 0;
    add(*array.element, "");
    flush();
    --in_array_;
    step({.kind = Kind::EndLoop, .jump = static_cast<uint32_t>(loop + 1)});
    plan_.measure.steps[loop].jump = static_cast<uint32_t>(plan_.measure.steps.size());
    const uint16_t end = new_base(1);
    if (!shown) return;
    Field& f = plan_.fields[index - 1];
    f.kind = ValueKind::Compound;
    make_span(f, begun, at, end);
  }

  void add_kind(const FieldClass&, const Structure& structure, const std::string& name) {
    for (const Member& member : structure.members)
      add(*member.type, name.empty() ? member.name : name + "." + member.name);
  }

  void add_kind(const FieldClass&, const Variant& variant, const std::string& name) {
    flush();
    plan_.measure.has_choices = true;
    const size_t choose_step = plan_.measure.steps.size();
    step({.kind = Kind::Choose, .slot = variant.slot, .variant = &variant});
    std::vector<size_t> jumps;
    for (const Variant::Choice& choice : variant.choices) {
      plan_.measure.steps[choose_step].targets.push_back(
          static_cast<uint32_t>(plan_.measure.steps.size()));
      begin_branch();
      add(*choice.type, name.empty() ? choice.name : name + "." + choice.name);
      flush();
      jumps.push_back(plan_.measure.steps.size());
      step({.kind = Kind::Jump});
    }
    for (const size_t jump : jumps)
      plan_.measure.steps[jump].jump = static_cast<uint32_t>(plan_.measure.steps.size());
    begin_branch();
  }

  void add_kind(const FieldClass&, const Optional& optional, const std::string& name) {
    flush();
    plan_.measure.has_choices = true;
    const size_t present = plan_.measure.steps.size();
    step({.kind = Kind::Present, .slot = optional.slot, .optional = &optional});
    begin_branch();
    add(*optional.type, name);
    flush();
    plan_.measure.steps[present].jump = static_cast<uint32_t>(plan_.measure.steps.size());
    begin_branch();
  }

  // Where ways part or meet nothing is known but that a base can be marked.
  void begin_branch() {
    flushed_ = offset_;
    new_base(1);
  }

  EventPlan& plan_;
  uint16_t base_ = 0;
  uint64_t offset_ = 0;                // bits since the base
  uint64_t flushed_ = 0;               // as far as the program's cursor has come of those
  uint32_t certain_;                   // the base is a multiple of this, in bits
  const FieldClass* class_ = nullptr;  // what is being laid out
  unsigned in_array_ = 0;
  bool too_complex_ = false;
};

}  // namespace

std::unique_ptr<EventPlan> plan_event(const Description& description, const StreamClass& stream,
                                      const EventClass& event) {
  auto plan = std::make_unique<EventPlan>();
  plan->stream = &stream;
  plan->event = &event;
  trace::EventType& type = *plan;
  type.id = static_cast<uint32_t>(event.id);
  const size_t colon = event.name.find(':');
  if (colon != std::string::npos && colon > 0) {
    type.system = event.name.substr(0, colon);
    type.name = event.name.substr(colon + 1);
  } else {
    type.system = event.nspace;
    type.name = event.name;
  }
  type.order = description.order;

  const std::array<const FieldClass*, 3> scopes = plan->scopes();
  plan->alignment = 1;
  for (const FieldClass* scope : scopes) {
    if (scope == nullptr) continue;
    plan->alignment = scope->alignment;
    break;
  }
  Planner planner(*plan);
  planner.scope(scopes[0], true);
  planner.scope(scopes[1], true);
  planner.scope(scopes[2], false);
  if (!planner.finish()) return nullptr;
  plan->text = TextPlan::make(*plan);

  const auto context = [&](std::string_view name) {
    const Field* field = type.find(name);
    const bool common =
        field != nullptr && static_cast<size_t>(field - type.fields.data()) < type.common_fields;
    return common ? type.ref(name) : trace::FieldRef{};
  };
  type.tid = context("tid");
  if (!type.tid) type.tid = context("vtid");
  if (type.tid) type.comm = context("procname");
  plan->cpu = context("cpu_id");
  return plan;
}

}  // namespace strata::ctf
