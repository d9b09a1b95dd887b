// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/bpf/vcpus.h"
#include "live/slots.h"
#include "period/table.h"

namespace strata::live {

// The memory in which virtual CPUs are counted.
struct VcpuMemory {
  std::span<VcpuSlot> vcpus;
  std::span<VcpuPlace> places;  // as many as there are slots of tasks
  std::span<const GuestCpu> cpus;
};

// The rows of virtual machines: what the slots of their CPUs and of these CPUs' threads tell now,
// less what they told at the last edge. And what follows for other rows: whose threads are a
// virtual machine's, and how long tasks and CPUs ran guests' code.
//
// Slots are copied first, and looked at then, as those of tasks are.
class VmRows {
 public:
  // What the virtual machine of a process is called; empty: nobody told.
  using NameOf = std::function<std::string(int32_t pid)>;

  VmRows(const Memory& tasks, const VcpuMemory& vcpus, NameOf name_of);

  // From `now` on this thread is a virtual CPU, whether or not the programs ever hear of it.
  void add(int32_t tid, std::optional<uint32_t> number, uint64_t now);
  // That the last table told of it.
  bool has_told(int32_t tid) const { return told_.contains(tid); }

  // What slots tell now. May be called again before what follows.
  void copy();
  // Periods begin here, with what was copied.
  void begin(uint64_t moment);
  // What happened from `begin` to `end`, when they were copied. The rows of tasks and CPUs are
  // there. The slots of threads that are no more are free after that.
  void tell(uint64_t begin, uint64_t end, bool tells_calls, period::Machine& machine);

 private:
  struct Known {
    bool is_copied = false;
    VcpuSlot copy = {};
    TaskSlot task = {};
    VcpuSlot edge = {};  // at the last edge, where it was this thread's then
  };
  struct Told {
    uint32_t number = 0;
    uint64_t guest_ns = 0;
    bool is_in_guest = false;   // at the end of the period
    bool was_in_guest = false;  // at its beginning
  };
  using Exits = std::map<std::pair<int32_t, std::string>, period::ExitRow::Values>;

  bool copy(const VcpuSlot& slot, Known& known) const;
  VcpuSlot charged(const Known& known, uint64_t moment);
  period::VcpuRow row_of(const Known& known, const VcpuSlot& now, uint64_t end,
                         const std::vector<period::VcpuRow>& others);
  static void tell_exits(const VcpuSlot& before, const VcpuSlot& now, period::VcpuRow& row,
                         Exits& exits);
  void tell_tasks(bool tells_calls, std::vector<period::TaskRow>& rows) const;
  void tell_cpus(bool tells_calls, std::vector<period::CpuRow>& rows);
  void free(VcpuSlot& slot);
  const std::string& name(int32_t pid);
  static uint32_t number_of(const Known& known, const std::vector<period::VcpuRow>& others);

  const Memory tasks_;
  const VcpuMemory memory_;
  const NameOf name_of_;
  std::vector<Known> known_;                        // by slot
  std::unordered_map<int32_t, Told> told_;          // by thread
  std::unordered_map<int32_t, std::string> names_;  // by process, of those that were told
  std::vector<uint64_t> guest_ns_;                  // by CPU
  std::vector<uint64_t> guest_ns_before_;           // at the last edge
  uint64_t no_room_ = 0;                            // since the last table
};

}  // namespace strata::live
