// SPDX-License-Identifier: Apache-2.0
#include "ftrace/print_format_constants.h"

#include <array>
#include <charconv>

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;

// Names that some kernels leave in their formats where others have numbers.
std::optional<int64_t> known_name(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kSoftirqs{
      "HI_SOFTIRQ",       "TIMER_SOFTIRQ",   "NET_TX_SOFTIRQ", "NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ",
      "IRQ_POLL_SOFTIRQ", "TASKLET_SOFTIRQ", "SCHED_SOFTIRQ",  "HRTIMER_SOFTIRQ", "RCU_SOFTIRQ"};
  for (size_t i = 0; i < kSoftirqs.size(); ++i)
    if (kSoftirqs[i] == name) return static_cast<int64_t>(i);
  if (name == "HRTIMER_NORESTART") return 0;
  if (name == "HRTIMER_RESTART") return 1;
  return std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<int64_t> constant_operation(std::string_view op, int64_t l, int64_t r) {
  const auto ul = static_cast<uint64_t>(l);
  const auto ur = static_cast<uint64_t>(r);
  if (op == "|") return l | r;
  if (op == "||") return l || r;
  if (op == "&") return l & r;
  if (op == "&&") return l && r;
  if (op == "<<") return static_cast<int64_t>(ul << (ur & 63));
  if (op == ">>") return l >> (ur & 63);
  if (op == "<") return l < r;
  if (op == "<=") return l <= r;
  if (op == ">") return l > r;
  if (op == ">=") return l >= r;
  if (op == "==") return l == r;
  if (op == "!=") return l != r;
  if (op == "-") return static_cast<int64_t>(ul - ur);
  if (op == "+") return static_cast<int64_t>(ul + ur);
  if (op == "~") return ~r;
  return std::nullopt;
}

std::optional<int64_t> constant(const Expression& e) {
  if (e.kind == Kind::Atom) {
    // Numbers beyond the signed range stay at its end here, and only here.
    const uint64_t value = atom_value(e.text);
    return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
  }
  if (e.kind == Kind::Cast) {
    const auto value = constant(*e.left);
    if (!value) return std::nullopt;
    return static_cast<int64_t>(static_cast<uint64_t>(*value) & cast_mask(e.text));
  }
  if (e.kind != Kind::Operation || e.text == "?" || e.text == "[") return std::nullopt;
  const bool unary = e.left->kind == Kind::Nothing;
  if (unary && e.text == "!") return std::nullopt;
  const auto left = unary ? std::optional<int64_t>(0) : constant(*e.left);
  const auto right = constant(*e.right);
  if (!left || !right) return std::nullopt;
  return constant_operation(e.text, *left, *right);
}

}  // namespace

int64_t choice_value(std::string_view text) {
  if (!text.empty() && is_digit(text[0])) return static_cast<int64_t>(atom_value(text));
  return known_name(text).value_or(-1);
}

std::optional<std::string> constant_text(const Expression& e) {
  if (e.kind == Kind::Atom) return e.text;
  if (e.kind == Kind::Cast) return constant_text(*e.left);
  if (e.kind != Kind::Operation) return std::nullopt;
  const auto value = constant(e);
  if (!value) return std::nullopt;
  return std::to_string(*value);
}

uint64_t atom_value(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  return negative ? 0 - value : value;
}

uint64_t cast_mask(std::string_view name) {
  if (name == "u8" || name == "s8") return 0xff;
  if (name == "u16" || name == "s16") return 0xffff;
  if (name == "u32" || name == "s32") return 0xffffffff;
  if (name.starts_with("unsigned ")) name.remove_prefix(9);
  if (name == "char") return 0xff;
  if (name == "short") return 0xffff;
  if (name == "int") return 0xffffffff;
  return UINT64_MAX;
}

}  // namespace strata::ftrace
