// SPDX-License-Identifier: Apache-2.0
#include "recording/tracedat_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

namespace strata::recording {
namespace {

using trace::Field;
using trace::Location;
using trace::ValueKind;

// A locator has 16 bits for the offset and 16 for the length.
constexpr size_t kLongestRecord = 0xffff;

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

uint32_t bytes_for_bits(uint32_t bits) {
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

std::string c_type(uint32_t bytes, bool is_signed) {
  return (is_signed ? "s" : "u") + std::to_string(bytes * 8);
}

// What is long has a locator in any case.
bool has_fixed_size(const Field& field) {
  constexpr uint32_t kLong = 1024;
  return field.location != Location::Span && field.size <= kLong;
}

}  // namespace

std::string c_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += fits ? c : '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "_");
  return name;
}

TracedatEvent::TracedatEvent(const trace::Trace& trace, const trace::EventType& type, uint16_t id,
                             const std::string& name)
    : trace_(trace), id_(id) {
  format_ = fmt::format("name: {}\nID: {}\nformat:\n{}", name, id, kCommonFields);
  std::set<std::string> own;
  for (size_t i = type.common_fields; i < type.fields.size(); ++i)
    own.insert(c_name(type.fields[i].name));
  std::set<std::string> taken = {"common_type", "common_flags", "common_preempt_count",
                                 "common_pid"};
  for (size_t i = 0; i < type.fields.size(); ++i) {
    std::string field = c_name(type.fields[i].name);
    if (i < type.common_fields && own.contains(field)) field.insert(0, "context_");
    while (!taken.insert(field).second) field += "_";
    add(type, type.fields[i], field);
  }
  format_ += "\nprint fmt: \"" + shown_ + "\"" + arguments_ + "\n";
  shown_.clear();
  arguments_.clear();
}

void TracedatEvent::declare(const std::string& c_type, const std::string& name,
                            const char* brackets, uint32_t size, bool is_signed) {
  format_ += fmt::format("\tfield:{} {}{};\toffset:{};\tsize:{};\tsigned:{};\n", c_type, name,
                         brackets, fixed_size_, size, is_signed ? 1 : 0);
  steps_.back().offset = fixed_size_;
  fixed_size_ += size;
}

void TracedatEvent::show(const std::string& name, const std::string& conversion,
                         const std::string& argument) {
  shown_ += (shown_.empty() ? "" : " ") + name + "=" + conversion;
  arguments_ += ", " + argument;
}

void TracedatEvent::add(const trace::EventType& type, const Field& field, const std::string& name) {
  Step& step = steps_.emplace_back();
  step.ref = trace::FieldRef(field, type.order);
  step.field = &field;
  const uint32_t element = std::max<uint32_t>(field.element_size, 1);
  const bool is_text = field.kind == ValueKind::Text;
  const std::string locator = "__data_loc ";
  constexpr uint32_t kLocator = 4;

  if (field.kind == ValueKind::Integer || field.kind == ValueKind::Pointer) {
    uint32_t size = field.location == Location::BasedBits ? bytes_for_bits(field.size) : field.size;
    // Stock readers do not see the sign of smaller ones.
    if (field.is_signed) size = std::max(size, 4u);
    step.size = size;
    declare(c_type(size, field.is_signed), name, "", size, field.is_signed);
    if (field.kind == ValueKind::Pointer)
      show(name, "0x%llx", "(unsigned long long)REC->" + name);
    else if (size == 8)
      show(name, field.is_signed ? "%lld" : "%llu", "REC->" + name);
    else
      show(name, field.is_signed ? "%d" : "%u", "REC->" + name);
  } else if (is_text && has_fixed_size(field)) {
    step.kind = Step::Kind::Fixed;
    step.size = field.size;
    declare("char", name, fmt::format("[{}]", field.size).c_str(), field.size, false);
    show(name, "%s", "REC->" + name);
  } else if (field.kind == ValueKind::Array && has_fixed_size(field)) {
    step.kind = Step::Kind::Fixed;
    step.size = field.size;
    step.element = element;
    const uint32_t count = field.size / element;
    declare(c_type(element, field.is_signed), name, fmt::format("[{}]", count).c_str(), field.size,
            field.is_signed);
    show(name, "%s", fmt::format("__print_array(REC->{}, {}, {})", name, count, element));
  } else if (field.kind == ValueKind::Array) {
    step.kind = Step::Kind::Array;
    step.element = element;
    declare(locator + c_type(element, field.is_signed) + "[]", name, "", kLocator, field.is_signed);
    show(name, "%s",
         fmt::format("__print_array(__get_dynamic_array({0}), __get_dynamic_array_len({0}) / {1}, "
                     "{1})",
                     name, element));
  } else {
    step.kind = is_text                          ? Step::Kind::Text
                : field.kind == ValueKind::Float ? Step::Kind::Float
                                                 : Step::Kind::Compound;
    declare(locator + "char[]", name, "", kLocator, false);
    show(name, "%s", fmt::format("__get_str({})", name));
  }
}

void TracedatEvent::put_number(uint32_t offset, uint64_t value, uint32_t size) {
  if constexpr (kNativeOrder == ByteOrder::Big) value <<= 64 - size * 8;
  std::memcpy(record_.data() + offset, &value, size);
}

// Elements of `swapped` bytes are turned round on the way.
bool TracedatEvent::put_located(uint32_t offset, Bytes bytes, bool terminated, uint32_t swapped) {
  const size_t begin = record_.size();
  const size_t room = kLongestRecord - std::min(begin + (terminated ? 1 : 0), kLongestRecord);
  const bool fits = bytes.size() <= room;
  bytes = bytes.first(std::min(bytes.size(), room));
  record_.insert(record_.end(), bytes.begin(), bytes.end());
  for (size_t at = begin; swapped > 1 && at + swapped <= record_.size(); at += swapped)
    std::reverse(record_.data() + at, record_.data() + at + swapped);
  if (terminated) record_.push_back(std::byte{0});
  put_number(offset, (record_.size() - begin) << 16 | begin, 4);
  return fits;
}

bool TracedatEvent::encode(const trace::Event& event) {
  record_.assign(fixed_size_, std::byte{0});
  put_number(0, id_, 2);
  put_number(4, static_cast<uint32_t>(raw(event.tid())), 4);
  bool fits = true;
  for (const Step& step : steps_) {
    const uint32_t swapped = step.ref.swap ? step.element : 1;
    using enum Step::Kind;
    switch (step.kind) {
      case Integer:
        put_number(step.offset, static_cast<uint64_t>(event.integer(step.ref).value_or(0)),
                   step.size);
        break;
      case Fixed: {
        const Bytes bytes = event.bytes(step.ref);
        std::byte* out = record_.data() + step.offset;
        const size_t size = std::min<size_t>(bytes.size(), step.size);
        std::copy_n(bytes.begin(), size, out);
        for (size_t at = 0; swapped > 1 && at + swapped <= size; at += swapped)
          std::reverse(out + at, out + at + swapped);
        break;
      }
      case Text:
        fits &= put_located(step.offset, as_bytes(event.text(step.ref)), true, 1);
        break;
      case Array:
        fits &= put_located(step.offset, event.bytes(step.ref), false, swapped);
        break;
      case Float: {
        char digits[32];
        char* end = digits;
        if (const std::optional<double> value = event.real(step.ref)) {
          end = step.ref.size == 4
                    ? std::to_chars(digits, std::end(digits), static_cast<float>(*value)).ptr
                    : std::to_chars(digits, std::end(digits), *value).ptr;
        }
        const std::string_view text(digits, static_cast<size_t>(end - digits));
        fits &= put_located(step.offset, as_bytes(text), true, 1);
        break;
      }
      case Compound:
        text_.clear();
        trace_.print_compound(event, *step.field, text_);
        fits &= put_located(step.offset, as_bytes(text_.view()), true, 1);
        break;
    }
  }
  return fits;
}

}  // namespace strata::recording
