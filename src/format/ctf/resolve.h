// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "format/ctf/description.h"

namespace strata::ctf {

// Connects fields whose length or choice depends on another field with that field: every integer
// that others refer to gets a slot, a number, and so does whoever refers to it. While a record is
// read, the integer's value is kept in its slot.
//
// Gives the number of slots. Fails where a path leads nowhere, to no integer, or to a field that
// comes later.
Result<size_t> resolve(Description& description, const std::string& path);

}  // namespace strata::ctf
