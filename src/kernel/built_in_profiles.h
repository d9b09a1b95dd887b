// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::kernel {

// The profiles that strata comes with, in the format of any file of profiles.
extern const std::string_view kBuiltInProfiles;

}  // namespace strata::kernel
