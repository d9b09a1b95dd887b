// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "record/wish.h"

namespace strata::cli {

// What was said, of this machine or of a guest; an error is wrong usage.
Result<record::Wish> wish_of(const WishArguments& arguments);

// Besides, from a file of this machine. An error is one of the file.
Status read_profiles(const WishArguments& arguments, record::Wish& wish);

}  // namespace strata::cli
