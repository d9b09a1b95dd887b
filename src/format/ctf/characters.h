// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/text_buffer.h"
#include "format/ctf/description.h"
#include "trace/field_text.h"

namespace strata::ctf {

inline std::string_view cut_at_nul(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  return text.substr(0, text.find('\0'));
}

// As Babeltrace quotes: what C escapes in a string is escaped.
void put_escaped(std::string_view text, TextBuffer& out);

// Text of another encoding up to its NUL; what is no character becomes U+FFFD.
std::string to_utf8(Bytes bytes, Encoding encoding);

}  // namespace strata::ctf
