// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/probed_files.h"
#include "collect/site_filter.h"
#include "record/event_choice.h"

namespace strata::record {

// Probes of programs that are to be recorded: files, each with those of its sites that were chosen.
struct AppRequest {
  std::vector<collect::ProbedFile> files;
  collect::SiteFilters filters;
  uint32_t contexts = 0;      // what events tell of their threads: a mask of probe::abi's
  uint64_t buffer_bytes = 0;  // of each ring; 0: chosen
  // Whether a probe reads the clock not before what precedes it has happened, so that a system call
  // lies between the probes around it: for recordings in which the kernel tells its part.
  bool ordered_clock = false;

  std::vector<std::string> remarks;  // what of the wishes was left out

  bool empty() const { return files.empty(); }
};

// The probes of the programs that were named (see collect::probed_files()). A wish whose pattern
// chooses some of them is for them, and is taken out of `wishes`: the others are for the kernel.
// Without one, all are chosen. Filters are as for the kernel's events (choose()): those for all,
// and those of the last wish that chooses a probe. One that names a field that none of its probes
// has is an error; a probe that lacks the field, among others that have it, cannot fulfil the
// filter and is left out, with a remark.
Result<AppRequest> choose_probes(const std::vector<std::string>& programs,
                                 std::vector<EventWish>& wishes,
                                 const std::vector<std::string>& filters_for_all);

// "tid,comm,cpu", as a mask.
Result<uint32_t> parse_contexts(const std::vector<std::string>& names);

}  // namespace strata::record
