// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "ftrace/special_text.h"

namespace strata::ftrace {

// How deep a function lies below its caller, guessed from which functions called which on its CPU
// before: calls are indented by that.
class CallDepths {
 public:
  // `function` may be empty, where its name is not known.
  size_t enter(CpuId cpu, std::string_view caller, std::string_view function);

 private:
  std::map<CpuId, std::vector<std::string_view>> stacks_;
};

// Texts of the kernel tracers' own events: ftrace:function, func_repeats, kernel_stack, raw_data.
// Null for other types, and where a field is missing. `names` and `depths` must outlive it.
std::unique_ptr<SpecialText> function_text(const trace::EventType& type, const KernelNames& names,
                                           CallDepths& depths);

}  // namespace strata::ftrace
