// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "top/style.h"
#include "top/value.h"

namespace strata::top {

struct SheetColumn {
  std::string_view name;     // as conditions and --sort call it
  std::string_view heading;  // on screen
  Shown shown{};
  std::string_view meaning;
  uint8_t width = 0;  // of texts; of the last one of a line at least
};

// What a line is about, the same from one period to the next.
struct LineKey {
  uint64_t first = 0;
  uint64_t second = 0;
  bool operator==(const LineKey&) const = default;
};

// Lines and columns to choose from: what a screen can show of a table. Lists sort, filter and draw
// it, whatever it is about. It lives as long as the table that it is of.
class Sheet {
 public:
  virtual ~Sheet() = default;

  virtual std::span<const SheetColumn> columns() const = 0;
  virtual size_t size() const = 0;
  virtual Value value(size_t line, size_t column) const = 0;
  // False: nobody told anything of it, and it is not shown.
  virtual bool is_told(size_t column) const {
    static_cast<void>(column);
    return true;
  }
  virtual LineKey key(size_t line) const = 0;
  virtual Style style(size_t line, size_t column) const {
    static_cast<void>(line), static_cast<void>(column);
    return Style::Plain;
  }
  // The line below which it stands.
  virtual std::optional<size_t> parent(size_t line) const {
    static_cast<void>(line);
    return std::nullopt;
  }
};

std::optional<size_t> column_called(const Sheet& sheet, std::string_view name);

}  // namespace strata::top
