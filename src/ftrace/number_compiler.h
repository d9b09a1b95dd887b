// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "ftrace/print_format.h"
#include "ftrace/text_assembler.h"

namespace strata::ftrace {

// Compiles the expressions of a print format that are numbers. All are 64 bits wide and have no
// sign, as libtraceevent has it: a field is not sign-extended, and a cast only cuts off.
class NumberCompiler {
 public:
  NumberCompiler(TextAssembler& code, const trace::EventType& type, const KernelNames& names)
      : code_(code), names_(names), swap_(type.order != kNativeOrder) {}

  // Leaves the number that `e` is on the stack.
  void number(const Expression& e);

  // A number in place: where it lies, its size, and how many of its bytes count after casts.
  struct Loaded {
    uint32_t offset;
    uint32_t size;
    uint32_t bytes;
  };
  std::optional<Loaded> loaded(const Expression& e) const;

  // An expression was nested too deeply.
  bool refused() const { return refused_; }

 private:
  std::optional<std::pair<uint32_t, uint32_t>> place_of(const Expression& e) const;
  void number_of(const Expression& e);
  void load(const trace::Field& field);
  void mask(uint64_t bits);
  void masked(const Expression& e, uint64_t bits);
  void function_number(const Expression& e);
  void operation(const Expression& e);
  void conditional_number(const Expression& e);
  void element(const Expression& e);

  TextAssembler& code_;
  const KernelNames& names_;
  bool swap_;
  int depth_ = 0;
  bool refused_ = false;
};

// What an instruction that goes through a locator says of it.
uint8_t locator_of(const trace::Field& field);

// Through casts, to what they are applied to.
const Expression& uncast(const Expression& e);

}  // namespace strata::ftrace
