// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "format/ctf/cursor.h"

namespace strata::ctf {

// Finds where a record ends and where, in it, fields lie that have no fixed offset.
//
// A flat program, made once for each event type: runs of fields of fixed size have become one step,
// so that an event of integers and a string is three. It gives the bit positions ("bases") that
// trace::Location::Based, BasedBits and Span count from. A type without any varying part needs no
// program at all.
struct Measure {
  enum class Kind : uint8_t {
    Skip,        // `bits`
    Align,       // to `bits`
    Mark,        // base number `base` is here
    Save,        // the integer `bits` further on, of `integer`'s type, goes to `slot`
    Integer,     // one of variable length
    Terminated,  // a string with units of `bits` bytes
    Counted,     // as many times `bits` as `slot` says
    Loop,        // as many times as `slot` says, or else `bits`; none: on at `jump`
    EndLoop,     // once more from `jump` on
    Choose,      // on at the step of the alternative of `variant` that `slot` selects
    Present,     // on at `jump` unless `slot` says that `optional` is there
    Jump,        // on at `jump`
  };
  struct Step {
    Kind kind{};
    uint16_t base = 0;
    int slot = -1;
    uint64_t bits = 0;
    uint32_t jump = 0;
    const ctf::Integer* integer = nullptr;
    const Variant* variant = nullptr;
    const Optional* optional = nullptr;
    std::vector<uint32_t> targets = {};  // Choose: a step for each alternative
  };

  std::vector<Step> steps;
  uint16_t base_count = 1;
  bool has_choices = false;  // then some bases may be absent

  // From where the record begins; bases count from the byte that this is in. False where the packet
  // ends first or the record makes no sense. `bases` has room for base_count.
  bool run(Cursor& at, Slots& slots, uint32_t* bases) const;
};

}  // namespace strata::ctf
