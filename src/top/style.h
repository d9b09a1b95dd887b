// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::top {

// What a piece of the screen means. The terminal decides how that looks: in 256 colours, in 16, or
// in none (bold, reversed, underlined).
enum class Style : uint8_t {
  Plain,
  Dim,  // zero, unchanged, a unit
  Bold,
  Heading,   // the line above columns
  SortedBy,  // the heading of the column that orders the rows
  Selected,  // the line that keys are about
  Match,     // what was searched for
  KeyName,   // "F1"
  KeyLabel,  // what it does
  Warning,   // lost, unknown, estimated
  Error,
  Good,
  // States, in the colours of the timeline.
  User,
  System,
  Irq,
  Virt,
  Idle,
  Waiting,  // for a CPU
  Blocked,
  Unknown,
  // What else bars and numbers are of.
  Read,
  Written,
  Count_,
};

}  // namespace strata::top
