// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "ftrace/text_program.h"

namespace strata::ftrace {

// Puts a TextProgram together: keeps count of its stack, its bound and the part of the record that
// it needs, and joins literals to the instruction that they precede.
class TextAssembler {
 public:
  struct Step {
    Op op;
    uint32_t offset = 0;
    uint32_t argument = 0;
    uint8_t small = 0;
  };

  void literal(std::string_view text) { pending_ += text; }
  // Prints: takes the literal in front of it, and `pops` numbers from the stack. `bound`: how much
  // it prints at most; 0 for what asks for room itself.
  void print(Step step, int pops, size_t bound);
  // Computes: takes `pops` numbers from the stack and leaves one.
  void compute(Step step, int pops);
  void constant(uint64_t value);

  // The record's bytes up to `end` will be read without a question.
  void need(uint64_t end);

  uint32_t add(const Conversion& conversion);
  uint32_t add(ChoiceTable table);
  // Adds `texts`, those of the values from 0 on, to a table.
  void add_texts(uint32_t table, const std::vector<std::string>& texts);
  uint32_t add(std::string string);
  uint32_t add(uint64_t constant);

  // A jump to a place that is not known yet; land() makes it here.
  size_t jump(Op op);
  void land(size_t jump);

  // Of several branches, each begins with the stack as it was before the first.
  int depth() const { return depth_; }
  void restore_depth(int depth) { depth_ = depth; }

  bool too_large() const { return too_large_; }
  // Nothing where it became too large, or needs a deeper stack than there is.
  std::optional<TextProgram> finish();

 private:
  void flush();
  Instruction& append(Step step);
  void pop(int count);

  TextProgram program_;
  std::string pending_;
  int depth_ = 0;
  bool too_large_ = false;
};

}  // namespace strata::ftrace
