// SPDX-License-Identifier: Apache-2.0
#include "ftrace/text_program.h"

#include "ftrace/text_copy.h"
#include "ftrace/text_run.h"

namespace strata::ftrace {
namespace {

template <typename T>
T at(const std::byte* data, const Instruction& i) {
  return load_once<T>(data + i.offset);
}

// At least `digits` digits.
char* write_hex_padded(char* out, uint64_t value, unsigned digits) {
  const unsigned bits = 64 - static_cast<unsigned>(std::countl_zero(value | 1));
  unsigned count = (bits + 3) / 4;
  if (count < digits) count = digits;
  for (unsigned i = count; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
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
  TextRun run(*this, data, size, out, names);

  while (true) {
    text = copy_literal(text, literals + i->literal, i->literal_size);
    switch (i->op) {
      case Op::Literal:
        break;
      case Op::Signed32:
        text = write_decimal(text, static_cast<int64_t>(at<int32_t>(data, *i)));
        break;
      case Op::Unsigned32:
        text = write_decimal(text, static_cast<uint64_t>(at<uint32_t>(data, *i)));
        break;
      case Op::Signed64:
        text = write_decimal(text, at<int64_t>(data, *i));
        break;
      case Op::Unsigned64:
        text = write_decimal(text, at<uint64_t>(data, *i));
        break;
      case Op::Signed16:
        text = write_decimal(text, static_cast<int64_t>(at<int16_t>(data, *i)));
        break;
      case Op::Unsigned16:
        text = write_decimal(text, static_cast<uint64_t>(at<uint16_t>(data, *i)));
        break;
      case Op::Signed8:
        text = write_decimal(text, static_cast<int64_t>(at<int8_t>(data, *i)));
        break;
      case Op::Unsigned8:
        text = write_decimal(text, static_cast<uint64_t>(at<uint8_t>(data, *i)));
        break;
      case Op::Hex64:
        text = write_hex_padded(text, at<uint64_t>(data, *i), i->small);
        break;
      case Op::Hex32:
        text = write_hex_padded(text, at<uint32_t>(data, *i), i->small);
        break;
      case Op::Hex16:
        text = write_hex_padded(text, at<uint16_t>(data, *i), i->small);
        break;
      case Op::Hex8:
        text = write_hex_padded(text, at<uint8_t>(data, *i), i->small);
        break;
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
        switch (i->small) {
          case 1:
            *top++ = at<uint8_t>(data, *i);
            break;
          case 2:
            *top++ = at<uint16_t>(data, *i);
            break;
          case 4:
            *top++ = at<uint32_t>(data, *i);
            break;
          default:
            *top++ = at<uint64_t>(data, *i);
        }
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
      default:
        text = run.step(*i, text, top);
        if (run.full()) [[unlikely]] {
          out.advance_to(text);
          return;
        }
    }
    ++i;
  }
}

void TextProgram::run_short(Bytes record, TextBuffer& out, const KernelNames& names) const {
  std::vector<std::byte> padded(needed_);
  std::memcpy(padded.data(), record.data(), record.size());
  execute(padded.data(), record.size(), out, names);
}

}  // namespace strata::ftrace
