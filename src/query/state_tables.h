// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "query/machines.h"
#include "query/table.h"

namespace strata::query {

// Tables of what the state engine finds. `machines` must outlive them.

// cpu, cpu_state, sched_slice, irq
std::vector<std::unique_ptr<Table>> cpu_tables(Machines& machines);
// process, thread, state, syscall, wakeup, migration
std::vector<std::unique_ptr<Table>> task_tables(Machines& machines);
// vm, vcpu, vcpu_state, vm_exit
std::vector<std::unique_ptr<Table>> vm_tables(Machines& machines);

// fd, block_io
std::vector<std::unique_ptr<Table>> record_tables(Machines& machines);
// fused_cpu, fused_state
std::vector<std::unique_ptr<Table>> fused_tables(Machines& machines);

}  // namespace strata::query
