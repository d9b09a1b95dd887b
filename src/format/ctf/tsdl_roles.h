// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "format/ctf/description.h"

namespace strata::ctf::tsdl {

// In TSDL a field is known by its name: "timestamp_end" in a packet context is the packet's end.
void give_roles(FieldClass& fields, Scope scope);

// Makes every field that is a time by its role a reading of the stream's clock, whether or not it
// says so; tells whether there is one.
bool map_times(FieldClass& fields);

bool has_role(const FieldClass& fields, FieldRole role);

}  // namespace strata::ctf::tsdl
