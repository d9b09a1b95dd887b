// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "guest/key.h"

namespace strata::cli {

// From the file that was given, or from where it is looked for.
inline Result<guest::Key> read_guest_key(const std::string& file) {
  return file.empty() ? guest::Key::find() : guest::Key::read(file);
}

}  // namespace strata::cli
