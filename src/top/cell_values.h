// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "period/table.h"
#include "top/sheet.h"
#include "top/value.h"

namespace strata::top {

// A cell of a row as what stands in a list, as certain as its machine's marks say.
template <typename Row>
Value cell_value(const period::Machine& machine, const Row& row, period::Column column) {
  using period::Certainty;
  const uint64_t number = row.values[column];
  const Certainty certainty = machine.marks.of(Row::kKind, column);
  if (number == period::kUnknownCell || certainty == Certainty::Unknown) return Value::unknown();
  return Value::of(number, certainty == Certainty::Estimated && number != 0);
}

// Several of them added up: as certain as the first, which the others only add to.
template <typename Row>
Value cell_sum(const period::Machine& machine, const Row& row,
               std::initializer_list<period::Column> columns) {
  Value all = cell_value(machine, row, *columns.begin());
  if (all.kind == Value::Kind::Unknown) return all;
  for (const period::Column* column = columns.begin() + 1; column != columns.end(); ++column) {
    const Value more = cell_value(machine, row, *column);
    if (more.kind == Value::Kind::Number) all.number += more.number;
  }
  return all;
}

// How many of `scale` the first is of the second; nothing where that is 0.
inline Value quotient(const Value& part, const Value& whole, uint64_t scale) {
  if (part.kind != Value::Kind::Number || whole.kind != Value::Kind::Number)
    return Value::unknown();
  if (whole.number == 0) return {};
  const double times = static_cast<double>(part.number) / static_cast<double>(whole.number);
  return Value::of(static_cast<uint64_t>(times * static_cast<double>(scale)),
                   part.is_estimated || whole.is_estimated);
}

inline LineKey key_of_texts(std::string_view one, std::string_view other, uint64_t number = 0) {
  const std::hash<std::string_view> hash;
  return {hash(one) ^ number, hash(other) + number};
}

}  // namespace strata::top
