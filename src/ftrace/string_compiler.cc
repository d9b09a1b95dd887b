// SPDX-License-Identifier: Apache-2.0
#include "ftrace/string_compiler.h"

#include <algorithm>
#include <bit>

#include "ftrace/print_format_compiler.h"

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;
using trace::Field;

constexpr int kMaxDepth = 400;
constexpr uint32_t kMaxPlainText = 256;  // longer fields ask for room when they are printed

std::string hex_text(int64_t value) {
  char digits[16];
  const char* end = write_hex(digits, static_cast<uint64_t>(value));
  return "0x" + std::string(digits, static_cast<size_t>(end - digits));
}

std::string flags_text(const ChoiceTable& table, int64_t rest) {
  std::string text;
  bool any = false;
  const auto add = [&](const std::string& name) {
    text += (any ? table.delimiter : "") + name;
    any = true;
  };
  for (const ChoiceTable::Choice& choice : table.choices) {
    if (rest == 0 && choice.value < 0) return text + choice.name;
    if (choice.value <= 0 || (rest & choice.value) != choice.value) continue;
    add(choice.name);
    rest &= ~choice.value;
  }
  if (rest != 0) add(hex_text(rest));
  return text;
}

std::string symbolic_text(const ChoiceTable& table, int64_t value) {
  for (const ChoiceTable::Choice& choice : table.choices)
    if (choice.value == value) return choice.name;
  return hex_text(value);
}

// The whole texts of the smallest values, where the table has any of those.
std::vector<std::string> short_texts(const ChoiceTable& table, bool flags) {
  constexpr int64_t kMostValues = 256;
  constexpr size_t kMostText = 48;
  int64_t values = 0;
  for (const ChoiceTable::Choice& choice : table.choices)
    if (choice.value < kMostValues) values = std::max(values, choice.value + 1);
  if (flags && values > 0) values = static_cast<int64_t>(std::bit_ceil(uint64_t(values)));
  std::vector<std::string> texts;
  for (int64_t value = 0; value < values; ++value) {
    const std::string text = flags ? flags_text(table, value) : symbolic_text(table, value);
    if (text.size() > kMostText) break;
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

void StringCompiler::nothing(int stars) {
  if (stars > 0) code_.print({Op::Drop}, stars, 0);
}

void StringCompiler::string(const Expression& e, const Conversion& c, int stars) {
  if (++depth_ > kMaxDepth)
    refused_ = true;
  else
    string_of(e, c, stars);
  --depth_;
}

void StringCompiler::string_of(const Expression& e, const Conversion& c, int stars) {
  const bool plain = c == Conversion{};
  const uint32_t conversion = code_.add(c);
  switch (e.kind) {
    case Kind::Atom:
      if (plain) return code_.literal(e.text);
      return code_.print({Op::ConstantString, code_.add(e.text), conversion}, stars, 0);
    case Kind::Field:
      return e.field ? field_string(*e.field, c, stars) : nothing(stars);
    case Kind::Flags:
    case Kind::Symbolic:
      return choice(e, c, stars);
    case Kind::Hex:
    case Kind::HexString:
      return hex_bytes(e, stars);
    case Kind::Array:
      return numbers(e, stars);
    case Kind::DynamicString:
    case Kind::Bitmask:
    case Kind::CpuList: {
      if (!e.field) return nothing(stars);
      if (e.kind == Kind::DynamicString && plain)
        return code_.print({Op::LocatedText, e.field->offset, 0, locator_of(*e.field)}, 0, 0);
      const Op op = e.kind == Kind::DynamicString ? Op::LocatedString
                    : e.kind == Kind::Bitmask     ? Op::Bitmask
                                                  : Op::CpuList;
      return code_.print({op, e.field->offset, conversion, locator_of(*e.field)}, stars, 0);
    }
    case Kind::Operation:
      return e.text == "?" ? conditional_string(e, c, stars) : nothing(stars);
    case Kind::Function:
      nothing(stars);
      return function_string(e);
    default:
      return nothing(stars);
  }
}

void StringCompiler::conditional_string(const Expression& e, const Conversion& c, int stars) {
  numbers_.number(*e.left);
  const size_t otherwise = code_.jump(Op::JumpIfZero);
  const int depth = code_.depth();
  string(*e.right->left, c, stars);
  const size_t done = code_.jump(Op::Jump);
  code_.land(otherwise);
  code_.restore_depth(depth);
  string(*e.right->right, c, stars);
  code_.land(done);
}

void StringCompiler::field_string(const Field& field, const Conversion& c, int stars) {
  const bool plain = c == Conversion{};
  const uint32_t conversion = code_.add(c);
  const uint32_t long_size = names_.target.long_size;
  // A number as long as a pointer is one, to a constant string of the kernel.
  if (!nature_of(field, names_.target).array && field.size == long_size) {
    nothing(stars);
    code_.need(uint64_t{field.offset} + field.size);
    return code_.print({Op::KernelString, field.offset, 0, names_.target.long_size}, 0, 0);
  }
  // An array without a size is all that follows.
  if (field.size == 0) {
    if (plain) return code_.print({Op::TextToEnd, field.offset}, 0, 0);
    return code_.print({Op::StringToEnd, field.offset, conversion}, stars, 0);
  }
  const uint32_t size = std::min<uint32_t>(field.size, UINT16_MAX);
  if (plain && size <= kMaxPlainText) {
    code_.need(uint64_t{field.offset} + size);
    return code_.print({size == 16 ? Op::Text16 : Op::Text, field.offset, size}, 0, size);
  }
  code_.print({Op::String, field.offset, size << 16 | conversion}, stars, 0);
}

void StringCompiler::choice(const Expression& e, const Conversion& c, int stars) {
  numbers_.number(*e.left);
  ChoiceTable table{.choices = {}, .delimiter = e.text, .texts = {}};
  for (const Expression::Choice& choice : e.choices)
    table.choices.push_back({choice.value, choice.name});
  const bool flags = e.kind == Kind::Flags;
  const auto texts = c == Conversion{} ? short_texts(table, flags) : std::vector<std::string>();
  const uint32_t index = code_.add(std::move(table));
  code_.add_texts(index, texts);
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  const Op op = texts.empty() ? (flags ? Op::Flags : Op::Symbolic)
                              : (flags ? Op::ShortFlags : Op::ShortSymbolic);
  code_.print({op, code_.add(c), index}, stars + 1, longest);
}

void StringCompiler::hex_bytes(const Expression& e, int stars) {
  nothing(stars);
  const Expression& from = *e.left;
  numbers_.number(*e.right);
  const uint32_t spaces = e.kind == Kind::Hex ? 1 : 0;
  if (from.kind == Kind::DynamicArray)
    return code_.print({Op::LocatedHexBytes, from.field->offset, spaces, locator_of(*from.field)},
                       1, 0);
  if (from.kind == Kind::Field && from.field)
    return code_.print({Op::HexBytes, from.field->offset, spaces}, 1, 0);
  refused_ = true;
}

void StringCompiler::numbers(const Expression& e, int stars) {
  nothing(stars);
  const Expression& from = *e.left;
  numbers_.number(*e.right);
  numbers_.number(*e.third);
  if (from.kind == Kind::DynamicArray)
    return code_.print({Op::LocatedNumbers, from.field->offset, 0, locator_of(*from.field)}, 2, 0);
  if (from.kind == Kind::Field && from.field)
    return code_.print({Op::Numbers, from.field->offset}, 2, 0);
  refused_ = true;
}

void StringCompiler::function_string(const Expression& e) {
  const auto print = [&](Op op) {
    numbers_.number(*e.arguments[0]);
    code_.print({op}, 1, 0);
  };
  if (e.text == "jbd2_dev_to_name") {
    print(Op::Device);
  } else if (e.text == kCallSite) {
    print(Op::SymbolPrefix);
  } else if (e.text == kTimerFunction) {
    print(Op::SymbolSlash);
  } else if (e.text == "jiffies_to_msecs") {
    numbers_.number(*e.arguments[0]);
    code_.print({Op::Integer, 0, code_.add(Conversion{.letter = 'd', .bytes = 8})}, 1, 0);
  }
}

}  // namespace strata::ftrace
