// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "top/key.h"

namespace strata::top {

// What a terminal sends, as keys: UTF-8, the sequences of function keys as xterm, screen, rxvt and
// the Linux console have them, and the mouse's (SGR, 1006). Whatever else comes is left out.
class KeyReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // Empty: no more keys, or not all bytes of the next one have come.
  std::optional<Key> next();
  // There are bytes that may become a key: an Escape that was pressed, or the first byte of a
  // sequence. When none have followed for a while, they are what they are.
  bool is_waiting() const { return !bytes_.empty(); }
  std::optional<Key> give_up();

 private:
  struct Found {
    size_t size = 0;  // 0: more bytes are needed
    std::optional<Key> key = std::nullopt;
  };
  Found first() const;
  Found after_escape() const;

  std::string bytes_;
};

}  // namespace strata::top
