// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "period/feed.h"

namespace strata::live {

// How much is kept in the kernel, in memory that is taken at once. What does not fit is missing in
// the tables, and counted in Column::NoRoom.
struct Limits {
  uint32_t tasks = 32768;        // threads, and those that ended since the last table
  uint32_t descriptors = 16384;  // that something went through
  uint32_t vcpus = 2048;         // of virtual machines
};

// This machine, now: a feed whose tables end at the moment in which they are asked for. The first
// period begins when this returns.
//
// eBPF programs count where things happen, in memory that is mapped here; a table is made by
// reading it. All of it goes away with the process, however that ends. An error says what of
// `groups` cannot be had, and why.
Result<std::unique_ptr<period::Feed>> machine_feed(period::Groups groups,
                                                   const Limits& limits = {});

}  // namespace strata::live
