// SPDX-License-Identifier: Apache-2.0
#include "ftrace/text_program.h"

#include <algorithm>

#include "base/digits.h"
#include "ftrace/text_copy.h"
#include "ftrace/text_run.h"

namespace strata::ftrace {
namespace {

template <typename T>
T at(const std::byte* data, const Instruction& i) {
  return load_once<T>(data + i.offset);
}

uint64_t load_number(const std::byte* at, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return load_once<uint8_t>(at);
    case 2:
      return load_once<uint16_t>(at);
    case 4:
      return load_once<uint32_t>(at);
    default:
      return load_once<uint64_t>(at);
  }
}

int64_t load_signed(const std::byte* at, uint32_t bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<int64_t>(load_number(at, bytes) << unused) >> unused;
}

// With zeros before it to `columns`, 16 at most.
char* write_zero_padded(char* out, uint64_t value, unsigned columns) {
  char digits[kDigitsRoom];
  const auto count = static_cast<unsigned>(write_digits(digits, value) - digits);
  if (count < columns) {
    std::memset(out, '0', 16);
    out += columns - count;
  }
  std::memcpy(out, digits, 20);
  return out + count;
}

}  // namespace

void TextProgram::execute(const std::byte* data, size_t size, TextBuffer& out,
                          const KernelNames& names) const {
  const char* literals = literals_.data();
  const Instruction* i = instructions_.data();
  char* text = out.room(bound_);
  uint64_t stack[kStackSize];
  uint64_t* top = stack;  // the first free place
  const size_t limit = out.size() + kMaxText;

  while (true) {
    text = copy_literal(text, literals + i->literal, i->literal_size);
    switch (i->op) {
      case Op::Literal:
        break;
      case Op::Signed32:
        text = write_digits(text, static_cast<int64_t>(at<int32_t>(data, *i)));
        break;
      case Op::Unsigned32:
        text = write_digits(text, static_cast<uint64_t>(at<uint32_t>(data, *i)));
        break;
      case Op::Signed64:
        text = write_digits(text, at<int64_t>(data, *i));
        break;
      case Op::Unsigned64:
        text = write_digits(text, at<uint64_t>(data, *i));
        break;
      case Op::Signed16:
        text = write_digits(text, static_cast<int64_t>(at<int16_t>(data, *i)));
        break;
      case Op::Unsigned16:
        text = write_digits(text, static_cast<uint64_t>(at<uint16_t>(data, *i)));
        break;
      case Op::Signed8:
        text = write_digits(text, static_cast<int64_t>(at<int8_t>(data, *i)));
        break;
      case Op::Unsigned8:
        text = write_digits(text, static_cast<uint64_t>(at<uint8_t>(data, *i)));
        break;
      case Op::Hex64:
        text = write_hex_digits(text, at<uint64_t>(data, *i), i->small);
        break;
      case Op::Hex32:
        text = write_hex_digits(text, at<uint32_t>(data, *i), i->small);
        break;
      case Op::Hex16:
        text = write_hex_digits(text, at<uint16_t>(data, *i), i->small);
        break;
      case Op::Hex8:
        text = write_hex_digits(text, at<uint8_t>(data, *i), i->small);
        break;
      case Op::Padded:
        text = write_zero_padded(text, load_number(data + i->offset, i->argument), i->small);
        break;
      case Op::PaddedSigned: {
        const int64_t value = load_signed(data + i->offset, i->argument);
        const bool negative = value < 0;
        if (negative) *text++ = '-';
        const auto magnitude = static_cast<uint64_t>(value);
        text = write_zero_padded(text, negative ? 0 - magnitude : magnitude, i->small - negative);
        break;
      }
      case Op::Text16:
        text = copy_name_16(text, data + i->offset);
        break;
      case Op::Text: {
        std::memcpy(text, data + i->offset, i->argument);
        const void* nul = std::memchr(text, 0, i->argument);
        text = nul ? static_cast<char*>(const_cast<void*>(nul)) : text + i->argument;
        break;
      }
      case Op::Constant:
        *top++ = constants_[i->argument];
        break;
      case Op::Load:
        *top++ = load_number(data + i->offset, i->small);
        break;
      case Op::Drop:
        --top;
        break;
      case Op::JumpIfZero:
        if (*--top == 0) {
          i = instructions_.data() + i->argument;
          continue;
        }
        break;
      case Op::Jump:
        i = instructions_.data() + i->argument;
        continue;
      case Op::Mask:
        top[-1] &= constants_[i->argument];
        break;
      case Op::Not:
        top[-1] = top[-1] == 0;
        break;
      case Op::Complement:
        top[-1] = ~top[-1];
        break;
      case Op::Add:
        --top, top[-1] += top[0];
        break;
      case Op::Subtract:
        --top, top[-1] -= top[0];
        break;
      case Op::Multiply:
        --top, top[-1] *= top[0];
        break;
      case Op::Divide:
        --top, top[-1] = top[0] == 0 ? 0 : top[-1] / top[0];
        break;
      case Op::Remainder:
        --top, top[-1] = top[0] == 0 ? 0 : top[-1] % top[0];
        break;
      case Op::ShiftLeft:
        --top, top[-1] <<= top[0] & 63;
        break;
      case Op::ShiftRight:
        --top, top[-1] >>= top[0] & 63;
        break;
      case Op::And:
        --top, top[-1] &= top[0];
        break;
      case Op::Or:
        --top, top[-1] |= top[0];
        break;
      case Op::LogicalAnd:
        --top, top[-1] = top[-1] != 0 && top[0] != 0;
        break;
      case Op::LogicalOr:
        --top, top[-1] = top[-1] != 0 || top[0] != 0;
        break;
      case Op::Equal:
        --top, top[-1] = top[-1] == top[0];
        break;
      case Op::NotEqual:
        --top, top[-1] = top[-1] != top[0];
        break;
      case Op::Less:
        --top, top[-1] = top[-1] < top[0];
        break;
      case Op::LessEqual:
        --top, top[-1] = top[-1] <= top[0];
        break;
      case Op::Greater:
        --top, top[-1] = top[-1] > top[0];
        break;
      case Op::GreaterEqual:
        --top, top[-1] = top[-1] >= top[0];
        break;
      case Op::End:
        out.advance_to(text);
        return;
      case Op::ShortFlags:
      case Op::ShortSymbolic: {
        // Nearly all values are small ones, whose whole text is there already.
        const ChoiceTable& table = choices_[i->argument];
        if (top[-1] < table.texts.size()) [[likely]] {
          const auto& [begin, length] = table.texts[*--top];
          text = copy_literal(text, literals + begin, length);
          break;
        }
        [[fallthrough]];
      }
      default: {
        TextRun run(*this, data, size, out, names, limit);
        text = run.step(*i, text, top);
        if (run.full()) [[unlikely]] {
          out.advance_to(text);
          return;
        }
      }
    }
    ++i;
  }
}

void TextProgram::run_short(Bytes record, TextBuffer& out, const KernelNames& names) const {
  std::vector<std::byte> padded(needed_);
  std::copy(record.begin(), record.end(), padded.begin());
  execute(padded.data(), record.size(), out, names);
}

}  // namespace strata::ftrace
