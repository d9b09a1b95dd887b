// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "period/table.h"
#include "state/engine.h"

namespace strata::state {

// Periods that were added up beside the statistics of the whole: the first difference, or nothing.
class PeriodSums {
 public:
  PeriodSums(const period::Machine& sum, const Engine& engine) : sum_(sum), engine_(engine) {
    compare_cpus();
    compare_tasks();
    compare_vcpus();
    compare_devices();
    compare_interrupts();
  }
  const std::string& difference() const { return difference_; }

 private:
  void compare(const std::string& what, uint64_t sum, uint64_t whole) {
    if (sum != whole && difference_.empty())
      difference_ = what + ": " + std::to_string(sum) + " in periods, " + std::to_string(whole) +
                    " in the whole";
  }

  void compare_cpus() {
    for (CpuIndex index = 0; index < engine_.cpus().size(); ++index) {
      const Cpu& cpu = engine_.cpus()[index];
      if (!cpu.is_there) continue;
      const std::string name = "cpu " + std::to_string(index);
      const auto row = std::ranges::find(sum_.cpus, index, &period::CpuRow::number);
      if (row == sum_.cpus.end()) return compare(name, 0, 1);
      uint64_t unknown_task = 0;
      for (const Slot& slot : engine_.statistics().slots())
        if (slot.cpu == index && slot.task == kNoTask && slot.mode == Mode::Unknown)
          unknown_task += slot.cpu_ns;
      compare(name + " unknown task", row->values[period::Column::UnknownTask], unknown_task);
      using enum period::Column;
      constexpr period::Column kModeColumns[] = {Unknown, Idle,    User, Syscall, Trap,
                                                 Irq,     Softirq, Virt, Kernel};
      for (size_t mode = 0; mode < kModes; ++mode)
        compare(name + ' ' + std::string(name_of(Mode(mode))), row->values[kModeColumns[mode]],
                cpu.ns[mode]);
    }
  }

  void compare_tasks() {
    using period::Column;
    std::map<std::pair<int32_t, int64_t>, const period::TaskRow*> rows;
    for (const period::TaskRow& row : sum_.tasks) rows[{row.tid, row.start}] = &row;
    std::map<std::pair<int32_t, int64_t>, int> keys;
    for (const Task& task : engine_.tasks()) ++keys[{raw(task.tid), task.born}];
    for (TaskId id = 0; id < engine_.tasks().size(); ++id) {
      const Task& task = engine_.tasks()[id];
      // Two of one name that were made at one instant cannot be told apart.
      if (task.is_idle_task() || keys[{raw(task.tid), task.born}] > 1) continue;
      const std::string name = "task " + std::to_string(raw(task.tid));
      const auto found = rows.find({raw(task.tid), task.born});
      for (size_t state = 0; state + 1 < kTaskStates; ++state) {
        // One that never did anything has no row: nothing was known of it.
        if (found == rows.end() && TaskState(state) == TaskState::Unknown) continue;
        const auto column =
            std::ranges::find_if(period::kColumns, [&](const period::ColumnInfo& info) {
              return period::is_task_state(info.id) &&
                     period::state_name(info.id) == name_of(TaskState(state));
            });
        if (column == period::kColumns.end())
          return compare(name + std::string(name_of(TaskState(state))), 0, 1);
        compare(name + ' ' + std::string(name_of(TaskState(state))),
                found == rows.end() ? 0 : found->second->values[column->id], task.ns[state]);
      }
      if (found == rows.end()) continue;
      const auto& values = found->second->values;
      const Traffic traffic = engine_.descriptors().traffic(id);
      const BlockBytes block = engine_.block_devices().bytes_of(id);
      const std::vector<uint64_t> counted = engine_.counters().of(id);
      for (size_t i = 0; i < counted.size(); ++i)
        if (const auto counter = period::column_of_counter(engine_.counters().names()[i]))
          compare(name + ' ' + engine_.counters().names()[i], values[*counter], counted[i]);
      compare(name + " faults", values[Column::Faults], task.faults);
      compare(name + " migrations", values[Column::Migrations], task.migrations);
      compare(name + " wakeups", values[Column::Wakeups], task.wakeups);
      compare(name + " reads", values[Column::Reads], traffic.reads);
      compare(name + " bytes read", values[Column::ReadBytes], traffic.read_bytes);
      compare(name + " bytes written", values[Column::WrittenBytes], traffic.written_bytes);
      compare(name + " from disk", values[Column::DiskReadBytes], block.read);
      compare(name + " to disk", values[Column::DiskWrittenBytes], block.written);
    }
  }

  void compare_vcpus() {
    using enum period::Column;
    constexpr period::Column kStateColumns[] = {Unknown, Guest,     Hypervisor, UserSpace,
                                                Halted,  Preempted, Blocked};
    std::set<Tid> threads;
    for (const Vcpu& vcpu : engine_.vms().vcpus()) threads.insert(engine_.tasks()[vcpu.task].tid);
    if (threads.size() != engine_.vms().vcpus().size()) return;  // a thread became another one
    uint64_t exits = 0;
    for (const Vcpu& vcpu : engine_.vms().vcpus()) {
      const Tid tid = engine_.tasks()[vcpu.task].tid;
      const auto row = std::ranges::find(sum_.vcpus, raw(tid), &period::VcpuRow::tid);
      const std::string name = "vcpu " + std::to_string(raw(tid));
      if (row == sum_.vcpus.end()) return compare(name, 0, 1);
      for (size_t state = 0; state < kVcpuStates; ++state)
        compare(name + ' ' + std::string(name_of(VcpuState(state))),
                row->values[kStateColumns[state]], vcpu.ns[state]);
      for (const auto& [reason, sum] : vcpu.exits) exits += sum.count + sum.kernel_ns + sum.user_ns;
    }
    uint64_t told = 0;
    for (const period::ExitRow& row : sum_.exits)
      told += row.values[Exits] + row.values[Hypervisor] + row.values[UserSpace];
    compare("exits", told, exits);
  }

  void compare_devices() {
    using period::Column;
    for (const auto& [id, device] : engine_.block_devices().devices()) {
      const auto row = std::ranges::find(sum_.devices, raw(id), &period::DeviceRow::number);
      const std::string name = "device " + std::to_string(raw(id));
      if (row == sum_.devices.end()) return compare(name, 0, 1);
      compare(name + " busy", row->values[Column::Busy], device.busy_ns);
      compare(name + " depth", row->values[Column::Depth], device.depth_ns);
      compare(name + " requests", row->values[Column::Requests], device.requests);
      compare(name + " bytes", row->values[Column::ReadBytes], device.bytes.read);
    }
    for (const auto& [id, interface] : engine_.interfaces()) {
      const std::string& name = engine_.names().text(id);
      const auto row = std::ranges::find(sum_.interfaces, name, &period::InterfaceRow::name);
      if (row == sum_.interfaces.end()) return compare(name, 0, 1);
      compare(name + " in", row->values[Column::PacketsIn], interface.received.count);
      compare(name + " out", row->values[Column::WrittenBytes], interface.queued.bytes);
    }
    Traffic told;
    for (const period::FileRow& row : sum_.files)
      told += {row.values[Column::Reads], row.values[Column::Writes], row.values[Column::ReadBytes],
               row.values[Column::WrittenBytes]};
    Traffic whole;
    for (const File& file : engine_.descriptors().files().files()) whole += file.traffic;
    compare("files' reads", told.reads, whole.reads);
    compare("files' bytes", told.read_bytes + told.written_bytes,
            whole.read_bytes + whole.written_bytes);
  }

  void compare_interrupts() {
    for (const auto& [line, durations] : engine_.interrupts()) {
      const period::Latency what =
          line.first == Mode::Irq ? period::Latency::Irq : period::Latency::Softirq;
      const std::string& name = engine_.names().text(line.second);
      const auto row = std::ranges::find_if(sum_.latencies, [&](const period::LatencyRow& at) {
        return at.what == what && at.name == name;
      });
      if (row == sum_.latencies.end()) return compare(name, 0, durations.count);
      compare(name + " count", row->histogram.count, durations.count);
      compare(name + " time", row->histogram.sum_ns, durations.sum_ns);
      for (size_t i = 0; i < durations.histogram.size(); ++i)
        compare(name + " histogram", row->histogram.buckets[i], durations.histogram[i]);
    }
  }

  const period::Machine& sum_;
  const Engine& engine_;
  std::string difference_;
};

}  // namespace strata::state
