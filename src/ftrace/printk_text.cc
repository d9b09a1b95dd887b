// SPDX-License-Identifier: Apache-2.0
#include "ftrace/printk_text.h"

#include <algorithm>

#include "ftrace/number_text.h"

namespace strata::ftrace {
namespace {

using trace::Event;
using trace::EventType;

constexpr size_t kMaxArguments = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_print(char c) { return c >= ' ' && c <= '~'; }

void put_string(TextBuffer& out, const Conversion& c, std::string_view text, int32_t star) {
  const int32_t width = std::max(0, c.star == Conversion::Star::Width ? star : c.width);
  const int32_t precision = c.star == Conversion::Star::Precision ? star : c.precision;
  if (precision >= 0) text = text.substr(0, static_cast<size_t>(precision));
  const auto columns = static_cast<size_t>(width);
  const size_t fill = columns > text.size() ? columns - text.size() : 0;
  if (!c.left) out.put(fill, ' ');
  out.put(text);
  if (c.left) out.put(fill, ' ');
}

}  // namespace

std::unique_ptr<PrintkText> PrintkText::of(const EventType& type, const KernelNames& names) {
  if (type.system != "ftrace" || type.name != "bprint") return nullptr;
  std::unique_ptr<PrintkText> text(new PrintkText(type, names));
  if (!text->ip_ || !text->fmt_ || text->buf_ == 0) return nullptr;
  return text;
}

PrintkText::PrintkText(const EventType& type, const KernelNames& names)
    : names_(names),
      ip_(number_field(type, "ip")),
      fmt_(number_field(type, "fmt")),
      fields_(type, names.target) {
  if (const trace::Field* buf = type.find("buf")) buf_ = buf->offset;
}

const PrintkText::Format& PrintkText::format_at(uint64_t address) {
  if (const auto found = formats_.find(address); found != formats_.end()) return found->second;
  if (const auto text = names_.printk_formats.find(address))
    return formats_.emplace(address, take_apart(*text)).first->second;
  // Not kept: any number of addresses may be unknown.
  char hex[16];
  const std::string_view digits(hex, static_cast<size_t>(write_hex(hex, address) - hex));
  unknown_ = take_apart("(NO FORMAT FOUND at " + std::string(digits) + ")\\n");
  return unknown_;
}

PrintkText::Format PrintkText::take_apart(std::string_view text) const {
  return {slots_of(text, names_.target.long_size), pieces_of("%ps: " + std::string(text))};
}

std::vector<PrintkText::Slot> PrintkText::slots_of(std::string_view text, uint8_t long_size) {
  std::vector<Slot> slots;
  for (size_t i = 0; i < text.size() && slots.size() < kMaxArguments; ++i) {
    if (text[i] != '%') continue;
    int longs = 0;
    bool first = true;
    for (bool more = true; more && ++i < text.size();) {
      const auto at = [&](size_t n) { return n < text.size() ? text[n] : '\0'; };
      const auto number = [&](int size) {
        const uint8_t bytes = size == 0 ? 4 : size == 1 ? long_size : 8;
        slots.push_back({Slot::Kind::Number, bytes, first});
        first = false;
      };
      const char c = text[i];
      more = true;
      if (c == 'l') {
        ++longs;
      } else if (c == 'L') {
        longs = 2;
      } else if (c == 'z' || c == 'Z') {
        longs = 1;
      } else if (is_digit(c) || c == '.' || c == '#') {
        continue;
      } else if (c == '*') {
        number(0);
      } else {
        more = false;
        if (c == 's') {
          slots.push_back({Slot::Kind::Text, 0, first});
        } else if (std::string_view("duixXo").find(c) != std::string_view::npos) {
          number(longs);
        } else if (c == 'p') {
          number(1);
          if (!is_letter_or_digit(at(i + 1))) break;
          ++i;
          const bool symbol = std::string_view("sSx").find(text[i]) != std::string_view::npos ||
                              ((text[i] == 'f' || text[i] == 'F') && at(i + 1) != 'w');
          // What such a pointer points to may have been written in its place.
          if (!symbol) slots.back().kind = Slot::Kind::NumberOrText;
        }
      }
    }
  }
  return slots;
}

std::vector<PrintkText::Piece> PrintkText::pieces_of(std::string_view text) {
  std::vector<Piece> pieces(1);
  while (!text.empty() && pieces.size() <= kMaxArguments) {
    Piece& piece = pieces.back();
    char c = text[0];
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      c = text[0] == 'n' ? '\n' : text[0] == 't' ? '\t' : text[0] == 'r' ? '\r' : text[0];
      text.remove_prefix(1);
      piece.literal += c;
      continue;
    }
    if (c != '%') {
      piece.literal += c;
      continue;
    }
    if (text.starts_with('%')) {
      piece.literal += '%';
      text.remove_prefix(1);
      continue;
    }
    const size_t end = text.find_first_not_of("#hlLzZ.-*0123456789");
    if (end == std::string_view::npos) break;
    const std::string_view whole = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    piece.star = whole.find('*') != std::string_view::npos;
    piece.tail = whole.back();
    switch (whole.back()) {
      case 'd':
      case 'u':
      case 'i':
      case 'x':
      case 'X':
      case 'o':
        piece.kind =
            read_conversion(whole, piece.conversion) ? Piece::Kind::Integer : Piece::Kind::Nothing;
        break;
      case 's':
        read_conversion(whole, piece.conversion);
        piece.kind = Piece::Kind::String;
        break;
      case 'p': {
        const char kind = text.empty() ? '\0' : text[0];
        piece.kind = Piece::Kind::Pointer;
        size_t used = 0;
        const auto second_is = [&](std::string_view set) {
          return text.size() > 1 && set.find(text[1]) != std::string_view::npos;
        };
        if (kind == 's' || kind == 'f' || kind == 'S' || kind == 'F') {
          const bool offset = kind == 'S' || kind == 'F';
          piece.kind = offset ? Piece::Kind::SymbolOffset : Piece::Kind::Symbol;
          used = 1;
        } else if (std::string_view("MmUhIi").find(kind) != std::string_view::npos &&
                   kind != '\0') {
          piece.kind = Piece::Kind::Address;
          piece.invalid = "ARG TYPE NOT FIELD BUT 1";
          used = 1;
          if ((kind == 'M' || kind == 'm') && second_is("RF")) used = 2;
          if (kind == 'U' && second_is("LlBb")) used = 2;
          if (kind == 'h' && second_is("CDN")) used = 2;
          if (kind == 'I' || kind == 'i') {
            if (second_is("S")) piece.invalid = "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE 1";
            if (!second_is("46S")) piece.invalid.clear();
            size_t n = 2;
            if (second_is("S")) n = std::min(text.find_first_not_of("pfs", n), text.size());
            const auto skip = [&](std::string_view set) {
              if (n < text.size() && set.find(text[n]) != std::string_view::npos) ++n;
            };
            if (second_is("4S")) skip("hnlb");
            if (second_is("6S")) skip("c");
            used = second_is("46S") ? n : 1;
          }
        }
        piece.tail += text.substr(0, used);
        text.remove_prefix(std::min(used, text.size()));
        break;
      }
      default:
        piece.literal += '>';
        piece.literal += whole.back();
        piece.literal += '<';
        continue;
    }
    pieces.emplace_back();
  }
  return pieces;
}

void PrintkText::read_arguments(const Format& format, Bytes record, bool swap) {
  size_t at = buf_;
  for (const Slot& slot : format.slots) {
    if (slot.first && at >= record.size()) return;
    const std::string_view rest = as_text(record.subspan(std::min(at, record.size())));
    const bool text = slot.kind == Slot::Kind::Text ||
                      (slot.kind == Slot::Kind::NumberOrText && !rest.empty() && is_print(rest[0]));
    Argument argument;
    if (text) {
      argument.is_text = true;
      argument.text = rest.substr(0, std::min(rest.find('\0'), rest.size()));
      at += argument.text.size() + 1;
    } else {
      at = (at + 3) / 4 * 4;
      if (at <= record.size() && record.size() - at >= slot.bytes)
        argument.number = slot.bytes == 4 ? load<uint32_t>(record.data() + at, swap)
                                          : load<uint64_t>(record.data() + at, swap);
      at += slot.bytes;
    }
    arguments_.push_back(argument);
  }
}

void PrintkText::print(const Event& event, TextBuffer& out) {
  if (failed_) return fields_.print(event.record, out);
  const Format& format = format_at(static_cast<uint64_t>(event.integer(fmt_).value_or(0)));
  arguments_.clear();
  arguments_.push_back({false, static_cast<uint64_t>(event.integer(ip_).value_or(0)), {}});
  read_arguments(format, event.record, event.type->order != kNativeOrder);
  const size_t limit = out.size() + TextProgram::kMaxText;
  size_t next = 0;
  for (const Piece& piece : format.pieces) {
    if (out.size() > limit) return;
    out.put(piece.literal);
    if (print_piece(piece, next, out)) continue;
    out.put(piece.tail);
    failed_ = true;
  }
}

bool PrintkText::print_piece(const Piece& piece, size_t& next, TextBuffer& out) const {
  if (piece.kind == Piece::Kind::Nothing) return true;
  int32_t star = -1;
  if (piece.star) {
    if (next >= arguments_.size()) return false;
    star = std::min(static_cast<int32_t>(arguments_[next++].number),
                    static_cast<int32_t>(TextProgram::kMaxText));
  }
  if (next >= arguments_.size()) return false;
  const Argument& argument = arguments_[next++];
  switch (piece.kind) {
    case Piece::Kind::Integer:
      out.advance_to(write_integer(out.room(integer_room(piece.conversion, star)), piece.conversion,
                                   argument.number, star));
      break;
    case Piece::Kind::String:
      put_string(out, piece.conversion, argument.text, star);
      break;
    default:
      print_pointer(piece, argument, out);
  }
  return true;
}

void PrintkText::print_pointer(const Piece& piece, const Argument& argument,
                               TextBuffer& out) const {
  if (argument.is_text) return out.put(argument.text);
  switch (piece.kind) {
    case Piece::Kind::Symbol:
    case Piece::Kind::SymbolOffset: {
      put_symbol(out, names_, argument.number, "0x");
      const auto found = names_.symbols.find(argument.number);
      if (!found || piece.kind == Piece::Kind::Symbol) return;
      out.put("+0x");
      return out.put_hex(argument.number - found->start);
    }
    case Piece::Kind::Address:
      return out.put(piece.invalid);
    default:
      if (argument.number == 0) return out.put("(nil)");
      out.put("0x");
      out.put_hex(argument.number);
  }
}

}  // namespace strata::ftrace
