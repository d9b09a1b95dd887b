// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cli/arguments.h"
#include "guest/guest_source.h"

namespace strata::cli {

using Guests = std::vector<std::unique_ptr<guest::GuestSource>>;

// The guests that were asked for. An error is wrong usage, but one of a file (the key, profiles).
Result<Guests> guests_of(const RecordArguments& arguments);

}  // namespace strata::cli
