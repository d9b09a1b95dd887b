// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "period/table.h"
#include "top/sheet.h"

namespace strata::top {

// Virtual machines, and below each its virtual CPUs.
class VmSheet : public Sheet {
 public:
  explicit VmSheet(const period::Machine& machine) : machine_(machine) {}

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return machine_.vms.size() + machine_.vcpus.size(); }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override;
  Style style(size_t line, size_t column) const override;
  std::optional<size_t> parent(size_t line) const override;

  int32_t pid(size_t line) const;

 private:
  const period::VcpuRow* vcpu(size_t line) const {
    return line < machine_.vms.size() ? nullptr : &machine_.vcpus[line - machine_.vms.size()];
  }
  const period::Machine& machine_;
};

// Why the CPUs of a virtual machine left the guest.
class ExitSheet : public Sheet {
 public:
  ExitSheet(const period::Machine& machine, int32_t pid);

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return rows_.size(); }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override { return key_of_reason(rows_[line]->reason); }
  Style style(size_t line, size_t column) const override;

 private:
  static LineKey key_of_reason(std::string_view reason);
  const period::Machine& machine_;
  std::vector<const period::ExitRow*> rows_;
};

}  // namespace strata::top
