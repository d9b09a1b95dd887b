// SPDX-License-Identifier: Apache-2.0
#include "ftrace/pointer_compiler.h"

#include <algorithm>
#include <string>

#include "ftrace/address_text.h"

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;
using trace::Field;

// libtraceevent's own number for a kind of argument, which it shows where it cannot show more.
int kind_number(Kind kind) {
  switch (kind) {
    case Kind::Nothing:
      return 0;
    case Kind::Atom:
      return 1;
    case Kind::Field:
      return 2;
    case Kind::Flags:
      return 3;
    case Kind::Symbolic:
      return 4;
    case Kind::Hex:
      return 5;
    case Kind::Array:
      return 6;
    case Kind::Cast:
      return 7;
    case Kind::DynamicString:
      return 8;
    case Kind::DynamicArray:
      return 10;
    case Kind::Operation:
      return 11;
    case Kind::Function:
      return 12;
    case Kind::Bitmask:
      return 13;
    case Kind::DynamicArrayLength:
      return 14;
    case Kind::HexString:
      return 15;
    case Kind::CpuList:
      return 16;
  }
  return 0;
}

}  // namespace

void PointerCompiler::pointer(std::string_view& rest, const Expression& argument,
                              const Expression* star) {
  const auto at = [&](size_t n) { return n < rest.size() ? rest[n] : '\0'; };
  const auto take = [&](size_t count) { rest.remove_prefix(std::min(count, rest.size())); };
  const auto one_of = [](char c, std::string_view set) {
    return c != '\0' && set.find(c) != std::string_view::npos;
  };
  switch (at(0)) {
    case 'F':
    case 'S':
    case 'f':
    case 's':
      numbers_.number(argument);
      code_.print({one_of(at(0), "FS") ? Op::SymbolOffset : Op::Symbol}, 1, 0);
      return take(1);
    case 'M':
    case 'm': {
      const bool backwards = at(1) == 'R';
      const char separator = at(0) == 'm' ? '\0' : at(1) == 'F' ? '-' : ':';
      if (const Field* field = address_field(argument, 6, "INVALIDMAC"))
        code_.print({Op::Mac, field->offset, backwards, static_cast<uint8_t>(separator)}, 0,
                    kMacRoom);
      return take(one_of(at(1), "RF") ? 2 : 1);
    }
    case 'I':
    case 'i':
      return internet(rest, argument);
    case 'U': {
      const bool styled = one_of(at(1), "LlBb");
      const auto style = static_cast<uint8_t>(styled ? at(1) : 'b');
      if (const Field* field = address_field(argument, 16, "INVALIDUUID"))
        code_.print({Op::Uuid, field->offset, 0, style}, 0, kUuidRoom);
      return take(styled ? 2 : 1);
    }
    case 'h': {
      const char separator = at(1) == 'C' ? ':' : at(1) == 'D' ? '-' : at(1) == 'N' ? '\0' : ' ';
      take(separator == ' ' ? 1 : 2);
      if (argument.kind != Kind::DynamicArray) return not_a_field(argument);
      if (star)
        numbers_.number(*star);
      else
        code_.constant(1);
      return code_.print({Op::LocatedRaw, argument.field->offset, static_cast<uint8_t>(separator),
                          locator_of(*argument.field)},
                         1, 0);
    }
    default:
      numbers_.number(argument);
      code_.print({Op::Pointer}, 1, 0);
  }
}

void PointerCompiler::not_a_field(const Expression& e) {
  code_.literal("ARG TYPE NOT FIELD BUT " + std::to_string(kind_number(e.kind)));
}

const Field* PointerCompiler::address_field(const Expression& argument, uint32_t size,
                                            std::string_view invalid) {
  const Expression& e = uncast(argument);
  if (e.kind != Kind::Field) {
    not_a_field(e);
    return nullptr;
  }
  if (!e.field) return nullptr;
  if (e.field->size != size) {
    code_.literal(invalid);
    return nullptr;
  }
  code_.need(uint64_t{e.field->offset} + size);
  return e.field;
}

// %pI4 %pi6 %pI6c %pISpc ...; `rest` begins with the letter.
void PointerCompiler::internet(std::string_view& rest, const Expression& argument) {
  const bool lower = rest[0] == 'i';
  size_t at = 1;
  const auto next = [&](std::string_view set) {
    if (at >= rest.size() || set.find(rest[at]) == std::string_view::npos) return '\0';
    return rest[at++];
  };
  const char version = next("46S");
  uint32_t style = lower ? uint32_t{kPaddedOrPlain} : 0;
  const size_t behind_version = at;
  if (version == 'S')
    while (next("pfs") != '\0') {
    }
  if (version == 'S' || version == '4') next("hnlb");
  if (version == 'S' || version == '6') next("c");
  // What counts is read again: not all that is passed over does.
  std::string_view suffix = rest.substr(behind_version, at - behind_version);
  rest.remove_prefix(at);
  const auto take = [&](std::string_view set) {
    if (suffix.empty() || set.find(suffix[0]) == std::string_view::npos) return '\0';
    const char c = suffix[0];
    suffix.remove_prefix(1);
    return c;
  };
  if (version == 'S' && !lower && take("p") != '\0') style |= kWithPort;
  if ((version == 'S' || version == '6') && !lower && take("c") != '\0') style |= kCompressed;
  if (version == 'S' || version == '4') {
    const char order = take("hl");
    if (order == 'l' || (order == 'h' && names_.target.order == ByteOrder::Little))
      style |= kBackwards;
  }
  if (version == '4') {
    if (const Field* field = address_field(argument, 4, "INVALIDIPv4"))
      code_.print({Op::Ipv4, field->offset, style}, 0, kIpv4Room);
  } else if (version == '6') {
    if (const Field* field = address_field(argument, 16, "INVALIDIPv6"))
      code_.print({Op::Ipv6, field->offset, style}, 0, kIpv6Room);
  } else if (version == 'S') {
    socket_address(uncast(argument), style);
  }
}

void PointerCompiler::socket_address(const Expression& e, uint32_t style) {
  if (e.kind == Kind::Field && e.field) {
    const uint32_t size = std::min<uint32_t>(e.field->size, UINT16_MAX);
    code_.print({Op::SocketAddress, e.field->offset, size << 16 | style}, 0, 0);
  } else if (e.kind == Kind::DynamicArray) {
    code_.print({Op::LocatedSocketAddress, e.field->offset, style, locator_of(*e.field)}, 0, 0);
  } else if (e.kind != Kind::Field) {
    code_.literal("ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE " +
                  std::to_string(kind_number(e.kind)));
  }
}

}  // namespace strata::ftrace
