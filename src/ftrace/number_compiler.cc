// SPDX-License-Identifier: Apache-2.0
#include "ftrace/number_compiler.h"

#include <algorithm>

#include "ftrace/print_format_compiler.h"

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;
using trace::Field;

constexpr int kMaxDepth = 400;

bool is_number_size(uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

bool is_plain_number(const Expression& e) {
  return e.kind == Kind::Atom && !e.quoted && !e.text.empty() && e.text[0] >= '0' &&
         e.text[0] <= '9';
}

std::optional<Op> binary(std::string_view op) {
  static constexpr std::pair<std::string_view, Op> kOperators[] = {
      {"+", Op::Add},          {"-", Op::Subtract},    {"*", Op::Multiply},    {"/", Op::Divide},
      {"%", Op::Remainder},    {"<<", Op::ShiftLeft},  {">>", Op::ShiftRight}, {"&", Op::And},
      {"|", Op::Or},           {"&&", Op::LogicalAnd}, {"||", Op::LogicalOr},  {"==", Op::Equal},
      {"!=", Op::NotEqual},    {"<", Op::Less},        {"<=", Op::LessEqual},  {">", Op::Greater},
      {">=", Op::GreaterEqual}};
  for (const auto& [name, code] : kOperators)
    if (name == op) return code;
  return std::nullopt;  // ^ among them, which gives 0 there
}

}  // namespace

uint8_t locator_of(const Field& field) {
  return static_cast<uint8_t>(field.size == 2 ? 2 : 4) |
         (field.location == trace::Location::RelLoc ? kRelative : uint8_t{0});
}

const Expression& uncast(const Expression& e) {
  const Expression* inner = &e;
  while (inner->kind == Kind::Cast) inner = inner->left;
  return *inner;
}

// Offset and size of a field, or of the element of an array at a constant index.
std::optional<std::pair<uint32_t, uint32_t>> NumberCompiler::place_of(const Expression& e) const {
  if (e.kind == Kind::Field && e.field) return std::pair(e.field->offset, e.field->size);
  if (e.kind != Kind::Operation || e.text != "[" || e.left->kind != Kind::Field || !e.left->field ||
      !is_plain_number(*e.right))
    return std::nullopt;
  const uint64_t index = atom_value(e.right->text);
  if (index > UINT16_MAX) return std::nullopt;
  const uint32_t size = nature_of(*e.left->field, names_.target).element_size;
  const uint64_t offset = e.left->field->offset + index * size;
  if (offset > UINT16_MAX) return std::nullopt;
  return std::pair(static_cast<uint32_t>(offset), size);
}

std::optional<NumberCompiler::Loaded> NumberCompiler::loaded(const Expression& e) const {
  uint64_t mask = UINT64_MAX;
  const Expression* inner = &e;
  for (; inner->kind == Kind::Cast; inner = inner->left) mask &= cast_mask(inner->text);
  const auto place = place_of(*inner);
  if (!place || !is_number_size(place->second)) return std::nullopt;
  const uint32_t narrowed = mask == 0xff ? 1 : mask == 0xffff ? 2 : mask == UINT64_MAX ? 8 : 4;
  return Loaded{place->first, place->second, std::min(place->second, narrowed)};
}

void NumberCompiler::load(const Field& field) {
  if (!is_number_size(field.size)) return code_.constant(0);
  const auto size = static_cast<uint8_t>(field.size);
  code_.need(uint64_t{field.offset} + size);
  code_.compute({swap_ && size > 1 ? Op::LoadSwapped : Op::Load, field.offset, 0, size}, 0);
}

void NumberCompiler::mask(uint64_t bits) {
  if (bits != UINT64_MAX) code_.compute({Op::Mask, 0, code_.add(bits)}, 1);
}

void NumberCompiler::masked(const Expression& e, uint64_t bits) {
  const auto from = loaded(e);
  // Of a field whose lowest byte is all that counts, only that is loaded.
  if (bits == 0xff && from && !swap_ && kNativeOrder == ByteOrder::Little) {
    code_.need(uint64_t{from->offset} + from->size);
    return code_.compute({Op::Load, from->offset, 0, 1}, 0);
  }
  number(e);
  mask(bits);
}

// Leaves the number that `e` is on the stack.
void NumberCompiler::number(const Expression& e) {
  if (++depth_ > kMaxDepth) {
    refused_ = true;
    --depth_;
    return code_.constant(0);
  }
  number_of(e);
  --depth_;
}

void NumberCompiler::number_of(const Expression& e) {
  switch (e.kind) {
    case Kind::Atom: {
      uint64_t value = atom_value(e.text);
      // A name can be that of a function of the kernel.
      const bool name = !e.quoted && !e.text.empty() && !(e.text[0] >= '0' && e.text[0] <= '9');
      if (value == 0 && name) value = names_.symbols.address_of(e.text).value_or(0);
      return code_.constant(value);
    }
    case Kind::Field:
      return e.field ? load(*e.field) : code_.constant(0);
    case Kind::Cast:
      number(*e.left);
      return mask(cast_mask(e.text));
    case Kind::DynamicArrayLength:
      return code_.compute({Op::LocatedLength, e.field->offset, 0, locator_of(*e.field)}, 0);
    case Kind::DynamicArray:
      // There, an address in the reader's memory; here, the place in the record.
      return code_.compute({Op::LocatedOffset, e.field->offset, 0, locator_of(*e.field)}, 0);
    case Kind::Operation:
      return operation(e);
    case Kind::Function:
      return function_number(e);
    default:
      return code_.constant(0);
  }
}

void NumberCompiler::function_number(const Expression& e) {
  const Expression& argument = *e.arguments[0];
  if (e.text == "jiffies_to_msecs") return number(argument);
  if (e.text == "is_writable_pte") {
    number(argument);
    return mask(2);
  }
  if (e.text == "__le16_to_cpup" && uncast(argument).kind == Kind::DynamicArray) {
    const Field& field = *uncast(argument).field;
    return code_.compute({Op::LocatedShort, field.offset, 0, locator_of(field)}, 0);
  }
  code_.constant(0);
}

void NumberCompiler::operation(const Expression& e) {
  if (e.text == "?") return conditional_number(e);
  if (e.text == "[") return element(e);
  if (e.text == "!" || e.text == "~") {
    number(*e.right);
    return code_.compute({e.text == "!" ? Op::Not : Op::Complement}, 1);
  }
  const auto op = binary(e.text);
  if (!op) return code_.constant(0);
  if (e.text == "&" && is_plain_number(*e.right)) return masked(*e.left, atom_value(e.right->text));
  number(*e.left);
  number(*e.right);
  code_.compute({*op}, 2);
}

void NumberCompiler::conditional_number(const Expression& e) {
  number(*e.left);
  const size_t otherwise = code_.jump(Op::JumpIfZero);
  const int depth = code_.depth();
  number(*e.right->left);
  const size_t done = code_.jump(Op::Jump);
  code_.land(otherwise);
  code_.restore_depth(depth);
  number(*e.right->right);
  code_.land(done);
}

void NumberCompiler::element(const Expression& e) {
  const Expression& array = uncast(*e.left);
  if (!array.field || (array.kind != Kind::Field && array.kind != Kind::DynamicArray))
    return code_.constant(0);
  number(*e.right);
  uint32_t size = nature_of(*array.field, names_.target).element_size;
  if (array.kind == Kind::Field) {
    const auto small = static_cast<uint8_t>(is_number_size(size) ? size : 0);
    code_.compute({Op::Element, array.field->offset, 0, small}, 1);
  } else {
    if (size == 0) size = names_.target.long_size;
    code_.compute({Op::LocatedElement, array.field->offset, size, locator_of(*array.field)}, 1);
  }
  // The outermost cast is of the array; its elements are what it points to.
  if (e.left->kind == Kind::Cast && e.left->text.ends_with(" *"))
    mask(cast_mask(std::string_view(e.left->text).substr(0, e.left->text.size() - 2)));
}

}  // namespace strata::ftrace
