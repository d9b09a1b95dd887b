// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/probed_files.h"
#include "collect/site_filter.h"
#include "probe/abi.h"
#include "record/event_choice.h"
#include "trace/selection.h"

namespace strata::record {

// Probes of programs that are to be recorded: files, each with those of its sites that were chosen.
struct AppRequest {
  std::vector<collect::ProbedFile> files;
  std::vector<collect::ProbedFile> all;  // with all their sites: what can be chosen later
  collect::SiteFilters filters;
  uint32_t contexts = 0;      // what events tell of their threads: a mask of probe::abi's
  uint64_t buffer_bytes = 0;  // of each ring; 0: chosen
  // When a ring is full; a flight overwrites.
  probe::abi::Policy policy = probe::abi::Policy::Discard;
  std::chrono::microseconds wait{};  // Policy::Block: for so long at most
  // Whether a probe reads the clock not before what precedes it has happened, so that a system call
  // lies between the probes around it: for recordings in which the kernel tells its part.
  bool ordered_clock = false;

  std::vector<std::string> remarks;  // what of the wishes was left out

  bool empty() const { return files.empty(); }
};

// Whether a pattern as of -e chooses any of these sites.
bool chooses_any(const trace::EventPattern& pattern, const std::vector<collect::ProbedFile>& files);

// What of a session's change concerns probes of programs. One that is both enabled and disabled is
// enabled.
struct AppChange {
  std::vector<std::string> enable;  // patterns
  std::vector<std::string> disable;

  bool empty() const { return enable.empty() && disable.empty(); }
};
// The files with the sites that are chosen then.
std::vector<collect::ProbedFile> choose_again(const AppRequest& request, const AppChange& change);

// The probes of the programs that were named (see collect::probed_files()). A wish whose pattern
// chooses some of them is for them, and is taken out of `wishes`: the others are for the kernel.
// Without one, all are chosen. Filters are as for the kernel's events (choose()): those for all,
// and those of the last wish that chooses a probe. One that names a field that none of its probes
// has is an error; a probe that lacks the field, among others that have it, cannot fulfil the
// filter and is left out, with a remark.
Result<AppRequest> choose_probes(const std::vector<std::string>& programs,
                                 std::vector<EventWish>& wishes,
                                 const std::vector<std::string>& filters_for_all);

}  // namespace strata::record
