// SPDX-License-Identifier: Apache-2.0
#include "ftrace/text_run.h"

#include <algorithm>

#include "ftrace/address_text.h"
#include "ftrace/number_text.h"

namespace strata::ftrace {
namespace {

constexpr uint16_t kInet = 2;  // AF_INET and AF_INET6, of Linux
constexpr uint16_t kInet6 = 10;
constexpr size_t kInetSize = 16;  // of their socket addresses
constexpr size_t kInet6Size = 28;

}  // namespace

TextRun::Located TextRun::locate(const Instruction& i) const {
  const unsigned bytes = i.small & ~kRelative;
  if (i.offset + uint64_t{bytes} > size_) return {0, 0};
  const uint64_t locator = number_at(i.offset, bytes);
  auto offset = static_cast<uint32_t>(locator & 0xffff);
  // The oldest kernels' locators have no length.
  uint64_t size = bytes == 2 ? size_ - std::min<uint64_t>(offset, size_) : locator >> 16 & 0xffff;
  if (i.small & kRelative) offset += i.offset + bytes;
  if (offset > size_) return {0, 0};
  if (offset + size > size_) size = 0;
  return {offset, static_cast<uint32_t>(size)};
}

uint64_t TextRun::number_at(uint64_t offset, unsigned bytes) const {
  if (offset > size_ || size_ - offset < bytes) return 0;
  const bool swap = names_.target.order != kNativeOrder;
  switch (bytes) {
    case 1:
      return load<uint8_t>(data_ + offset, false);
    case 2:
      return load<uint16_t>(data_ + offset, swap);
    case 4:
      return load<uint32_t>(data_ + offset, swap);
    case 8:
      return load<uint64_t>(data_ + offset, swap);
    default:
      return 0;
  }
}

std::string_view TextRun::text_from(uint64_t offset, uint64_t size) const {
  if (offset >= size_) return "";
  const auto* begin = reinterpret_cast<const char*>(data_ + offset);
  return {begin, strnlen(begin, std::min(size, size_ - offset))};
}

char* TextRun::room(char* text, size_t extra) {
  out_.advance_to(text);
  if (out_.size() > limit_) full_ = true;
  return out_.room(extra + program_.bound_);
}

char* TextRun::put(char* text, std::string_view added) {
  text = room(text, added.size());
  std::memcpy(text, added.data(), added.size());
  return text + added.size();
}

int32_t TextRun::pop_star(const Conversion& c, uint64_t*& stack) const {
  if (c.star == Conversion::Star::None) return -1;
  return std::min(static_cast<int32_t>(*--stack), static_cast<int32_t>(TextProgram::kMaxText));
}

char* TextRun::integer(char* text, const Conversion& c, uint64_t value, uint64_t*& stack) {
  const int32_t star = pop_star(c, stack);
  return write_integer(room(text, integer_room(c, star)), c, value, star);
}

char* TextRun::string(char* text, const Conversion& c, std::string_view string, int32_t star) {
  const auto width =
      static_cast<size_t>(std::max(0, c.star == Conversion::Star::Width ? star : c.width));
  const int32_t precision = c.star == Conversion::Star::Precision ? star : c.precision;
  if (precision >= 0) string = string.substr(0, static_cast<size_t>(precision));
  const size_t fill = width > string.size() ? width - string.size() : 0;
  text = room(text, string.size() + fill);
  if (!c.left) text = std::fill_n(text, fill, ' ');
  std::memcpy(text, string.data(), string.size());
  text += string.size();
  return c.left ? std::fill_n(text, fill, ' ') : text;
}

char* TextRun::flags(char* text, const Instruction& i, uint64_t*& stack) {
  const ChoiceTable& table = program_.choices_[i.argument];
  const Conversion& c = program_.conversions_[i.offset];
  auto rest = static_cast<int64_t>(*--stack);
  const int32_t star = pop_star(c, stack);
  bool any = false;
  for (const ChoiceTable::Choice& choice : table.choices) {
    if (rest == 0 && choice.value < 0) return string(text, c, choice.name, star);
    if (choice.value <= 0 || (rest & choice.value) != choice.value) continue;
    if (any) text = put(text, table.delimiter);
    text = string(text, c, choice.name, star);
    any = true;
    rest &= ~choice.value;
  }
  if (rest == 0) return text;
  if (any) text = put(text, table.delimiter);
  text = put(text, "0x");
  return write_hex(room(text, 16), static_cast<uint64_t>(rest));
}

char* TextRun::symbolic(char* text, const Instruction& i, uint64_t*& stack) {
  const ChoiceTable& table = program_.choices_[i.argument];
  const Conversion& c = program_.conversions_[i.offset];
  const auto value = static_cast<int64_t>(*--stack);
  const int32_t star = pop_star(c, stack);
  const auto found =
      std::find_if(table.choices.begin(), table.choices.end(),
                   [&](const ChoiceTable::Choice& choice) { return choice.value == value; });
  if (found != table.choices.end()) return string(text, c, found->name, star);
  text = put(text, "0x");
  return write_hex(room(text, 16), static_cast<uint64_t>(value));
}

char* TextRun::symbol(char* text, Op op, uint64_t address) {
  const auto found = names_.symbols.find(address);
  if (!found) {
    if (op == Op::SymbolPrefix) return text;
    text = put(text, "0x");
    Conversion c{.letter = 'x', .bytes = 8, .zeros = true, .width = op == Op::SymbolSlash ? 8 : 0};
    return write_integer(room(text, integer_room(c, -1)), c, address, -1);
  }
  if (op == Op::SymbolPrefix) text = put(text, "(");
  text = put(text, found->name);
  switch (op) {
    case Op::SymbolOffset:
      return write_hex(room(put(text, "+0x"), 16), address - found->start);
    case Op::SymbolPrefix:
      text = put(text, "+0x");
      text = write_hex(room(text, 16), static_cast<uint32_t>(address - found->start));
      return put(text, ") ");
    case Op::SymbolSlash:
      text = put(text, "/0x");
      return write_hex(room(text, 16), found->start - address);
    default:
      return text;
  }
}

char* TextRun::hex_bytes(char* text, uint64_t offset, uint64_t count, char separator) {
  if (offset >= size_) return text;
  count = std::min(count & UINT32_MAX, size_ - offset);
  text = room(text, 3 * count);
  for (uint64_t n = 0; n < count; ++n) {
    if (n > 0 && separator != '\0') *text++ = separator;
    text = write_hex_byte(text, static_cast<uint8_t>(data_[offset + n]));
  }
  return text;
}

char* TextRun::numbers(char* text, uint64_t offset, uint64_t count, uint64_t bytes) {
  count &= UINT32_MAX;
  auto size = static_cast<int32_t>(bytes);
  for (uint64_t n = 0; n < count && offset < size_ && !full_; ++n) {
    text = room(text, 48);
    if (n > 0) *text++ = ' ';
    const bool known = size == 1 || size == 2 || size == 4 || size == 8;
    if (!known) {
      text = put(text, "BAD SIZE:" + std::to_string(size) + " 0x");
      text = write_hex(room(text, 2), static_cast<uint8_t>(data_[offset]));
      size = 1;
      ++offset;
      continue;
    }
    if (size_ - offset < static_cast<uint64_t>(size)) break;
    // In this machine's order whatever the record's: nobody turns these round.
    uint64_t value = 0;
    switch (size) {
      case 1:
        value = load<uint8_t>(data_ + offset, false);
        break;
      case 2:
        value = load<uint16_t>(data_ + offset, false);
        break;
      case 4:
        value = load<uint32_t>(data_ + offset, false);
        break;
      default:
        value = load<uint64_t>(data_ + offset, false);
    }
    text = write_decimal(text, value);
    offset += static_cast<uint64_t>(size);
  }
  return text;
}

char* TextRun::bitmask(char* text, const Instruction& i, uint64_t*& stack) {
  const Conversion& c = program_.conversions_[i.argument];
  const int32_t star = pop_star(c, stack);
  const Located at = locate(i);
  const bool big = names_.target.order == ByteOrder::Big;
  std::string digits;
  for (uint32_t n = at.size; n-- > 0;) {
    char pair[2];
    write_hex_byte(pair, static_cast<uint8_t>(data_[at.offset + (big ? at.size - 1 - n : n)]));
    digits.append(pair, 2);
    if (n > 0 && n % 4 == 0) digits += ',';
  }
  return string(text, c, digits, star);
}

char* TextRun::cpu_list(char* text, const Instruction& i, uint64_t*& stack) {
  const Conversion& c = program_.conversions_[i.argument];
  const int32_t star = pop_star(c, stack);
  const Located at = locate(i);
  const bool big = names_.target.order == ByteOrder::Big;
  const auto is_set = [&](uint32_t bit) {
    const uint32_t byte = big ? at.size - 1 - bit / 8 : bit / 8;
    return (static_cast<unsigned>(data_[at.offset + byte]) >> bit % 8 & 1) != 0;
  };
  std::string list;
  for (uint32_t bit = 0; bit < at.size * 8; ++bit) {
    if (!is_set(bit)) continue;
    const uint32_t first = bit;
    while (bit + 1 < at.size * 8 && is_set(bit + 1)) ++bit;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (bit > first) list += "-" + std::to_string(bit);
  }
  return string(text, c, list, star);
}

char* TextRun::socket_address(char* text, Located at, uint32_t style) {
  if (at.offset + uint64_t{2} > size_) return text;
  const auto size = std::min<size_t>(at.size, size_ - at.offset);
  const auto* address = reinterpret_cast<const uint8_t*>(data_ + at.offset);
  const auto family = load<uint16_t>(data_ + at.offset, false);
  const bool with_port = (style & kWithPort) != 0;
  const bool padded = (style & kPaddedOrPlain) != 0;
  if (family != kInet && family != kInet6) return text;
  if (size < (family == kInet ? kInetSize : kInet6Size))
    return put(text, family == kInet ? "INVALIDIPv4" : "INVALIDIPv6");

  text = room(text, kIpv6Room + 16);
  if (family == kInet) {
    text = write_ipv4(text, address + 4, padded, (style & kBackwards) != 0);
  } else {
    if (with_port) *text++ = '[';
    text = (style & kCompressed) ? write_ipv6_compressed(text, address + 8)
                                 : write_ipv6(text, address + 8, !padded);
    if (with_port) *text++ = ']';
  }
  if (!with_port) return text;
  *text++ = ':';
  return write_decimal(text, static_cast<uint64_t>(address[2] << 8 | address[3]));
}

char* TextRun::step(const Instruction& i, char* text, uint64_t*& stack) {
  const auto here = [&] { return reinterpret_cast<const uint8_t*>(data_ + i.offset); };
  const auto style = [&](AddressStyle bit) { return (i.argument & bit) != 0; };
  switch (i.op) {
    case Op::TextToEnd:
      return put(text, text_from(i.offset, size_));
    case Op::LocatedText: {
      const Located at = locate(i);
      return at.size == 0 ? text : put(text, text_from(at.offset, size_));
    }
    case Op::LoadSwapped:
      *stack++ = number_at(i.offset, i.small);
      return text;
    case Op::Element:
      stack[-1] = number_at(i.offset + static_cast<uint32_t>(stack[-1] * i.small), i.small);
      return text;
    case Op::LocatedElement:
      stack[-1] =
          number_at(uint64_t{locate(i).offset} + static_cast<uint32_t>(stack[-1]), i.argument);
      return text;
    case Op::LocatedLength:
      *stack++ = locate(i).size;
      return text;
    case Op::LocatedOffset:
      *stack++ = locate(i).offset;
      return text;
    case Op::LocatedShort: {
      const uint32_t offset = locate(i).offset;
      *stack++ = offset + uint64_t{2} > size_
                     ? 0
                     : load<uint16_t>(data_ + offset, kNativeOrder == ByteOrder::Big);
      return text;
    }
    case Op::Integer: {
      const uint64_t value = *--stack;
      return integer(text, program_.conversions_[i.argument], value, stack);
    }
    case Op::Pointer: {
      const uint64_t value = *--stack;
      return value == 0 ? put(text, "(nil)") : write_hex(room(put(text, "0x"), 16), value);
    }
    case Op::Symbol:
    case Op::SymbolOffset:
    case Op::SymbolPrefix:
    case Op::SymbolSlash:
      return symbol(text, i.op, *--stack);
    case Op::Device: {
      const auto device = static_cast<uint32_t>(*--stack);
      text = write_decimal(room(text, 48), uint64_t{device >> 20});
      *text++ = ':';
      return write_decimal(text, uint64_t{device & 0xfffff});
    }
    case Op::Flags:
    case Op::ShortFlags:
      return flags(text, i, stack);
    case Op::Symbolic:
    case Op::ShortSymbolic:
      return symbolic(text, i, stack);
    case Op::String: {
      const Conversion& c = program_.conversions_[i.argument & 0xffff];
      const int32_t star = pop_star(c, stack);
      return string(text, c, text_from(i.offset, i.argument >> 16), star);
    }
    case Op::StringToEnd: {
      const Conversion& c = program_.conversions_[i.argument];
      const int32_t star = pop_star(c, stack);
      return string(text, c, text_from(i.offset, size_), star);
    }
    case Op::LocatedString: {
      const Conversion& c = program_.conversions_[i.argument];
      const int32_t star = pop_star(c, stack);
      const Located at = locate(i);
      return at.size == 0 ? text : string(text, c, text_from(at.offset, size_), star);
    }
    case Op::KernelString: {
      const uint64_t address = i.small == 8 ? load<uint64_t>(data_ + i.offset, false)
                                            : load<uint32_t>(data_ + i.offset, false);
      const auto found = names_.printk_formats.find(address);
      return found ? put(text, *found) : write_hex(room(text, 16), address);
    }
    case Op::ConstantString: {
      const Conversion& c = program_.conversions_[i.argument];
      const int32_t star = pop_star(c, stack);
      return string(text, c, program_.strings_[i.offset], star);
    }
    case Op::HexBytes:
      return hex_bytes(text, i.offset, *--stack, i.argument ? ' ' : '\0');
    case Op::LocatedHexBytes:
      return hex_bytes(text, locate(i).offset, *--stack, i.argument ? ' ' : '\0');
    case Op::Numbers:
      stack -= 2;
      return numbers(text, i.offset, stack[0], stack[1]);
    case Op::LocatedNumbers:
      stack -= 2;
      return numbers(text, locate(i).offset, stack[0], stack[1]);
    case Op::LocatedRaw: {
      const Located at = locate(i);
      const auto count = static_cast<int32_t>(*--stack);
      if (count < 1) return text;
      return hex_bytes(text, at.offset, std::min(at.size, static_cast<uint32_t>(count)),
                       static_cast<char>(i.argument));
    }
    case Op::Bitmask:
      return bitmask(text, i, stack);
    case Op::CpuList:
      return cpu_list(text, i, stack);
    case Op::Mac:
      return write_mac(text, here(), static_cast<char>(i.small), i.argument != 0);
    case Op::Ipv4:
      return write_ipv4(text, here(), style(kPaddedOrPlain), style(kBackwards));
    case Op::Ipv6:
      return style(kCompressed) ? write_ipv6_compressed(text, here())
                                : write_ipv6(text, here(), !style(kPaddedOrPlain));
    case Op::SocketAddress:
      return socket_address(text, {i.offset, i.argument >> 16}, i.argument & 0xffff);
    case Op::LocatedSocketAddress:
      return socket_address(text, locate(i), i.argument & 0xffff);
    case Op::Uuid:
      return write_uuid(text, here(), static_cast<char>(i.small));
    default:
      return text;
  }
}

}  // namespace strata::ftrace
