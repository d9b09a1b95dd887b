// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "format/ctf/description.h"
#include "trace/field.h"

namespace strata::ctf {

// Values of integers that later fields refer to, by slot.
using Slots = std::vector<uint64_t>;

// A place in a packet, in bits from its start; alignment counts from there. The first step beyond
// the packet's content makes the cursor fail, and it stays failed.
class Cursor {
 public:
  Cursor(const std::byte* packet, uint64_t position, uint64_t end)
      : packet_(packet), position_(position), end_(end) {}

  bool ok() const { return ok_; }
  uint64_t position() const { return position_; }
  uint64_t left() const { return end_ - position_; }
  const std::byte* packet() const { return packet_; }

  bool align(uint32_t alignment) {
    return advance((alignment - position_ % alignment) % alignment);
  }
  bool advance(uint64_t bits) {
    if (bits > left()) ok_ = false;
    if (ok_) position_ += bits;
    return ok_;
  }
  void fail() { ok_ = false; }

  // `size` bits, at most 64, as an unsigned number; passed over.
  uint64_t fixed(uint32_t size, ByteOrder order) {
    const uint64_t at = position_;
    if (!advance(size)) return 0;
    return trace::read_bits(packet_, at, size, order == ByteOrder::Big);
  }
  // An integer as it lies here, sign-extended; passed over.
  uint64_t integer(const Integer& type);
  // `size` bytes from here, passed over. What is not at a byte's begin is none.
  Bytes bytes(uint64_t size);
  // The bytes of a string up to and with its NUL of `unit` bytes.
  Bytes terminated(unsigned unit);

 private:
  uint64_t variable_length(bool is_signed);

  const std::byte* packet_;
  uint64_t position_;
  uint64_t end_;
  bool ok_ = true;
};

constexpr unsigned unit_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return 1;
    case Encoding::Utf16Be:
    case Encoding::Utf16Le:
      return 2;
    case Encoding::Utf32Be:
    case Encoding::Utf32Le:
      return 4;
  }
  return 1;
}

// Whether a selector's value is in one of the ranges.
inline bool in_ranges(uint64_t value, bool is_signed, const std::vector<IntegerRange>& ranges) {
  return std::ranges::any_of(ranges, [&](const IntegerRange& range) {
    if (is_signed)
      return range.first <= static_cast<int64_t>(value) &&
             static_cast<int64_t>(value) <= range.last;
    return static_cast<uint64_t>(range.first) <= value &&
           value <= static_cast<uint64_t>(range.last);
  });
}

// The alternative a selector takes; null where it takes none.
inline const Variant::Choice* choose(const Variant& variant, uint64_t selector) {
  for (const Variant::Choice& choice : variant.choices) {
    if (in_ranges(selector, variant.selector_is_signed, choice.ranges)) return &choice;
  }
  return nullptr;
}

inline bool is_present(const Optional& optional, uint64_t selector) {
  return optional.ranges.empty()
             ? selector != 0
             : in_ranges(selector, optional.selector_is_signed, optional.ranges);
}

// A sink that cares for nothing: what cares for little builds upon it.
struct DeafSink {
  void integer(std::string_view, const Integer&, uint64_t) {}
  void real(std::string_view, const Float&, uint64_t) {}
  void text(std::string_view, const Text&, Bytes) {}
  void blob(std::string_view, const Blob&, Bytes) {}
  void begin_structure(std::string_view) {}
  void end_structure() {}
  void begin_array(std::string_view, const Array&, uint64_t) {}
  void begin_element(uint64_t) {}
  void end_array() {}
};

// Walks over one field and all that is in it, in the order in which it lies, and tells `sink` of
// everything it passes:
//
//     sink.integer(name, type, value)         sink.begin_structure(name)   sink.end_structure()
//     sink.real(name, type, value)            sink.begin_array(name, type, count)  sink.end_array()
//     sink.text(name, type, bytes)            sink.begin_element(i)
//     sink.blob(name, type, bytes)
//
// For what is read rarely (packet contexts, odd event headers) or is shown; events themselves are
// measured by flat programs (measure.h). False where the packet ends or a selector selects nothing.
template <typename Sink>
bool walk(const FieldClass& type, std::string_view name, Cursor& at, Slots& slots, Sink& sink) {
  if (!at.align(type.alignment)) return false;
  switch (type.kind.index()) {
    case 0: {
      const auto& integer = *std::get_if<Integer>(&type.kind);
      const uint64_t value = at.integer(integer);
      if (!at.ok()) return false;
      for (const int slot : integer.slots) slots[static_cast<size_t>(slot)] = value;
      sink.integer(name, integer, value);
      return true;
    }
    case 1: {
      const auto& real = *std::get_if<Float>(&type.kind);
      const uint64_t bits = at.fixed(std::min<uint32_t>(real.size, 64), real.order);
      if (real.size > 64) at.advance(real.size - 64);
      if (!at.ok()) return false;
      sink.real(name, real, bits);
      return true;
    }
    case 2: {
      const auto& text = *std::get_if<Text>(&type.kind);
      Bytes bytes;
      if (text.extent == Text::Extent::Terminated)
        bytes = at.terminated(unit_of(text.encoding));
      else
        bytes =
            at.bytes(text.extent == Text::Extent::Fixed ? text.length
                                                        : slots[static_cast<size_t>(text.slot)]);
      if (!at.ok()) return false;
      sink.text(name, text, bytes);
      return true;
    }
    case 3: {
      const auto& blob = *std::get_if<Blob>(&type.kind);
      const Bytes bytes =
          at.bytes(blob.length ? *blob.length : slots[static_cast<size_t>(blob.slot)]);
      if (!at.ok()) return false;
      sink.blob(name, blob, bytes);
      return true;
    }
    case 4: {
      const auto& array = *std::get_if<Array>(&type.kind);
      const uint64_t count = array.length ? *array.length : slots[static_cast<size_t>(array.slot)];
      // Elements may be of no size, but then there is no use for more of them than of bits.
      if (count > at.left() + 64) {
        at.fail();
        return false;
      }
      sink.begin_array(name, array, count);
      for (uint64_t i = 0; i < count; ++i) {
        sink.begin_element(i);
        if (!walk(*array.element, {}, at, slots, sink)) return false;
      }
      sink.end_array();
      return true;
    }
    case 5: {
      const auto& structure = *std::get_if<Structure>(&type.kind);
      sink.begin_structure(name);
      for (const Member& member : structure.members) {
        if (!walk(*member.type, member.name, at, slots, sink)) return false;
      }
      sink.end_structure();
      return true;
    }
    case 6: {
      const auto& variant = *std::get_if<Variant>(&type.kind);
      const Variant::Choice* choice = choose(variant, slots[static_cast<size_t>(variant.slot)]);
      if (choice == nullptr) {
        at.fail();
        return false;
      }
      return walk(*choice->type, name, at, slots, sink);
    }
    default: {
      const auto& optional = *std::get_if<Optional>(&type.kind);
      if (!is_present(optional, slots[static_cast<size_t>(optional.slot)])) return true;
      return walk(*optional.type, name, at, slots, sink);
    }
  }
}

}  // namespace strata::ctf
