// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "record/chunks.h"

namespace strata::record {

// Deletes the oldest of a flight's snapshots in its folder, until what remains is within the
// limits; the newest stays in any case. Recordings that are no snapshots are left alone.
void delete_old_snapshots(const std::string& folder, const Keep& keep, int64_t now_ns);

}  // namespace strata::record
