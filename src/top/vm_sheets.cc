// SPDX-License-Identifier: Apache-2.0
#include "top/vm_sheets.h"

#include <array>

#include "top/cell_values.h"
#include "top/task_sheet.h"

namespace strata::top {
namespace {

using period::Column;

enum VmId : size_t {
  kPid,
  kTid,
  kVcpu,
  kState,
  kGuest,
  kHypervisor,
  kUserSpace,
  kHalted,
  kPreempted,
  kBlocked,
  kUnknown,
  kExits,
  kInjections,
  kIpis,
  kMmio,
  kPio,
  kMsr,
  kFaults,
  kBy,
  kName,
  kVmColumns_
};

constexpr std::array<SheetColumn, kVmColumns_> kVmColumns = {{
    {"pid", "PID", Shown::Id, "the virtual machine's process"},
    {"tid", "TID", Shown::Id, "the virtual CPU's thread"},
    {"vcpu", "VCPU", Shown::Id, "the virtual CPU's number; of a machine how many it has", 5},
    {"state", "STATE", Shown::Text, "at the end", 10},
    {"guest", "GUEST%", Shown::Share, "ran the guest's code"},
    {"hyp", "HYP%", Shown::Share, "the host's kernel handled exits"},
    {"usr", "USR%", Shown::Share, "the program that emulates the machine handled exits"},
    {"halted", "HALT%", Shown::Share, "the guest had nothing to do"},
    {"preempted", "PREE%", Shown::Share, "could run, but its CPU ran another task"},
    {"block", "BLK%", Shown::Share, "its thread waited for something else"},
    {"unknown", "UNKN%", Shown::Share, "nobody told, or events were lost"},
    {"exits", "EXIT/s", Shown::PerSecond, "from the guest to its host"},
    {"inj", "INJ/s", Shown::PerSecond, "interrupts that were put into the guest"},
    {"ipis", "IPI/s", Shown::PerSecond, "interrupts between the guest's CPUs"},
    {"mmio", "MMIO/s", Shown::PerSecond, "accesses to devices by memory"},
    {"pio", "PIO/s", Shown::PerSecond, "accesses to devices by ports"},
    {"msr", "MSR/s", Shown::PerSecond, "accesses to registers that the hypervisor keeps"},
    {"faults", "FLT/s", Shown::PerSecond, "page faults of its memory"},
    {"by", "PREEMPTED BY", Shown::Text, "to whom it lost its CPU for the longest time", 15},
    {"name", "NAME", Shown::Text, "of the virtual machine", 15},
}};

enum ExitId : size_t { kReason, kCount, kKernel, kUser, kEach, kExitColumns_ };

constexpr std::array<SheetColumn, kExitColumns_> kExitColumns = {{
    {"reason", "EXIT", Shown::Text, "why a virtual CPU left the guest", 24},
    {"exits", "EXIT/s", Shown::PerSecond, "how often"},
    {"hyp", "HYP%", Shown::Share, "the host's kernel handled it"},
    {"usr", "USR%", Shown::Share, "the program that emulates the machine handled it"},
    {"each", "EACH", Shown::Duration, "how long one took"},
}};

template <typename Row>
Value vm_cell(const period::Machine& machine, const Row& row, size_t column) {
  const auto cell = [&](Column which) { return cell_value(machine, row, which); };
  switch (static_cast<VmId>(column)) {
    case kGuest:
      return cell(Column::Guest);
    case kHypervisor:
      return cell(Column::Hypervisor);
    case kUserSpace:
      return cell(Column::UserSpace);
    case kHalted:
      return cell(Column::Halted);
    case kPreempted:
      return cell(Column::Preempted);
    case kBlocked:
      return cell(Column::Blocked);
    case kUnknown:
      return cell(Column::Unknown);
    case kExits:
      return cell(Column::Exits);
    case kInjections:
      return cell(Column::Injections);
    case kIpis:
      return cell(Column::Ipis);
    case kMmio:
      return cell(Column::Mmio);
    case kPio:
      return cell(Column::Pio);
    case kMsr:
      return cell(Column::Msr);
    case kFaults:
      return cell(Column::Faults);
    default:
      return {};
  }
}

std::string vcpu_state(Column state) {
  const std::string_view name = period::info_of(state).heading;
  return std::string(name);
}

}  // namespace

std::span<const SheetColumn> VmSheet::columns() const { return kVmColumns; }

int32_t VmSheet::pid(size_t line) const {
  const period::VcpuRow* row = vcpu(line);
  return row == nullptr ? machine_.vms[line].pid : row->pid;
}

Value VmSheet::value(size_t line, size_t column) const {
  const period::VcpuRow* row = vcpu(line);
  switch (static_cast<VmId>(column)) {
    case kPid:
      return Value::of(static_cast<uint64_t>(pid(line)));
    case kTid:
      return row == nullptr ? Value() : Value::of(static_cast<uint64_t>(row->tid));
    case kVcpu:
      return Value::of(row == nullptr ? machine_.vms[line].vcpus : row->number);
    case kState:
      return row == nullptr || !row->state ? Value() : Value::of(vcpu_state(*row->state));
    case kBy:
      return row == nullptr ? Value() : Value::of(row->preempter);
    case kName:
      return Value::of(row == nullptr ? machine_.vms[line].name : row->vm);
    default:
      break;
  }
  return row == nullptr ? vm_cell(machine_, machine_.vms[line], column)
                        : vm_cell(machine_, *row, column);
}

LineKey VmSheet::key(size_t line) const {
  const period::VcpuRow* row = vcpu(line);
  return {static_cast<uint64_t>(pid(line)), row == nullptr ? 0 : static_cast<uint64_t>(row->tid)};
}

Style VmSheet::style(size_t line, size_t column) const {
  switch (static_cast<VmId>(column)) {
    case kGuest:
      return Style::Virt;
    case kHypervisor:
      return Style::System;
    case kUserSpace:
      return Style::User;
    case kPreempted:
      return Style::Waiting;
    case kBlocked:
      return Style::Blocked;
    case kHalted:
      return Style::Idle;
    case kUnknown:
      return Style::Unknown;
    case kName:
      return vcpu(line) == nullptr ? Style::Bold : Style::Plain;
    default:
      return Style::Plain;
  }
}

std::optional<size_t> VmSheet::parent(size_t line) const {
  const period::VcpuRow* row = vcpu(line);
  if (row == nullptr) return std::nullopt;
  for (size_t vm = 0; vm < machine_.vms.size(); ++vm)
    if (machine_.vms[vm].pid == row->pid) return vm;
  return std::nullopt;
}

ExitSheet::ExitSheet(const period::Machine& machine, int32_t pid) : machine_(machine) {
  for (const period::ExitRow& row : machine.exits)
    if (row.pid == pid) rows_.push_back(&row);
}

std::span<const SheetColumn> ExitSheet::columns() const { return kExitColumns; }

LineKey ExitSheet::key_of_reason(std::string_view reason) { return key_of_texts(reason, ""); }

Value ExitSheet::value(size_t line, size_t column) const {
  const period::ExitRow& row = *rows_[line];
  const auto cell = [&](Column which) { return cell_value(machine_, row, which); };
  switch (static_cast<ExitId>(column)) {
    case kReason:
      return Value::of(row.reason);
    case kCount:
      return cell(Column::Exits);
    case kKernel:
      return cell(Column::Hypervisor);
    case kUser:
      return cell(Column::UserSpace);
    case kEach:
      return quotient(cell_sum(machine_, row, {Column::Hypervisor, Column::UserSpace}),
                      cell(Column::Exits), 1);
    case kExitColumns_:
      break;
  }
  return {};
}

Style ExitSheet::style(size_t, size_t column) const {
  return column == kKernel ? Style::System : column == kUser ? Style::User : Style::Plain;
}

}  // namespace strata::top
