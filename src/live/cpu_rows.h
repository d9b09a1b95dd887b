// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "live/slots.h"
#include "period/table.h"

namespace strata::live {

// The rows of CPUs, and what CPUs count for the machine: what their slots tell now, less what they
// told at the last edge.
class CpuRows {
 public:
  // All CPUs idle from here on, until a switch tells otherwise. `online`: those that are there,
  // whether or not they do anything.
  CpuRows(const Memory& memory, uint64_t now, std::span<const uint32_t> online);

  // What slots tell now. May be called again before what follows.
  void copy();
  // Periods begin here, with what was copied.
  void begin(uint64_t moment);
  // What happened up to `end`, when they were copied, since the last call. A CPU that was not there
  // has no row until something is heard of it.
  void tell(uint64_t end, bool tells_calls, period::Machine& machine);

 private:
  struct Known {
    CpuSlot slot = {};
    std::array<uint64_t, kCpuDoings> at_edge = {};
  };
  static void put_difference(const Known& before, const Known& now, bool tells_calls,
                             period::CpuRow::Values& values);

  Memory memory_;
  std::vector<bool> is_online_;
  std::vector<CpuSlot> copies_;
  std::vector<Known> known_;
};

}  // namespace strata::live
