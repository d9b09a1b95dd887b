// SPDX-License-Identifier: Apache-2.0
#include "live/exit_reasons.h"

#include "state/vm.h"

namespace strata::live {

void put_halts(HaltReasons& reasons) {
  for (uint32_t isa = 0; isa <= kAmd; ++isa)
    for (uint32_t place = 0; place < kReasons; ++place)
      reasons.is_halt[isa][place] = state::is_halt(exit_reason(isa, place)) ? 1 : 0;
}

std::string exit_reason(uint32_t isa, uint32_t place) {
  if (place == kOtherReason) return "other";
  const uint32_t reason = place < kNearReasons ? place : place - kNearReasons + kFarReason;
  const std::string_view name = state::exit_reason_name(isa, reason);
  return name.empty() ? "exit " + std::to_string(reason) : std::string(name);
}

}  // namespace strata::live
