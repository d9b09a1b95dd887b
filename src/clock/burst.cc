// SPDX-License-Identifier: Apache-2.0
#include "clock/burst.h"

namespace strata::clock {

bool add_burst(const Burst& burst, const Origin& origin, Corridor& corridor) {
  for (const Crossing& crossing : burst.forth)
    if (!corridor.add_below(origin.point_of_forth(crossing))) return false;
  for (const Crossing& crossing : burst.back)
    if (!corridor.add_above(origin.point_of_back(crossing))) return false;
  return true;
}

}  // namespace strata::clock
