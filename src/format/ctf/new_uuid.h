// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::ctf {

using Uuid = std::array<uint8_t, 16>;

// One that nobody else has.
Uuid random_uuid();
// The same for the same name, always and everywhere.
Uuid uuid_of_name(std::string_view name);

}  // namespace strata::ctf
