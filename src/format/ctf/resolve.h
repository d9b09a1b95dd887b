// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "format/ctf/description.h"

namespace strata::ctf {

// Connects fields whose length or choice depends on another field with that field: whoever refers
// to an integer gets a slot, a number, and the integer is told of it. While a record is read, the
// integer's value is kept in its slot.
//
// A path may lead to several integers: into a variant without naming one of its alternatives, it
// means the field of each that has it. All of them are then told of one slot, which is that path's
// own, so that whichever is in the record gives the value. (An integer can therefore have several
// slots: as one of many, and by its own name.) Of a variant that the reference lies in, only the
// alternative around it is meant: no other is in the same record.
//
// Gives the number of slots. Fails where a path leads nowhere, to no integer, or to a field that
// comes later.
Result<size_t> resolve(Description& description, const std::string& path);

}  // namespace strata::ctf
