// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstring>

namespace strata {

std::string Error::text() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (offset) text += "at byte " + std::to_string(*offset) + ": ";
  return text + cause;
}

Error system_error(std::string file, std::string what, int error_number) {
  return {std::move(file), std::nullopt, std::move(what) + ": " + strerror(error_number)};
}

}  // namespace strata
