// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::query {

// What a statement asks of one column, as far as a table can use it: a range of numbers, and being
// one of some values. Everything, unless it was narrowed.
class Condition {
 public:
  // Each narrows what was asked before.
  void at_least(int64_t number);
  void at_most(int64_t number);
  void one_of(std::vector<int64_t> numbers);
  void one_of(std::vector<std::string> texts);

  int64_t least() const { return least_; }
  int64_t most() const { return most_; }

  bool accepts(int64_t number) const;
  bool accepts(std::string_view text) const;
  // The only number that is accepted, where it is one.
  std::optional<int64_t> only() const;
  // No value can be accepted.
  bool is_empty() const;

 private:
  int64_t least_ = std::numeric_limits<int64_t>::min();
  int64_t most_ = std::numeric_limits<int64_t>::max();
  std::optional<std::vector<int64_t>> numbers_;  // sorted
  std::optional<std::vector<std::string>> texts_;
};

// Those of all columns of a table.
class Conditions {
 public:
  // The one to be narrowed.
  Condition& on(size_t column) { return columns_[column]; }
  const Condition& of(size_t column) const;
  bool is_empty() const;

  // Whether the statement wants to know the column's values. Told of the first few columns only; of
  // the others it always may.
  bool uses(size_t column) const { return column >= kTold || (used_ >> column & 1) != 0; }
  void set_used(uint32_t used) { used_ = used; }
  static constexpr size_t kTold = 31;

 private:
  std::map<size_t, Condition> columns_;
  uint32_t used_ = ~uint32_t{0};
};

}  // namespace strata::query
