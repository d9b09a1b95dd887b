// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/metadata_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "format/ctf/uuid.h"

namespace strata::ctf {
namespace {

constexpr std::string_view kTypes = R"(
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
)";

constexpr std::string_view kPacketHeader = R"(
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
)";

constexpr std::string_view kClockTypes = R"(
typealias integer {{ size = 27; align = 1; signed = false; map = clock.{0}.value; }} := uint27_clock_t;
typealias integer {{ size = 32; align = 8; signed = false; map = clock.{0}.value; }} := uint32_clock_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.{0}.value; }} := uint64_clock_t;
)";

// An id and part of a time, or, where these do not do, all of both.
constexpr std::string_view kEventHeader = R"(
struct event_header_{} {{
	enum : {} {{ compact = 0 ... {}, extended = {} }} id;
	variant <id> {{
		struct {{
			{} timestamp;
		}} compact;
		struct {{
			uint32_t id;
			uint64_clock_t timestamp;
		}} extended;
	}} v;
}} align(8);
)";

std::string text_of(const Uuid& uuid) { return uuid_text(as_text(std::as_bytes(std::span(uuid)))); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      out += ' ';
    else
      out += c;
  }
  return out + '"';
}

// A name as an identifier: what is no letter, digit or underscore becomes an underscore.
std::string identifier(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool fine =
        c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!fine) c = '_';
  }
  return out;
}

std::string integer_text(const NewField& field, bool characters) {
  return fmt::format("integer {{ size = {}; align = 8; signed = {}; encoding = {}; base = {};{} }}",
                     field.bits, field.is_signed ? 1 : 0, characters ? "UTF8" : "none", field.base,
                     field.order == ByteOrder::Big ? " byte_order = be;" : "");
}

std::string float_text(const NewField& field) {
  return fmt::format("floating_point {{ exp_dig = {}; mant_dig = {}; align = 8;{} }}",
                     field.bits == 32 ? 8 : 11, field.bits == 32 ? 24 : 53,
                     field.order == ByteOrder::Big ? " byte_order = be;" : "");
}

std::string enum_text(const NewField& field) {
  std::string text = "enum : " + integer_text(field, false) + " {";
  for (const NewLabel& label : field.labels) {
    text += fmt::format(" {} = {}", quoted(label.name), label.first);
    if (label.last != label.first) text += fmt::format(" ... {}", label.last);
    text += ',';
  }
  return text + " }";
}

// "integer { ... } _name;". Names begin with an underscore, which readers take off again, so that
// none is a keyword.
std::string field_text(const NewField& field, const std::string& name) {
  using enum NewFieldKind;
  switch (field.kind) {
    case Integer:
      return integer_text(field, false) + ' ' + name + ';';
    case Enum:
      return enum_text(field) + ' ' + name + ';';
    case Float:
      return float_text(field) + ' ' + name + ';';
    case String:
      return "string " + name + ';';
    case Text:
      return fmt::format("{} {}[{}];", integer_text(field, true), name, field.length);
    case Array:
      return fmt::format("{} {}[{}];", integer_text(field, false), name, field.length);
    case Sequence:
    case TextSequence:
    case FloatSequence:
      return fmt::format("uint{0}_t _{1}_length; {2} {1}[ _{1}_length ];", field.count_bits, name,
                         field.kind == FloatSequence
                             ? float_text(field)
                             : integer_text(field, field.kind == TextSequence));
  }
  return {};
}

std::string struct_text(const std::vector<NewField>& fields, std::string_view indent) {
  std::string text = "struct {\n";
  std::set<std::string> names;
  for (const NewField& field : fields) {
    std::string name = "_" + identifier(field.name);
    while (!names.insert(name).second) name += '_';
    text += fmt::format("{}\t{}\n", indent, field_text(field, name));
  }
  return text + std::string(indent) + "}";
}

}  // namespace

NewField integer_field(std::string name, unsigned bits, bool is_signed, unsigned base) {
  NewField field;
  field.name = std::move(name);
  field.bits = static_cast<uint8_t>(bits);
  field.is_signed = is_signed;
  field.base = static_cast<uint8_t>(base);
  return field;
}

NewField float_field(std::string name, unsigned bits) {
  NewField field = integer_field(std::move(name), bits, true);
  field.kind = NewFieldKind::Float;
  return field;
}

NewField string_field(std::string name) {
  NewField field = integer_field(std::move(name), 8, false);
  field.kind = NewFieldKind::String;
  return field;
}

NewField text_field(std::string name, uint32_t length) {
  NewField field = integer_field(std::move(name), 8, true);
  field.kind = NewFieldKind::Text;
  field.length = length;
  return field;
}

NewField array_field(NewField element, uint32_t length) {
  element.kind = NewFieldKind::Array;
  element.length = length;
  return element;
}

NewField sequence_field(NewField element, unsigned count_bits) {
  element.kind =
      element.kind == NewFieldKind::Float ? NewFieldKind::FloatSequence : NewFieldKind::Sequence;
  element.count_bits = static_cast<uint8_t>(count_bits);
  return element;
}

Status check_fields(const std::vector<NewField>& fields) {
  const auto is_size = [](unsigned bits) {
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
  };
  for (const NewField& field : fields) {
    const auto fail = [&](std::string_view cause) {
      return Error{"", std::nullopt, fmt::format("the field '{}' {}", field.name, cause)};
    };
    if (field.name.empty()) return fail("has no name");
    if (!is_size(field.bits) || !is_size(field.count_bits)) return fail("has an odd size");
    const bool is_float =
        field.kind == NewFieldKind::Float || field.kind == NewFieldKind::FloatSequence;
    if (is_float && field.bits < 32) return fail("is no float");
    if (field.kind == NewFieldKind::Enum && field.labels.empty()) return fail("has no labels");
    const bool is_text =
        field.kind == NewFieldKind::Text || field.kind == NewFieldKind::TextSequence;
    if (is_text && field.bits != 8) return fail("has characters of odd size");
  }
  return {};
}

std::string trace_text(const NewTrace& trace) {
  const NewClock& clock = trace.clock;
  const std::string clock_name = identifier(clock.name);
  std::string text = "/* CTF 1.8 */\n";
  text += kTypes;
  text += fmt::format(
      "\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = le;{}}};\n",
      text_of(trace.uuid), kPacketHeader);
  text += "\nenv {\n";
  for (const auto& [key, value] : trace.environment) {
    if (const int64_t* number = std::get_if<int64_t>(&value))
      text += fmt::format("\t{} = {};\n", identifier(key), *number);
    else
      text += fmt::format("\t{} = {};\n", identifier(key), quoted(std::get<std::string>(value)));
  }
  text += fmt::format("}};\n\nclock {{\n\tname = {};\n", clock_name);
  if (clock.uuid != Uuid{}) text += fmt::format("\tuuid = \"{}\";\n", text_of(clock.uuid));
  text += fmt::format("\tdescription = {};\n\tfreq = {};\n", quoted(clock.description),
                      clock.frequency);
  if (clock.offset_seconds != 0) text += fmt::format("\toffset_s = {};\n", clock.offset_seconds);
  text += fmt::format("\toffset = {};\n", clock.offset_cycles);
  if (clock.since_epoch) text += "\tabsolute = true;\n";
  text += "};\n";
  text += fmt::format(kClockTypes, clock_name);
  text += fmt::format(kEventHeader, "compact", "uint5_t", 30, 31, "uint27_clock_t");
  text += fmt::format(kEventHeader, "large", "uint16_t", 65534, 65535, "uint32_clock_t");
  return text;
}

std::string stream_class_text(uint32_t id, const NewStreamClass& stream) {
  std::string context = struct_text(stream.packet_context, "\t");
  // What every packet tells: roles that readers know by these names, hence no underscores.
  context.insert(
      std::string_view("struct {\n").size(),
      "\t\tuint64_clock_t timestamp_begin;\n"
      "\t\tuint64_clock_t timestamp_end;\n"
      "\t\tuint64_t content_size;\n"
      "\t\tuint64_t packet_size;\n"
      "\t\tuint64_t packet_seq_num;\n"
      "\t\tuint64_t events_discarded;\n" +
          std::string(stream.per_cpu ? "\t\tuint32_t cpu_id;\n" : "\t\tuint32_t _ring;\n"));
  std::string text = fmt::format(
      "\nstream {{\n\tid = {};\n\tevent.header := struct {};\n\tpacket.context := {};\n", id,
      stream.header == HeaderKind::Compact ? "event_header_compact" : "event_header_large",
      context);
  if (!stream.event_context.empty())
    text += fmt::format("\tevent.context := {};\n", struct_text(stream.event_context, "\t"));
  return text + "};\n";
}

std::string event_type_text(uint32_t id, uint32_t stream_class, const NewEventType& type) {
  std::string text = fmt::format("\nevent {{\n\tname = {};\n\tid = {};\n\tstream_id = {};\n",
                                 quoted(type.name), id, stream_class);
  if (type.log_level >= 0) text += fmt::format("\tloglevel = {};\n", type.log_level);
  return text + fmt::format("\tfields := {};\n}};\n", struct_text(type.fields, "\t"));
}

}  // namespace strata::ctf
