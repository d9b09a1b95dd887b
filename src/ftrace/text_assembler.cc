// SPDX-License-Identifier: Apache-2.0
#include "ftrace/text_assembler.h"

#include <algorithm>

#include "ftrace/text_copy.h"

namespace strata::ftrace {
namespace {

constexpr size_t kMaxInstructions = 100'000;
constexpr size_t kMaxBound = 1 << 20;

}  // namespace

Instruction& TextAssembler::append(Step step) {
  if (program_.instructions_.size() >= kMaxInstructions) {
    too_large_ = true;
    program_.instructions_.pop_back();
  }
  Instruction& instruction = program_.instructions_.emplace_back();
  instruction.op = step.op;
  instruction.offset = step.offset;
  instruction.argument = step.argument;
  instruction.small = step.small;
  return instruction;
}

void TextAssembler::pop(int count) {
  depth_ -= count;
  if (depth_ < 0) {  // a mistake of the compiler's, not of the format
    depth_ = 0;
    too_large_ = true;
  }
}

void TextAssembler::print(Step step, int pops, size_t bound) {
  constexpr size_t kMaxLiteral = UINT16_MAX;
  while (pending_.size() > kMaxLiteral) {
    std::string rest = pending_.substr(kMaxLiteral);
    pending_.resize(kMaxLiteral);
    flush();
    pending_ = std::move(rest);
  }
  pop(pops);
  Instruction& instruction = append(step);
  instruction.literal = static_cast<uint32_t>(program_.literals_.size());
  instruction.literal_size = static_cast<uint16_t>(pending_.size());
  program_.literals_.insert(program_.literals_.end(), pending_.begin(), pending_.end());
  program_.bound_ += pending_.size() + bound;
  if (program_.bound_ > kMaxBound) too_large_ = true;
  pending_.clear();
}

void TextAssembler::flush() {
  if (!pending_.empty()) print({Op::Literal}, 0, 0);
}

void TextAssembler::compute(Step step, int pops) {
  pop(pops);
  append(step);
  if (++depth_ > static_cast<int>(TextProgram::kStackSize)) too_large_ = true;
}

void TextAssembler::constant(uint64_t value) { compute({Op::Constant, 0, add(value)}, 0); }

void TextAssembler::need(uint64_t end) {
  program_.needed_ = std::max(program_.needed_, static_cast<size_t>(end));
}

uint32_t TextAssembler::add(const Conversion& conversion) {
  auto& all = program_.conversions_;
  const auto found = std::find(all.begin(), all.end(), conversion);
  if (found != all.end()) return static_cast<uint32_t>(found - all.begin());
  if (all.size() > UINT16_MAX - 1) {
    too_large_ = true;
    return 0;
  }
  all.push_back(conversion);
  return static_cast<uint32_t>(all.size() - 1);
}

uint32_t TextAssembler::add(ChoiceTable table) {
  program_.choices_.push_back(std::move(table));
  return static_cast<uint32_t>(program_.choices_.size() - 1);
}

void TextAssembler::add_texts(uint32_t table, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    program_.choices_[table].texts.emplace_back(program_.literals_.size(), text.size());
    program_.literals_.insert(program_.literals_.end(), text.begin(), text.end());
  }
}

uint32_t TextAssembler::add(std::string string) {
  program_.strings_.push_back(std::move(string));
  return static_cast<uint32_t>(program_.strings_.size() - 1);
}

uint32_t TextAssembler::add(uint64_t constant) {
  program_.constants_.push_back(constant);
  return static_cast<uint32_t>(program_.constants_.size() - 1);
}

size_t TextAssembler::jump(Op op) {
  flush();
  if (op == Op::JumpIfZero) pop(1);
  append({op});
  return program_.instructions_.size() - 1;
}

void TextAssembler::land(size_t jump) {
  flush();
  program_.instructions_[jump].argument = static_cast<uint32_t>(program_.instructions_.size());
}

std::optional<TextProgram> TextAssembler::finish() {
  print({Op::End}, 0, 0);
  if (too_large_) return std::nullopt;
  program_.literals_.resize(program_.literals_.size() + kCopySlack);
  program_.bound_ += kCopySlack;
  program_.instructions_.shrink_to_fit();
  return std::move(program_);
}

}  // namespace strata::ftrace
