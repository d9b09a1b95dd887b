// SPDX-License-Identifier: Apache-2.0
#include "ftrace/print_format_compiler.h"

#include <algorithm>
#include <optional>

#include "ftrace/number_compiler.h"
#include "ftrace/number_text.h"
#include "ftrace/pointer_compiler.h"
#include "ftrace/string_compiler.h"
#include "ftrace/text_assembler.h"

namespace strata::ftrace {
namespace {

class Compiler {
 public:
  Compiler(const PrintFormat& format, const trace::EventType& type, const KernelNames& names)
      : format_(format),
        type_(type),
        swap_(type.order != kNativeOrder),
        numbers_(code_, type, names),
        strings_(code_, numbers_, names),
        pointers_(code_, numbers_, names) {}

  Result<TextProgram> compile() {
    std::string_view rest = format_.format;
    while (!rest.empty() && !refused_) {
      if (rest[0] == '%' && !rest.substr(1).starts_with('%'))
        conversion(rest);
      else
        literal(rest);
    }
    if (refused_ || numbers_.refused() || strings_.refused())
      return failure("has conversions and arguments that do not match");
    if (auto program = code_.finish()) return std::move(*program);
    return failure("is too large");
  }

 private:
  Error failure(std::string_view why) const {
    return Error{"", std::nullopt, "the print format of " + type_.name + " " + std::string(why)};
  }

  // Up to the next conversion, escapes undone.
  void literal(std::string_view& rest) {
    std::string text;
    while (!rest.empty()) {
      char c = rest[0];
      if (c == '%' && !rest.substr(1).starts_with('%')) break;
      if ((c == '%' || c == '\\') && rest.size() > 1) {
        const bool escape = c == '\\';
        c = rest[1];
        if (escape) c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        rest.remove_prefix(1);
      }
      text += c;
      rest.remove_prefix(1);
    }
    code_.literal(text);
  }

  const Expression* take_argument() {
    if (next_argument_ < format_.arguments.size()) return format_.arguments[next_argument_++];
    refused_ = true;
    return nullptr;
  }

  // `rest` begins with the '%'.
  void conversion(std::string_view& rest) {
    const Expression* star = nullptr;
    size_t end = 1;
    for (; end < rest.size(); ++end) {
      const char c = rest[end];
      if (c == '*') {
        if (star) refused_ = true;
        star = take_argument();
        if (refused_) return;
        continue;
      }
      if ((c >= '0' && c <= '9') || std::string_view("#hlLzZ.-").find(c) != std::string_view::npos)
        continue;
      break;
    }
    if (end == rest.size()) {  // it ends before its letter
      rest = {};
      return;
    }
    const std::string_view whole = rest.substr(1, end);
    rest.remove_prefix(end + 1);
    switch (whole.back()) {
      case 'd':
      case 'u':
      case 'i':
      case 'x':
      case 'X':
      case 'o':
        integer(whole, star);
        return;
      case 's':
        string(whole, star);
        return;
      case 'p':
        if (const Expression* argument = take_argument()) pointers_.pointer(rest, *argument, star);
        return;
      default:
        code_.literal(">");
        code_.literal(whole.substr(whole.size() - 1));
        code_.literal("<");
    }
  }

  static Op sized(Op for_one_byte, uint32_t bytes) {
    const int step = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    return static_cast<Op>(static_cast<int>(for_one_byte) + step);
  }

  void integer(std::string_view whole, const Expression* star) {
    Conversion c;
    const Expression* argument = take_argument();
    if (!argument) return;
    if (!read_conversion(whole, c)) {
      refused_ = true;
      return;
    }
    if (!star && !swap_ && plain_integer(c, *argument)) return;
    if (star) numbers_.number(*star);
    numbers_.number(*argument);
    code_.print({Op::Integer, 0, code_.add(c)}, star ? 2 : 1, 0);
  }

  // The usual conversions of a field in place have instructions of their own.
  bool plain_integer(const Conversion& c, const Expression& argument) {
    const auto from = numbers_.loaded(argument);
    if (!from || kNativeOrder != ByteOrder::Little) return false;
    const bool hex = c.letter == 'x' && !c.left && !c.alternate && c.precision < 0 &&
                     (c.width == 0 || (c.zeros && c.width <= 16));
    const bool decimal = (c.letter == 'd' || c.letter == 'u') && c.precision < 0 &&
                         (c.width == 0 || (c.zeros && !c.left && c.width <= 16));
    if (!hex && !decimal) return false;
    const uint32_t bytes = std::min<uint32_t>(from->bytes, c.bytes);
    code_.need(uint64_t{from->offset} + from->size);
    if (hex) {
      const auto digits = static_cast<uint8_t>(std::max(1, c.width));
      code_.print({sized(Op::Hex8, bytes), from->offset, 0, digits}, 0, 16);
    } else {
      // A field that is narrower than the conversion is never negative: nobody extends its sign.
      const bool is_signed = c.letter == 'd' && from->bytes >= c.bytes;
      if (c.width > 0) {
        code_.print({is_signed ? Op::PaddedSigned : Op::Padded, from->offset, bytes,
                     static_cast<uint8_t>(c.width)},
                    0, 24);
        return true;
      }
      code_.print({sized(is_signed ? Op::Signed8 : Op::Unsigned8, bytes), from->offset}, 0, 20);
    }
    return true;
  }

  void string(std::string_view whole, const Expression* star) {
    Conversion c;
    const Expression* argument = take_argument();
    if (!argument) return;
    if (!read_conversion(whole, c)) {
      refused_ = true;
      return;
    }
    c.bytes = 4;
    if (star) numbers_.number(*star);
    strings_.string(*argument, c, star ? 1 : 0);
  }

  const PrintFormat& format_;
  const trace::EventType& type_;
  const bool swap_;
  TextAssembler code_;
  NumberCompiler numbers_;
  StringCompiler strings_;
  PointerCompiler pointers_;
  size_t next_argument_ = 0;
  bool refused_ = false;
};

}  // namespace

Result<TextProgram> compile(const PrintFormat& format, const trace::EventType& type,
                            const KernelNames& names) {
  return Compiler(format, type, names).compile();
}

}  // namespace strata::ftrace
