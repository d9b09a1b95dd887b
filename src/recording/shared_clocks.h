// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recording/description.h"
#include "trace/trace.h"

namespace strata::recording {

// Puts the traces of one recording on one timeline; `parts` are theirs, one for each.
//
// Those with the clock of the host's kernel take their time from it as the kernel's do: then events
// of one are among those of the other where they belong, to the tick. A trace.dat knows the whole
// recording's clock, a CTF trace only what was known when it began.
//
// Those of guests go by the recording's maps to the host's clock, and from there as the host's.
// They are told which machine they are of, too: a guest may have its host's name.
void share_clocks(const Description& description, std::span<const Part> parts,
                  std::span<const std::unique_ptr<trace::Trace>> traces);

// The map from this clock in this segment to another clock of the recording, one hop; null: none.
const trace::ClockMap* map_from(const Description& description, const std::string& clock,
                                uint32_t segment);

// By name; null: no such machine.
const Machine* find_machine(const Description& description, const std::string& name);
bool is_of_guest(const Description& description, const Part& part);

}  // namespace strata::recording
