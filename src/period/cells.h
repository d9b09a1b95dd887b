// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "period/columns.h"

namespace strata::period {

// That this one cell is not known, though its column is.
constexpr uint64_t kUnknownCell = UINT64_MAX;

// The values of a row, one for each column that rows of its kind have.
template <RowKind kKind>
class Cells {
 public:
  static constexpr size_t kSize = [] {
    size_t size = 0;
    for (const ColumnInfo& info : kColumns) size += has_column(kKind, info.id) ? 1 : 0;
    return size;
  }();
  static constexpr auto kOrder = [] {
    std::array<Column, kSize> order{};
    size_t next = 0;
    for (const ColumnInfo& info : kColumns)
      if (has_column(kKind, info.id)) order[next++] = info.id;
    return order;
  }();

  // A column that such rows do not have is 0, and no place to write to.
  uint64_t operator[](Column column) const {
    return has_column(kKind, column) ? values_[place(column)] : 0;
  }
  void set(Column column, uint64_t value) {
    if (has_column(kKind, column)) values_[place(column)] = value;
  }
  // With what is not known, the sum is not, either. More than fits stays at the end of the range.
  void add(Column column, uint64_t value) {
    if (!has_column(kKind, column)) return;
    uint64_t& cell = values_[place(column)];
    if (cell == kUnknownCell || value == kUnknownCell)
      cell = kUnknownCell;
    else
      cell = value > kUnknownCell - 1 - cell ? kUnknownCell - 1 : cell + value;
  }
  // As far as there is so much.
  void take(Column column, uint64_t value) {
    if (!has_column(kKind, column)) return;
    uint64_t& cell = values_[place(column)];
    if (cell != kUnknownCell) cell -= value < cell ? value : cell;
  }
  // What both are together, `later` following this.
  void combine(const Cells& later) {
    for (const Column column : kOrder) {
      if (info_of(column).combining == Combining::Sum)
        add(column, later[column]);
      else if (later[column] != kUnknownCell)
        set(column, later[column]);
    }
  }
  // That nothing at all is in it.
  bool is_zero() const { return values_ == std::array<uint64_t, kSize>{}; }
  bool operator==(const Cells&) const = default;

 private:
  static constexpr auto kPlaces = [] {
    std::array<uint8_t, kColumnCount> places{};
    for (size_t i = 0; i < kSize; ++i)
      places[static_cast<size_t>(kOrder[i])] = static_cast<uint8_t>(i);
    return places;
  }();
  static constexpr size_t place(Column column) { return kPlaces[static_cast<size_t>(column)]; }

  std::array<uint64_t, kSize> values_ = {};
};

}  // namespace strata::period
