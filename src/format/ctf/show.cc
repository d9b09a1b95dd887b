// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/show.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "format/ctf/characters.h"

namespace strata::ctf {
namespace {

double real_of(const Float& type, uint64_t bits) {
  if (type.size == 32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

void put_formatted(double value, TextBuffer& out) {
  char text[40];
  const int size = std::snprintf(text, sizeof text, "%g", value);
  out.put(std::string_view(text, static_cast<size_t>(size)));
}

void put_number(const Integer& type, uint64_t value, TextBuffer& out) {
  if (type.is_bool) {
    out.put(std::string_view(value != 0 ? "true" : "false"));
    return;
  }
  // What is not decimal shows the bits that are there.
  const uint64_t bits =
      type.size == 0 || type.size >= 64 ? value : value & ((uint64_t{1} << type.size) - 1);
  switch (type.base) {
    case 16: {
      out.put(std::string_view("0x"));
      out.advance_to(write_upper_hex(out.room(16), bits));
      return;
    }
    case 8: {
      char text[30];
      const int size = std::snprintf(text, sizeof text, "0%lo", bits);
      out.put(std::string_view(text, static_cast<size_t>(size)));
      return;
    }
    case 2: {
      out.put(std::string_view("0b"));
      const uint32_t digits = type.size == 0 ? 64 : type.size;
      for (uint32_t i = digits; i-- > 0;) out.put((bits >> i & 1) != 0 ? '1' : '0');
      return;
    }
    default:
      if (type.is_signed)
        out.put_decimal(static_cast<int64_t>(value));
      else
        out.put_decimal(value);
  }
}

// The names that an enumeration gives a value: ( "running" : container = 0 ).
void put_enumeration(const Integer& type, uint64_t value, TextBuffer& out) {
  out.put(std::string_view("( "));
  size_t named = 0;
  const size_t begin = out.size();
  for (const Mapping& mapping : type.mappings) {
    if (!in_ranges(value, type.is_signed, mapping.ranges)) continue;
    if (named++ > 0) out.put(std::string_view(", "));
    out.put('"');
    put_escaped(mapping.name, out);
    out.put('"');
  }
  if (named > 1) {
    const std::string names(out.view().substr(begin));
    out.truncate(begin);
    out.put(std::string_view("{ "));
    out.put(names);
    out.put(std::string_view(" }"));
  }
  if (named == 0) out.put(std::string_view("<unknown>"));
  out.put(std::string_view(" : container = "));
  put_number(type, value, out);
  out.put(std::string_view(" )"));
}

class TextSink {
 public:
  explicit TextSink(TextBuffer& out, bool hides_roles = false)
      : out_(out), hides_roles_(hides_roles) {}

  void integer(std::string_view name, const Integer& type, uint64_t value) {
    if (hides_roles_ && type.role != FieldRole::None) return;
    begin(name);
    if (type.is_enum)
      put_enumeration(type, value, out_);
    else
      put_number(type, value, out_);
  }
  void real(std::string_view name, const Float& type, uint64_t bits) {
    begin(name);
    put_formatted(real_of(type, bits), out_);
  }
  void text(std::string_view name, const Text& type, Bytes bytes) {
    begin(name);
    out_.put('"');
    if (type.encoding == Encoding::Utf8)
      put_escaped(cut_at_nul(bytes), out_);
    else
      put_escaped(to_utf8(bytes, type.encoding), out_);
    out_.put('"');
  }
  void blob(std::string_view name, const Blob&, Bytes bytes) {
    begin(name);
    out_.put(std::string_view("{ "));
    for (const std::byte byte : bytes) {
      out_.put("0123456789abcdef"[std::to_integer<unsigned>(byte) >> 4]);
      out_.put("0123456789abcdef"[std::to_integer<unsigned>(byte) & 15]);
      out_.put(' ');
    }
    out_.put('}');
  }
  void begin_structure(std::string_view name) {
    begin(name);
    out_.put('{');
    first_ = true;
  }
  void end_structure() {
    out_.put(std::string_view(" }"));
    first_ = false;
  }
  void begin_array(std::string_view name, const Array&, uint64_t) {
    begin(name);
    out_.put('[');
    first_ = true;
  }
  void begin_element(uint64_t index) {
    separate();
    out_.put('[');
    out_.put_decimal(index);
    out_.put(std::string_view("] = "));
    bare_ = true;
  }
  void end_array() {
    out_.put(std::string_view(" ]"));
    first_ = false;
  }

 private:
  void separate() {
    if (!first_) out_.put(',');
    out_.put(' ');
    first_ = false;
  }
  // "name = ", after whatever came before. The outermost structure and elements have no name.
  void begin(std::string_view name) {
    if (bare_) {
      bare_ = false;
      return;
    }
    separate();
    out_.put(name);
    out_.put(std::string_view(" = "));
  }

  TextBuffer& out_;
  bool hides_roles_;
  bool first_ = true;
  bool bare_ = true;
};

class JsonSink {
 public:
  explicit JsonSink(TextBuffer& out) : out_(out) {}

  void integer(std::string_view name, const Integer& type, uint64_t value) {
    begin(name);
    if (type.is_bool)
      out_.put(std::string_view(value != 0 ? "true" : "false"));
    else if (type.is_signed)
      out_.put_decimal(static_cast<int64_t>(value));
    else
      out_.put_decimal(value);
  }
  void real(std::string_view name, const Float& type, uint64_t bits) {
    begin(name);
    const double value = real_of(type, bits);
    if (std::isfinite(value))
      put_formatted(value, out_);
    else
      out_.put(std::string_view("null"));
  }
  void text(std::string_view name, const Text& type, Bytes bytes) {
    begin(name);
    if (type.encoding == Encoding::Utf8)
      trace::put_json_string(cut_at_nul(bytes), out_);
    else
      trace::put_json_string(to_utf8(bytes, type.encoding), out_);
  }
  void blob(std::string_view name, const Blob&, Bytes bytes) {
    begin(name);
    out_.put('[');
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i > 0) out_.put(',');
      out_.put_decimal(std::to_integer<uint64_t>(bytes[i]));
    }
    out_.put(']');
  }
  void begin_structure(std::string_view name) { open(name, '{'); }
  void end_structure() { close('}'); }
  void begin_array(std::string_view name, const Array&, uint64_t) { open(name, '['); }
  void begin_element(uint64_t index) {
    if (index > 0) out_.put(',');
    bare_ = true;
  }
  void end_array() { close(']'); }

 private:
  void open(std::string_view name, char bracket) {
    begin(name);
    out_.put(bracket);
    first_ = true;
  }
  void close(char bracket) {
    out_.put(bracket);
    first_ = false;
  }
  void begin(std::string_view name) {
    if (std::exchange(bare_, false)) return;
    if (!std::exchange(first_, false)) out_.put(',');
    trace::put_json_string(name, out_);
    out_.put(':');
  }

  TextBuffer& out_;
  bool first_ = true;
  bool bare_ = true;
};

}  // namespace

bool show(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out) {
  TextSink sink(out);
  return walk(type, {}, at, slots, sink);
}

bool show_packet_context(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out) {
  TextSink sink(out, true);
  if (!walk(type, {}, at, slots, sink)) return false;
  if (out.view() == "{ }") out.clear();
  return true;
}

bool show_json(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out) {
  JsonSink sink(out);
  return walk(type, {}, at, slots, sink);
}

}  // namespace strata::ctf
