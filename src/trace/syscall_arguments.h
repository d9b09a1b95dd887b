// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "trace/field.h"

namespace strata::trace {

struct EventType;

// An argument of a system call, in the event that tells of its entry. Tracers write it in one of
// three ways: as an element of an array of all arguments, where one type of event is for all calls;
// as the field at its place; or as a field of its name, with those left out that the kernel would
// only write to. `number` counts from 0; `names` are what such fields are called, whichever there
// is. Reads nothing where it is not told.
FieldRef syscall_argument(const EventType& type, uint32_t number,
                          std::initializer_list<std::string_view> names);

// An argument that is a text, which only some tracers follow the pointer to.
FieldRef syscall_text(const EventType& type, std::initializer_list<std::string_view> names);

}  // namespace strata::trace
