// SPDX-License-Identifier: Apache-2.0
#include "recording/event_translation.h"

#include <algorithm>

#include "recording/lttng_names.h"

namespace strata::recording {
namespace {

using ctf::NewField;
using ctf::NewFieldKind;
using trace::Field;
using trace::Location;
using trace::ValueKind;

// Records are shorter than 64 KiB: so no sequence has more elements than 16 bits can count.
constexpr unsigned kCountBits = 16;

bool is_size(uint32_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

void append_bytes(Bytes bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <typename T>
void append_number(T value, std::vector<std::byte>& out) {
  append_bytes(std::as_bytes(std::span(&value, 1)), out);
}

void append_string(std::string_view text, std::vector<std::byte>& out) {
  append_bytes(as_bytes(text.substr(0, text.find('\0'))), out);
  out.push_back(std::byte{0});
}

void append_sequence(Bytes bytes, uint32_t element, std::vector<std::byte>& out) {
  const uint64_t count = std::min<uint64_t>(bytes.size() / element, 0xffff);
  append_number(static_cast<uint16_t>(count), out);
  append_bytes(bytes.first(count * element), out);
}

// The texts of these are not in their records: only pointers into the kernel are.
bool needs_text(const trace::EventType& type) {
  return type.system == "ftrace" && (type.name == "bprint" || type.name == "bputs");
}

// A system call's argument fills a register in the record, whatever its type is.
bool is_int_argument(const trace::EventType& type, const Field& field) {
  return type.system == "syscalls" && field.size == 8 &&
         (field.type == "int" || field.type == "unsigned int");
}

// A name that a system call is given: LTTng tells the characters, which is what its readers count
// on; the kernel's own tracer only where they are.
bool is_name_argument(const trace::EventType& type, const Field& field) {
  constexpr std::string_view kNames[] = {"filename", "pathname", "oldname", "newname",
                                         "path",     "name",     "library", "specialfile",
                                         "special",  "dev_name", "dir_name"};
  return type.system == "syscalls" && field.kind == ValueKind::Pointer &&
         field.type.find("char *") != std::string::npos &&
         std::ranges::find(kNames, field.name) != std::end(kNames);
}

// Arrays whose declaration says less than is there: a stack is as deep as its record is long.
bool goes_to_the_end(const trace::EventType& type, const Field& field) {
  return field.location == Location::InPlace && field.kind != ValueKind::Integer &&
         (field.size == 0 || (type.system == "ftrace" && field.name == "caller"));
}

}  // namespace

EventTranslation::EventTranslation(const trace::Trace& trace, const Processes& processes,
                                   const trace::EventType& type, std::string name,
                                   std::span<const std::string_view> without)
    : trace_(trace), processes_(processes) {
  declaration_.name = std::move(name);
  for (size_t i = type.common_fields; i < type.fields.size(); ++i) {
    const Field& field = type.fields[i];
    if (std::ranges::find(without, field.name) == without.end()) add(type, field);
    // LTTng tells both, where the kernel's "pid" is a thread's.
    if (type.meaning.word == trace::Word::TaskFork && field.name.ends_with("_pid")) {
      declaration_.fields.push_back(ctf::integer_field(field.name, 32, true));
      steps_.push_back({Step::Kind::Process, 0, 0, {field, type.order}});
    }
  }
  if (type.fields.size() == type.common_fields && type.id == 0) {
    // Nobody has told what it is: its bytes then, its number first.
    declaration_.fields.push_back(
        sequence_field(ctf::integer_field("record", 8, false, 16), kCountBits));
    steps_.push_back({Step::Kind::Rest, 0, 1, {}});
  }
  if (needs_text(type)) {
    declaration_.fields.push_back(ctf::string_field("msg"));
    steps_.push_back({Step::Kind::Formatted, 0, 0, {}});
  }
}

void EventTranslation::add_copy(uint32_t offset, uint32_t size) {
  if (!steps_.empty()) {
    Step& before = steps_.back();
    if (before.kind == Step::Kind::Copy && before.offset + before.size == offset) {
      before.size += size;
      return;
    }
  }
  steps_.push_back({Step::Kind::Copy, offset, size, {}});
}

void EventTranslation::add(const trace::EventType& type, const Field& field) {
  const trace::FieldRef ref(field, type.order);
  const ByteOrder order = field.order.value_or(type.order);
  const bool in_place = field.location == Location::InPlace;
  const bool hexadecimal = field.kind == ValueKind::Pointer;
  const uint32_t element = is_size(field.element_size) ? field.element_size : 1;
  NewField out = ctf::integer_field(lttng_field_name(type, field.name), element * 8,
                                    field.is_signed, hexadecimal ? 16 : 10);
  out.order = order;

  if (type.system == "block" && field.name == "rwbs" && field.kind == ValueKind::Text) {
    out = ctf::integer_field("rwbs", 32, false);
    steps_.push_back({Step::Kind::Rwbs, 0, 0, ref});
  } else if (is_name_argument(type, field)) {
    out = ctf::string_field(out.name);
    steps_.push_back({Step::Kind::Address, 0, 0, ref});
  } else if (goes_to_the_end(type, field)) {
    if (field.kind == ValueKind::Text) {
      out = ctf::string_field(out.name);
      steps_.push_back({Step::Kind::RestText, field.offset, 1, {}});
    } else {
      out = ctf::sequence_field(out, kCountBits);
      steps_.push_back({Step::Kind::Rest, field.offset, element, {}});
    }
  } else if (field.size == 0) {
    return;
  } else if (is_int_argument(type, field)) {
    out.bits = 32;
    out.is_signed = field.type == "int";
    add_copy(field.offset + (order == ByteOrder::Big ? 4 : 0), 4);
  } else if (field.kind == ValueKind::Text) {
    if (in_place) {
      out = ctf::text_field(out.name, field.size);
      add_copy(field.offset, field.size);
    } else {
      out = ctf::string_field(out.name);
      steps_.push_back({Step::Kind::String, 0, 0, ref});
    }
  } else if (in_place && is_size(field.size) && field.kind != ValueKind::Array &&
             field.kind != ValueKind::Compound) {
    out.bits = static_cast<uint8_t>(field.size * 8);
    if (field.kind == ValueKind::Float && field.size >= 4) out.kind = NewFieldKind::Float;
    add_copy(field.offset, field.size);
  } else if (in_place) {
    out = ctf::array_field(out, field.size / element);
    add_copy(field.offset, field.size / element * element);
  } else if (field.location == Location::BasedBits ||
             (field.location == Location::Based && field.kind == ValueKind::Integer)) {
    out.bits = 64;
    out.order = ByteOrder::Little;
    steps_.push_back({Step::Kind::Integer, 0, 8, ref});
  } else {
    out = ctf::sequence_field(out, kCountBits);
    steps_.push_back({Step::Kind::Sequence, 0, element, ref});
  }
  declaration_.fields.push_back(std::move(out));
}

void EventTranslation::append(const trace::Event& event, std::vector<std::byte>& out) {
  const Bytes record = event.record;
  for (const Step& step : steps_) {
    const Bytes rest = record.subspan(std::min<size_t>(step.offset, record.size()));
    using enum Step::Kind;
    switch (step.kind) {
      case Copy: {
        const size_t there = std::min<size_t>(step.size, rest.size());
        append_bytes(rest.first(there), out);
        if (there < step.size) [[unlikely]]
          out.resize(out.size() + step.size - there);
        break;
      }
      case Integer:
        append_number(event.integer(step.ref).value_or(0), out);
        break;
      case String:
        append_string(event.text(step.ref), out);
        break;
      case Sequence:
        append_sequence(event.bytes(step.ref), step.size, out);
        break;
      case RestText:
        append_string(as_text(rest), out);
        break;
      case Rest:
        append_sequence(rest, step.size, out);
        break;
      case Rwbs:
        append_number(lttng_rwbs(event.text(step.ref)), out);
        break;
      case Process: {
        const Tid thread{static_cast<int32_t>(event.integer(step.ref).value_or(0))};
        append_number(raw(processes_.process_of(thread, event.time)), out);
        break;
      }
      case Address:
        text_.clear();
        text_.put("0x");
        text_.put_hex(static_cast<uint64_t>(event.integer(step.ref).value_or(0)));
        append_string(text_.view(), out);
        break;
      case Formatted:
        text_.clear();
        trace_.print_fields(event, text_);
        append_string(text_.view(), out);
        break;
    }
  }
}

}  // namespace strata::recording
