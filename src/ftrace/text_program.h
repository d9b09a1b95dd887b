// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/text_buffer.h"
#include "ftrace/kernel_text.h"

namespace strata::ftrace {

// A conversion of a print format beyond the plainest: %-10s, %#06llx, %.*s.
struct Conversion {
  enum class Star : uint8_t { None, Width, Precision };

  char letter = 's';  // d u x X o s
  uint8_t bytes = 4;  // of a number: what is left of it, as %hhd, %hd, %d and %ld say
  bool left = false;
  bool zeros = false;
  bool alternate = false;
  Star star = Star::None;  // which of the two is a number on the stack, under the value
  int32_t width = 0;
  int32_t precision = -1;

  bool operator==(const Conversion&) const = default;
};

// A table of __print_flags or __print_symbolic.
struct ChoiceTable {
  struct Choice {
    int64_t value;
    std::string name;
  };
  std::vector<Choice> choices;
  std::string delimiter;
  // Where the texts of the smallest values lie among the program's literals, with their lengths:
  // for the instructions that have them, ShortFlags and ShortSymbolic.
  std::vector<std::pair<uint32_t, uint32_t>> texts;
};

// What one instruction does. It works on the record, on a small stack of 64-bit numbers (print
// formats know no others) and on the text, to which it first adds its literal.
enum class Op : uint8_t {
  Literal,
  // Whole conversions of a field in place, in this machine's byte order: nearly all there is.
  Signed8,
  Signed16,
  Signed32,
  Signed64,
  Unsigned8,
  Unsigned16,
  Unsigned32,
  Unsigned64,
  Hex8,  // with at least `small` digits
  Hex16,
  Hex32,
  Hex64,
  Padded,  // a decimal of `argument` bytes, with zeros to `small` columns
  PaddedSigned,
  Text16,       // 16 characters, up to a NUL: a task's name
  Text,         // `argument` characters, up to a NUL
  TextToEnd,    // up to a NUL or the record's end
  LocatedText,  // the same, through the locator at `offset`

  // Numbers onto the stack.
  Constant,        // constants[argument]
  Load,            // `small` bytes
  LoadSwapped,     // the same in the other byte order
  Element,         // its index is on the stack; elements of `small` bytes; 0 beyond the record
  LocatedElement,  // its place in bytes is on the stack; `argument` bytes
  LocatedLength,
  LocatedOffset,
  LocatedShort,  // the little-endian 16-bit number that the array begins with

  Drop,  // one off again

  // Operators take their operands from the stack and leave their result there.
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  ShiftLeft,
  ShiftRight,
  And,
  Or,
  LogicalAnd,
  LogicalOr,
  Not,
  Complement,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Mask,  // with constants[argument]

  // Text from what is on the stack.
  Integer,       // conversions[argument]
  Pointer,       // %p
  Symbol,        // %ps
  SymbolOffset,  // %pS
  SymbolPrefix,  // "(name+0x10) ", or nothing where no symbol is known
  SymbolSlash,   // "name/0x0", the distance counting backwards
  Device,        // major:minor, the minor having 20 bits
  Flags,         // choices[argument], conversions[offset]
  Symbolic,      // the same
  ShortFlags,    // the same; plain, and with texts for the smallest values
  ShortSymbolic,

  // Text from the record.
  String,          // argument: how many bytes << 16 | conversion
  StringToEnd,     // conversions[argument]
  LocatedString,   // the same
  KernelString,    // the kernel's constant string whose address is here
  ConstantString,  // strings[offset], conversions[argument]
  HexBytes,        // count on the stack; argument: 1 with spaces between
  LocatedHexBytes,
  Numbers,  // count and size of an element on the stack
  LocatedNumbers,
  LocatedRaw,     // %*ph: count on the stack; argument: the separator
  Bitmask,        // conversions[argument]
  CpuList,        // the same
  Mac,            // small: the separator; argument 1: backwards
  Ipv4,           // argument: AddressStyle
  Ipv6,           // the same
  SocketAddress,  // argument: how many bytes << 16 | AddressStyle
  LocatedSocketAddress,
  Uuid,  // small: b B l L

  // Forward only, so that every program ends.
  JumpIfZero,  // to instructions[argument]
  Jump,
  End,
};

// How addresses of the network look; bits.
enum AddressStyle : uint32_t {
  kPaddedOrPlain = 1,  // %pi4: three digits each; %pi6: no colons
  kBackwards = 2,
  kCompressed = 4,
  kWithPort = 8,
};

// Where an instruction looks in the record is `offset`. Of those that go through a locator, `small`
// says what it is: its size in bytes, and kRelative where it counts from its own end.
constexpr uint8_t kRelative = 0x80;

struct Instruction {
  Op op = Op::End;
  uint8_t small = 0;
  uint16_t literal_size = 0;
  uint32_t literal = 0;
  uint32_t offset = 0;
  uint32_t argument = 0;
};
static_assert(sizeof(Instruction) == 16);

// The names of a kernel that texts may ask for.
struct KernelNames {
  explicit KernelNames(const KernelText& text)
      : target(text.target), symbols(text.kallsyms), printk_formats(text.printk_formats) {}

  Target target;
  Symbols symbols;
  PrintkFormats printk_formats;
};

// A print format as a flat list of instructions. Running it allocates nothing (but where the text
// outgrows its buffer), calls nothing virtual and copies nothing but what it prints: a field is
// loaded from the record and written as text at the end of the buffer, whose room is made once for
// everything that has a bound.
//
// Records come from outside. Where one is shorter than its type says, what is missing reads as
// zero or empty; nothing is read beyond it. A text ends soon after kMaxText.
class TextProgram {
 public:
  static constexpr size_t kMaxText = 64 * 1024;
  static constexpr size_t kStackSize = 32;

  void run(Bytes record, TextBuffer& out, const KernelNames& names) const {
    if (record.size() < needed_) [[unlikely]]
      return run_short(record, out, names);
    execute(record.data(), record.size(), out, names);
  }

 private:
  friend class TextAssembler;
  friend class TextRun;

  // `data` has at least needed_ bytes, of which the first `size` are the record's.
  void execute(const std::byte* data, size_t size, TextBuffer& out, const KernelNames& names) const;
  void run_short(Bytes record, TextBuffer& out, const KernelNames& names) const;

  std::vector<Instruction> instructions_;
  std::vector<char> literals_;
  std::vector<uint64_t> constants_;
  std::vector<Conversion> conversions_;
  std::vector<ChoiceTable> choices_;
  std::vector<std::string> strings_;
  size_t needed_ = 0;  // where the last field in place ends
  size_t bound_ = 0;   // of the text of all instructions that have one
};

}  // namespace strata::ftrace
