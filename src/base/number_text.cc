// SPDX-License-Identifier: Apache-2.0
#include "base/number_text.h"

namespace strata {

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, ",");
  return text;
}

}  // namespace strata
