// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ftrace/text_program.h"

namespace strata::ftrace {

// The less usual instructions of a program, run over one record.
class TextRun {
 public:
  // The text of the event may go to about `limit` bytes of `out`.
  TextRun(const TextProgram& program, const std::byte* data, size_t size, TextBuffer& out,
          const KernelNames& names, size_t limit)
      : program_(program), data_(data), size_(size), out_(out), names_(names), limit_(limit) {}

  // Runs one instruction that the main loop does not know. `text` is the end of the text, `stack`
  // the first free place of the stack.
  char* step(const Instruction& instruction, char* text, uint64_t*& stack);

  // The text has become too long: the run ends here.
  bool full() const { return full_; }

 private:
  struct Located {
    uint32_t offset;
    uint32_t size;
  };
  Located locate(const Instruction& instruction) const;
  uint64_t number_at(uint64_t offset, unsigned bytes) const;
  std::string_view text_from(uint64_t offset, uint64_t size) const;

  // Room for `extra` characters and for all that has a bound.
  char* room(char* text, size_t extra);
  char* put(char* text, std::string_view added);

  char* integer(char* text, const Conversion& c, uint64_t value, uint64_t*& stack);
  // Each `star` is the number of a `*`, where the conversion has one.
  char* string(char* text, const Conversion& c, std::string_view string, int32_t star);
  int32_t pop_star(const Conversion& c, uint64_t*& stack) const;
  char* flags(char* text, const Instruction& instruction, uint64_t*& stack);
  char* symbolic(char* text, const Instruction& instruction, uint64_t*& stack);
  char* symbol(char* text, Op op, uint64_t address);
  char* hex_bytes(char* text, uint64_t offset, uint64_t count, char separator);
  char* numbers(char* text, uint64_t offset, uint64_t count, uint64_t bytes);
  char* bitmask(char* text, const Instruction& instruction, uint64_t*& stack);
  char* cpu_list(char* text, const Instruction& instruction, uint64_t*& stack);
  char* socket_address(char* text, Located at, uint32_t style);

  const TextProgram& program_;
  const std::byte* data_;
  size_t size_;
  TextBuffer& out_;
  const KernelNames& names_;
  size_t limit_;
  bool full_ = false;
};

}  // namespace strata::ftrace
