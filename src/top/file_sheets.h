// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "period/table.h"
#include "top/sheet.h"

namespace strata::top {

// Everything on a machine that data went through: files, sockets, pipes; block devices and
// interfaces, too.
class FileSheet : public Sheet {
 public:
  explicit FileSheet(const period::Machine& machine) : machine_(machine) {}

  std::span<const SheetColumn> columns() const override;
  size_t size() const override {
    return machine_.files.size() + machine_.devices.size() + machine_.interfaces.size();
  }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override;
  Style style(size_t line, size_t column) const override;

 private:
  const period::Machine& machine_;
};

// What went through each descriptor of a process.
class DescriptorSheet : public Sheet {
 public:
  DescriptorSheet(const period::Machine& machine, int32_t pid);

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return rows_.size(); }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override;
  Style style(size_t line, size_t column) const override;

 private:
  const period::Machine& machine_;
  std::vector<const period::DescriptorRow*> rows_;
};

}  // namespace strata::top
