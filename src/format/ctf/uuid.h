// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strata::ctf {

// The 16 bytes of "2a6422d0-6cee-11e0-8c08-cb07d7b3a564".
std::optional<std::string> parse_uuid(std::string_view text);
// And back, in small letters.
std::string uuid_text(std::string_view bytes);

}  // namespace strata::ctf
