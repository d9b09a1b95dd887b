// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ftrace/number_compiler.h"

namespace strata::ftrace {

// Compiles the arguments of %s: fields, located strings, names of flags and values, lists of bytes.
class StringCompiler {
 public:
  StringCompiler(TextAssembler& code, NumberCompiler& numbers, const KernelNames& names)
      : code_(code), numbers_(numbers), names_(names) {}

  // `stars`: how many numbers of `*` lie on the stack, 0 or 1; they are taken.
  void string(const Expression& e, const Conversion& c, int stars);

  bool refused() const { return refused_; }

 private:
  void nothing(int stars);
  void string_of(const Expression& e, const Conversion& c, int stars);
  void conditional_string(const Expression& e, const Conversion& c, int stars);
  void field_string(const trace::Field& field, const Conversion& c, int stars);
  void choice(const Expression& e, const Conversion& c, int stars);
  void hex_bytes(const Expression& e, int stars);
  void numbers(const Expression& e, int stars);
  void function_string(const Expression& e);

  TextAssembler& code_;
  NumberCompiler& numbers_;
  const KernelNames& names_;
  int depth_ = 0;
  bool refused_ = false;
};

}  // namespace strata::ftrace
