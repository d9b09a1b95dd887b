// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "period/columns.h"
#include "top/sheet.h"

namespace strata::top {

// What performance counters counted, as columns of lists, in the order of the tables' columns from
// period::kFirstCounter on.
inline constexpr std::array<SheetColumn, period::kCounterColumns> kCounterSheetColumns = {{
    {"cycles", "CYC/s", Shown::PerSecond, "cycles of the processor"},
    {"instr", "INS/s", Shown::PerSecond, "instructions"},
    {"cache", "CACH/s", Shown::PerSecond, "accesses to the last cache"},
    {"misses", "MISS/s", Shown::PerSecond, "of these, those that went to memory"},
    {"branches", "BRA/s", Shown::PerSecond, "branches"},
    {"mispred", "MISP/s", Shown::PerSecond, "branches that were predicted wrongly"},
    {"buscycles", "BUSC/s", Shown::PerSecond, "cycles of the bus"},
    {"nofetch", "STALF/s", Shown::PerSecond, "cycles in which no instructions came", 7},
    {"stalled", "STALB/s", Shown::PerSecond, "cycles in which instructions had to wait", 7},
    {"refcycles", "REFC/s", Shown::PerSecond, "cycles of a clock of one frequency"},
    {"cpuclock", "CCLK%", Shown::Share, "perf's clock of the CPU"},
    {"clock", "TCLK%", Shown::Share, "perf's clock of the task"},
    {"pagefaults", "PGFLT/s", Shown::PerSecond, "page faults that the processor raised", 7},
    {"minor", "MINF/s", Shown::PerSecond, "of these, those that were served at once"},
    {"majorfaults", "MAJF/s", Shown::PerSecond, "of these, those that took a wait"},
    {"switched", "CSW/s", Shown::PerSecond, "switches between tasks, that gave it a CPU"},
    {"migrated", "MIGR/s", Shown::PerSecond, "that it came from another CPU"},
    {"aligned", "ALGN/s", Shown::PerSecond, "accesses that the kernel had to put together"},
    {"emulated", "EMUL/s", Shown::PerSecond, "instructions that the kernel had to carry out"},
    {"cgroups", "CGSW/s", Shown::PerSecond, "switches between cgroups, that gave it a CPU"},
}};

}  // namespace strata::top
