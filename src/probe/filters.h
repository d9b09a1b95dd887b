// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "probe/predicate.h"
#include "probe/state.h"

namespace strata::probe {

// Whether any reader of this policy's rings wants a record of this id with these fields, as far as
// they have told.
bool is_wanted(const Attachment& on, uint32_t id, View fields);

}  // namespace strata::probe
