// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::top {

// A path for a folder of this process, in memory, that nothing is at. It is for whoever makes it to
// remove; what others left there who were killed is removed here.
Result<std::string> own_folder(std::string_view what);

}  // namespace strata::top
