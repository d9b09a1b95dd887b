// SPDX-License-Identifier: Apache-2.0
#include "ftrace/print_format_compiler.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ftrace/address_text.h"
#include "ftrace/number_text.h"
#include "ftrace/text_assembler.h"

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;
using trace::Field;
using trace::Location;

constexpr int kMaxDepth = 400;
constexpr uint32_t kMaxPlainText = 256;  // longer fields ask for room when they are printed

bool is_number_size(uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

std::string hex_text(int64_t value) {
  char digits[16];
  const char* end = write_hex(digits, static_cast<uint64_t>(value));
  return "0x" + std::string(digits, static_cast<size_t>(end - digits));
}

std::string flags_text(const ChoiceTable& table, int64_t rest) {
  std::string text;
  for (const ChoiceTable::Choice& choice : table.choices) {
    if (rest == 0 && choice.value < 0) return text + choice.name;
    if (choice.value <= 0 || (rest & choice.value) != choice.value) continue;
    text += (text.empty() ? "" : table.delimiter) + choice.name;
    rest &= ~choice.value;
  }
  if (rest == 0) return text;
  return text + (text.empty() ? "" : table.delimiter) + hex_text(rest);
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

uint8_t locator_of(const Field& field) {
  return static_cast<uint8_t>(field.size == 2 ? 2 : 4) |
         (field.location == Location::RelLoc ? kRelative : uint8_t{0});
}

// Through casts, to what they are applied to.
const Expression& uncast(const Expression& e) {
  const Expression* inner = &e;
  while (inner->kind == Kind::Cast) inner = inner->left;
  return *inner;
}

class Compiler {
 public:
  Compiler(const PrintFormat& format, const trace::EventType& type, const KernelNames& names)
      : format_(format), type_(type), names_(names), swap_(type.order != kNativeOrder) {}

  Result<TextProgram> compile() {
    std::string_view rest = format_.format;
    while (!rest.empty() && !refused_) {
      if (rest[0] == '%' && !rest.substr(1).starts_with('%'))
        conversion(rest);
      else
        literal(rest);
    }
    if (refused_) return failure("has conversions and arguments that do not match");
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
        pointer(rest, star);
        return;
      default:
        code_.literal(">");
        code_.literal(whole.substr(whole.size() - 1));
        code_.literal("<");
    }
  }

  // ---- numbers -----------------------------------------------------------------------------

  // A number in place: where it lies, its size, and how many of its bytes count after casts.
  struct Loaded {
    uint32_t offset;
    uint32_t size;
    uint32_t bytes;
  };
  std::optional<Loaded> loaded(const Expression& e) const {
    uint64_t mask = UINT64_MAX;
    const Expression* inner = &e;
    for (; inner->kind == Kind::Cast; inner = inner->left) mask &= cast_mask(inner->text);
    const auto place = place_of(*inner);
    if (!place || !is_number_size(place->second)) return std::nullopt;
    const uint32_t narrowed = mask == 0xff ? 1 : mask == 0xffff ? 2 : mask == UINT64_MAX ? 8 : 4;
    return Loaded{place->first, place->second, std::min(place->second, narrowed)};
  }
  // Offset and size of a field, or of the element of an array at a constant index.
  std::optional<std::pair<uint32_t, uint32_t>> place_of(const Expression& e) const {
    if (e.kind == Kind::Field && e.field) return std::pair(e.field->offset, e.field->size);
    if (e.kind != Kind::Operation || e.text != "[" || e.left->kind != Kind::Field ||
        !e.left->field || !is_plain_number(*e.right))
      return std::nullopt;
    const uint64_t index = atom_value(e.right->text);
    if (index > UINT16_MAX) return std::nullopt;
    const uint32_t size = nature_of(*e.left->field, names_.target).element_size;
    const uint64_t offset = e.left->field->offset + index * size;
    if (offset > UINT16_MAX) return std::nullopt;
    return std::pair(static_cast<uint32_t>(offset), size);
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
    if (star) number(*star);
    number(*argument);
    code_.print({Op::Integer, 0, code_.add(c)}, star ? 2 : 1, 0);
  }

  // The usual conversions of a field in place have instructions of their own.
  bool plain_integer(const Conversion& c, const Expression& argument) {
    const auto from = loaded(argument);
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

  void load(const Field& field) {
    if (!is_number_size(field.size)) return code_.constant(0);
    const auto size = static_cast<uint8_t>(field.size);
    code_.need(uint64_t{field.offset} + size);
    code_.compute({swap_ && size > 1 ? Op::LoadSwapped : Op::Load, field.offset, 0, size}, 0);
  }

  void mask(uint64_t bits) {
    if (bits != UINT64_MAX) code_.compute({Op::Mask, 0, code_.add(bits)}, 1);
  }

  // Leaves the number that `e` is on the stack.
  void number(const Expression& e) {
    if (++depth_ > kMaxDepth) {
      refused_ = true;
      --depth_;
      return code_.constant(0);
    }
    number_of(e);
    --depth_;
  }

  void number_of(const Expression& e) {
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

  void function_number(const Expression& e) {
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

  void operation(const Expression& e) {
    if (e.text == "?") return conditional_number(e);
    if (e.text == "[") return element(e);
    if (e.text == "!" || e.text == "~") {
      number(*e.right);
      return code_.compute({e.text == "!" ? Op::Not : Op::Complement}, 1);
    }
    const auto op = binary(e.text);
    if (!op) return code_.constant(0);
    if (e.text == "&" && is_plain_number(*e.right))
      return masked(*e.left, atom_value(e.right->text));
    number(*e.left);
    number(*e.right);
    code_.compute({*op}, 2);
  }

  static bool is_plain_number(const Expression& e) {
    return e.kind == Kind::Atom && !e.quoted && !e.text.empty() && e.text[0] >= '0' &&
           e.text[0] <= '9';
  }

  void masked(const Expression& e, uint64_t bits) {
    const auto from = loaded(e);
    // Of a field whose lowest byte is all that counts, only that is loaded.
    if (bits == 0xff && from && !swap_ && kNativeOrder == ByteOrder::Little) {
      code_.need(uint64_t{from->offset} + from->size);
      return code_.compute({Op::Load, from->offset, 0, 1}, 0);
    }
    number(e);
    mask(bits);
  }

  static std::optional<Op> binary(std::string_view op) {
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

  void conditional_number(const Expression& e) {
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

  void element(const Expression& e) {
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

  // ---- strings -----------------------------------------------------------------------------

  void string(std::string_view whole, const Expression* star) {
    Conversion c;
    const Expression* argument = take_argument();
    if (!argument) return;
    if (!read_conversion(whole, c)) {
      refused_ = true;
      return;
    }
    c.bytes = 4;
    if (star) number(*star);
    string(*argument, c, star ? 1 : 0);
  }

  void nothing(int stars) {
    if (stars > 0) code_.print({Op::Drop}, stars, 0);
  }

  void string(const Expression& e, const Conversion& c, int stars) {
    if (++depth_ > kMaxDepth)
      refused_ = true;
    else
      string_of(e, c, stars);
    --depth_;
  }

  void string_of(const Expression& e, const Conversion& c, int stars) {
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

  void conditional_string(const Expression& e, const Conversion& c, int stars) {
    number(*e.left);
    const size_t otherwise = code_.jump(Op::JumpIfZero);
    const int depth = code_.depth();
    string(*e.right->left, c, stars);
    const size_t done = code_.jump(Op::Jump);
    code_.land(otherwise);
    code_.restore_depth(depth);
    string(*e.right->right, c, stars);
    code_.land(done);
  }

  void field_string(const Field& field, const Conversion& c, int stars) {
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

  void choice(const Expression& e, const Conversion& c, int stars) {
    number(*e.left);
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

  void hex_bytes(const Expression& e, int stars) {
    nothing(stars);
    const Expression& from = *e.left;
    number(*e.right);
    const uint32_t spaces = e.kind == Kind::Hex ? 1 : 0;
    if (from.kind == Kind::DynamicArray)
      return code_.print({Op::LocatedHexBytes, from.field->offset, spaces, locator_of(*from.field)},
                         1, 0);
    if (from.kind == Kind::Field && from.field)
      return code_.print({Op::HexBytes, from.field->offset, spaces}, 1, 0);
    refused_ = true;
  }

  void numbers(const Expression& e, int stars) {
    nothing(stars);
    const Expression& from = *e.left;
    number(*e.right);
    number(*e.third);
    if (from.kind == Kind::DynamicArray)
      return code_.print({Op::LocatedNumbers, from.field->offset, 0, locator_of(*from.field)}, 2,
                         0);
    if (from.kind == Kind::Field && from.field)
      return code_.print({Op::Numbers, from.field->offset}, 2, 0);
    refused_ = true;
  }

  void function_string(const Expression& e) {
    const auto print = [&](Op op) {
      number(*e.arguments[0]);
      code_.print({op}, 1, 0);
    };
    if (e.text == "jbd2_dev_to_name") {
      print(Op::Device);
    } else if (e.text == kCallSite) {
      print(Op::SymbolPrefix);
    } else if (e.text == kTimerFunction) {
      print(Op::SymbolSlash);
    } else if (e.text == "jiffies_to_msecs") {
      number(*e.arguments[0]);
      code_.print({Op::Integer, 0, code_.add(Conversion{.letter = 'd', .bytes = 8})}, 1, 0);
    }
  }

  // ---- pointers ----------------------------------------------------------------------------

  // `rest` begins behind the 'p'. No width counts here.
  void pointer(std::string_view& rest, const Expression* star) {
    const Expression* argument = take_argument();
    if (!argument) return;
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
        number(*argument);
        code_.print({one_of(at(0), "FS") ? Op::SymbolOffset : Op::Symbol}, 1, 0);
        return take(1);
      case 'M':
      case 'm': {
        const bool backwards = at(1) == 'R';
        const char separator = at(0) == 'm' ? '\0' : at(1) == 'F' ? '-' : ':';
        if (const Field* field = address_field(*argument, 6, "INVALIDMAC"))
          code_.print({Op::Mac, field->offset, backwards, static_cast<uint8_t>(separator)}, 0,
                      kMacRoom);
        return take(one_of(at(1), "RF") ? 2 : 1);
      }
      case 'I':
      case 'i':
        return internet(rest, *argument);
      case 'U': {
        const bool styled = one_of(at(1), "LlBb");
        const auto style = static_cast<uint8_t>(styled ? at(1) : 'b');
        if (const Field* field = address_field(*argument, 16, "INVALIDUUID"))
          code_.print({Op::Uuid, field->offset, 0, style}, 0, kUuidRoom);
        return take(styled ? 2 : 1);
      }
      case 'h': {
        const char separator = at(1) == 'C' ? ':' : at(1) == 'D' ? '-' : at(1) == 'N' ? '\0' : ' ';
        take(separator == ' ' ? 1 : 2);
        if (argument->kind != Kind::DynamicArray) return not_a_field(*argument);
        if (star)
          number(*star);
        else
          code_.constant(1);
        return code_.print({Op::LocatedRaw, argument->field->offset,
                            static_cast<uint8_t>(separator), locator_of(*argument->field)},
                           1, 0);
      }
      default:
        number(*argument);
        code_.print({Op::Pointer}, 1, 0);
    }
  }

  // libtraceevent's own number for a kind of argument, which it shows where it cannot show more.
  static int kind_number(Kind kind) {
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
  void not_a_field(const Expression& e) {
    code_.literal("ARG TYPE NOT FIELD BUT " + std::to_string(kind_number(e.kind)));
  }

  // The field that holds an address of `size` bytes; else says why there is none.
  const Field* address_field(const Expression& argument, uint32_t size, std::string_view invalid) {
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
  void internet(std::string_view& rest, const Expression& argument) {
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
      if (order == 'l' || (order == 'h' && type_.order == ByteOrder::Little)) style |= kBackwards;
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

  void socket_address(const Expression& e, uint32_t style) {
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

  const PrintFormat& format_;
  const trace::EventType& type_;
  const KernelNames& names_;
  const bool swap_;
  TextAssembler code_;
  size_t next_argument_ = 0;
  int depth_ = 0;
  bool refused_ = false;
};

}  // namespace

Result<TextProgram> compile(const PrintFormat& format, const trace::EventType& type,
                            const KernelNames& names) {
  return Compiler(format, type, names).compile();
}

}  // namespace strata::ftrace
