// SPDX-License-Identifier: Apache-2.0
#include "kernel/x86_registers.h"

#include <array>
#include <charconv>

namespace strata::kernel {
namespace {

// Those with names from before there were numbers: ax, and from it rax, eax, ax, al, ah.
constexpr std::array<std::string_view, 4> kLettered = {"ax", "bx", "cx", "dx"};
// si, and from it rsi, esi, si, sil.
constexpr std::array<std::string_view, 4> kPointers = {"si", "di", "bp", "sp"};
// These a probe sees only whole.
constexpr std::array<std::string_view, 6> kOthers = {"ip", "flags", "cs", "ss", "orig_ax", "rip"};

std::optional<X86Register> named(std::string_view name, std::string_view base, bool lettered) {
  const auto part = [&](uint8_t bytes) { return X86Register{std::string(base), bytes, false}; };
  if (name.size() == base.size() + 1 && name.substr(1) == base) {
    if (name[0] == 'r') return part(8);
    if (name[0] == 'e') return part(4);
  }
  if (name == base) return part(2);
  if (lettered && name.size() == 2 && name[0] == base[0]) {
    if (name[1] == 'l') return part(1);
    if (name[1] == 'h') return X86Register{std::string(base), 1, true};
  }
  if (!lettered && name.size() == 3 && name.substr(0, 2) == base && name[2] == 'l') return part(1);
  return std::nullopt;
}

// r8 to r15, with d, w or b behind for four, two bytes and one.
std::optional<X86Register> numbered(std::string_view name) {
  if (!name.starts_with('r')) return std::nullopt;
  unsigned number = 0;
  const char* end = name.data() + name.size();
  const auto [stopped, problem] = std::from_chars(name.data() + 1, end, number);
  if (problem != std::errc() || number < 8 || number > 15 || name[1] == '0') return std::nullopt;
  X86Register found{"r" + std::to_string(number), 8, false};
  const std::string_view rest(stopped, static_cast<size_t>(end - stopped));
  if (rest.empty()) return found;
  if (rest == "d") found.bytes = 4;
  if (rest == "w") found.bytes = 2;
  if (rest == "b" || rest == "l") found.bytes = 1;
  if (found.bytes == 8) return std::nullopt;
  return found;
}

}  // namespace

std::optional<X86Register> x86_register(std::string_view name) {
  for (const std::string_view base : kLettered)
    if (auto found = named(name, base, true)) return found;
  for (const std::string_view base : kPointers)
    if (auto found = named(name, base, false)) return found;
  for (const std::string_view whole : kOthers)
    if (name == whole) return X86Register{whole == "rip" ? "ip" : std::string(whole), 8, false};
  return numbered(name);
}

std::string x86_argument(unsigned number) {
  static constexpr std::array<std::string_view, 6> kInRegisters = {"di", "si", "dx",
                                                                   "cx", "r8", "r9"};
  if (number <= kInRegisters.size()) return "%" + std::string(kInRegisters[number - 1]);
  // The first word of the stack is the return address.
  return "$stack" + std::to_string(number - kInRegisters.size());
}

}  // namespace strata::kernel
