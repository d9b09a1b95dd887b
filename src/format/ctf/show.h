// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/text_buffer.h"
#include "format/ctf/cursor.h"

namespace strata::ctf {

// A value as Babeltrace prints it; a structure: { a = 1, b = "x", c = [ [0] = 1, [1] = 2 ] }. False
// where the record ends first.
bool show(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out);

// The same of a packet's context, without what is only for reading the packet (sizes, times,
// counters). Nothing where nothing else is told.
bool show_packet_context(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out);

// One value as JSON, whatever it is made of.
bool show_json(const FieldClass& type, Cursor& at, Slots& slots, TextBuffer& out);

}  // namespace strata::ctf
