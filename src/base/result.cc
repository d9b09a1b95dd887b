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

Error error_at_column(const std::string& what, const std::string& text, uint64_t column,
                      const std::string& cause) {
  return {"", std::nullopt,
          what + ": in column " + std::to_string(column + 1) + ": " + cause + "\n  " + text +
              "\n  " + std::string(column, ' ') + "^"};
}

}  // namespace strata
