// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "format/ctf/description.h"

namespace strata::ctf {

// The text in a `metadata` file, which may be cut into packets (magic 0x75D11D57, either byte
// order). `order` is told where the packets tell it.
struct MetadataText {
  std::string text;
  std::optional<ByteOrder> order;
};
Result<MetadataText> unpack_metadata(Bytes file, const std::string& path);

// The language is told by the text's first character: an ASCII record separator begins CTF 2.
// Errors name line and column (CTF 1.8), or the fragment's number and the key (CTF 2).
Result<Description> parse_metadata(const MetadataText& metadata, const std::string& path);

Result<Description> parse_tsdl(std::string_view text, const std::string& path);
Result<Description> parse_ctf2(std::string_view text, const std::string& path);

}  // namespace strata::ctf
