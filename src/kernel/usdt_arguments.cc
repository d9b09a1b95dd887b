// SPDX-License-Identifier: Apache-2.0
#include "kernel/usdt_arguments.h"

#include <algorithm>
#include <charconv>

#include "base/result.h"
#include "kernel/x86_registers.h"

namespace strata::kernel {
namespace {

// <sys/sdt.h> stops at 12.
constexpr size_t kMostArguments = 64;

// Decimal, or hexadecimal behind 0x; with a sign or without.
std::optional<int64_t> read_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || problem != std::errc() || stopped != end) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

struct Size {
  unsigned bytes = 8;
  bool is_signed = false;

  std::string type() const { return (is_signed ? "s" : "u") + std::to_string(bytes * 8); }
};

Error cannot(std::string why) { return Error{"", std::nullopt, std::move(why)}; }

// "-4": four bytes, signed.
Result<Size> read_size(std::string_view text) {
  Size size;
  if (text.ends_with('f')) return cannot("a floating-point number");
  const std::optional<int64_t> number = read_number(text);
  if (!number) return cannot("its size is not understood");
  size.is_signed = *number < 0;
  const int64_t bytes = size.is_signed ? -*number : *number;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    return cannot("it is neither of 1, 2, 4 nor 8 bytes");
  size.bytes = static_cast<unsigned>(bytes);
  return size;
}

Result<ProbeArgument> in_register(std::string_view name, Size size) {
  const std::optional<X86Register> found = x86_register(name);
  if (!found) {
    const bool vector = name.starts_with("xmm") || name.starts_with("ymm") ||
                        name.starts_with("zmm") || name.starts_with("st");
    return cannot(vector ? "the kernel's probes do not see floating-point registers"
                         : "there is no such register");
  }
  const std::string fetch = "%" + found->kernel_name;
  if (found->second_byte) {
    if (size.is_signed) return cannot("the kernel takes a register's second byte only unsigned");
    return ProbeArgument{"", fetch, "b8@8/16"};
  }
  size.bytes = std::min<unsigned>(size.bytes, found->bytes);
  return ProbeArgument{"", fetch, size.type()};
}

// "name", "name+8" or "16+name" in front of "(%rip)", or alone: a variable of the file.
Result<ProbeArgument> in_variable(std::string_view text, Size size,
                                  const VariableOffset& variable) {
  std::string_view name = text;
  int64_t distance = 0;
  const size_t sign = text.find_first_of("+-", 1);
  if (sign != std::string_view::npos) {
    if (const auto behind = read_number(text.substr(sign))) {
      name = text.substr(0, sign);
      distance = *behind;
    } else if (const auto before = read_number(text.substr(0, sign)); before && text[sign] == '+') {
      name = text.substr(sign + 1);
      distance = *before;
    }
  }
  const std::optional<uint64_t> offset = variable ? variable(name) : std::nullopt;
  if (!offset) return cannot("the file does not tell where '" + std::string(name) + "' is");
  const int64_t at = static_cast<int64_t>(*offset + static_cast<uint64_t>(distance));
  if (at < 0) return cannot("it is before the probed file");
  return ProbeArgument{"", "@+" + std::to_string(at), size.type()};
}

// "-24(%rbp)", "(%rax)", "counter(%rip)".
Result<ProbeArgument> in_memory(std::string_view operand, Size size,
                                const VariableOffset& variable) {
  const size_t open = operand.find('(');
  if (open == std::string_view::npos || !operand.ends_with(')'))
    return in_variable(operand, size, variable);
  const std::string_view displacement = operand.substr(0, open);
  const std::string_view base = operand.substr(open + 1, operand.size() - open - 2);
  if (base.find(',') != std::string_view::npos)
    return cannot("the kernel's probes do not add up two registers");
  if (!base.starts_with('%')) return cannot("the operand is not understood");
  if (base == "%rip" && !read_number(displacement))
    return in_variable(displacement, size, variable);
  const std::optional<X86Register> found = x86_register(base.substr(1));
  if (!found || found->bytes != 8) return cannot("no address is in this register");
  if (base == "%rip")
    return cannot("it is at a distance from the next instruction, wherever that is");
  int64_t distance = 0;
  if (!displacement.empty()) {
    const std::optional<int64_t> number = read_number(displacement);
    if (!number) return cannot("its distance from the register is not a number");
    distance = *number;
  }
  const std::string sign = distance < 0 ? "" : "+";
  return ProbeArgument{"", sign + std::to_string(distance) + "(%" + found->kernel_name + ")",
                       size.type()};
}

Result<ProbeArgument> decode(std::string_view item, const VariableOffset& variable) {
  Size size;
  std::string_view operand = item;
  if (const size_t at = item.find('@'); at != std::string_view::npos) {
    Result<Size> read = read_size(item.substr(0, at));
    if (!read) return std::move(read).error();
    size = *read;
    operand = item.substr(at + 1);
  }
  if (operand.starts_with('$')) {
    const std::optional<int64_t> number = read_number(operand.substr(1));
    if (!number) return cannot("the constant is not a number");
    return ProbeArgument{"", "\\" + std::to_string(*number), size.type()};
  }
  if (operand.starts_with('%') && operand.find(':') != std::string_view::npos)
    return cannot("the kernel's probes do not see thread-local memory");
  if (operand.starts_with('%')) return in_register(operand.substr(1), size);
  if (operand.empty()) return cannot("it has no operand");
  return in_memory(operand, size, variable);
}

}  // namespace

UsdtArguments decode_usdt_arguments(std::string_view text, const VariableOffset& variable) {
  UsdtArguments decoded;
  size_t number = 0;
  for (size_t at = 0;;) {
    at = text.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return decoded;
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const std::string_view item = text.substr(at, end - at);
    at = end;
    const std::string name = "arg" + std::to_string(++number);
    if (number > kMostArguments) {
      decoded.left_out.push_back(name + " and all behind it: too many");
      return decoded;
    }
    Result<ProbeArgument> argument = decode(item, variable);
    if (argument) {
      argument->name = name;
      decoded.arguments.push_back(*std::move(argument));
    } else {
      decoded.left_out.push_back(name + " (" + std::string(item) + "): " + argument.error().cause);
    }
  }
}

}  // namespace strata::kernel
