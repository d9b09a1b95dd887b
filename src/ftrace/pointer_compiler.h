// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ftrace/number_compiler.h"

namespace strata::ftrace {

// Compiles the kernel's many kinds of %p: symbols, addresses of the network, bytes.
class PointerCompiler {
 public:
  PointerCompiler(TextAssembler& code, NumberCompiler& numbers, const KernelNames& names)
      : code_(code), numbers_(numbers), names_(names) {}

  // `rest` begins behind the 'p'; what belongs to the conversion is taken off it. `star` is the
  // argument of a `*`, or null. No other width counts here.
  void pointer(std::string_view& rest, const Expression& argument, const Expression* star);

 private:
  // The field that holds an address of `size` bytes; else says why there is none.
  const trace::Field* address_field(const Expression& argument, uint32_t size,
                                    std::string_view invalid);
  void not_a_field(const Expression& e);
  void internet(std::string_view& rest, const Expression& argument);
  void socket_address(const Expression& e, uint32_t style);

  TextAssembler& code_;
  NumberCompiler& numbers_;
  const KernelNames& names_;
};

}  // namespace strata::ftrace
