// SPDX-License-Identifier: Apache-2.0
#include "period/columns.h"

#include <algorithm>
#include <string>

namespace strata::period {
namespace {

// A column whose place is not its own would have another's name.
constexpr bool in_order() {
  for (size_t i = 0; i < kColumnCount; ++i)
    if (static_cast<size_t>(kColumns[i].id) != i || kColumns[i].rows == 0) return false;
  return true;
}
static_assert(in_order());

constexpr bool counters_are_last() {
  for (const ColumnInfo& info : kColumns)
    if (info.counter.empty() == is_counter(info.id)) return false;
  return true;
}
static_assert(counters_are_last());

constexpr std::array<std::string_view, kRowKinds> kRowKindNames = {
    "machine", "cpu",        "task",   "vm",        "vcpu",   "exit",
    "file",    "descriptor", "device", "interface", "latency"};

std::array<std::string, kColumnCount> make_state_names() {
  std::array<std::string, kColumnCount> names;
  for (size_t i = 0; i < kColumnCount; ++i) {
    std::string_view name = kColumns[i].name;
    if (name.ends_with("_ns")) name.remove_suffix(3);
    names[i] = name;
    std::ranges::replace(names[i], '_', '-');
  }
  return names;
}

}  // namespace

std::string_view name_of(RowKind kind) { return kRowKindNames[static_cast<size_t>(kind)]; }

std::string_view name_of(Unit unit) {
  constexpr std::array<std::string_view, 4> kNames = {"ns", "number", "bytes", "kHz"};
  return kNames[static_cast<size_t>(unit)];
}

std::string_view name_of(Certainty certainty) {
  constexpr std::array<std::string_view, 3> kNames = {"exact", "estimated", "unknown"};
  return kNames[static_cast<size_t>(certainty)];
}

std::optional<Column> column_called(std::string_view name) {
  const auto found = std::ranges::find(kColumns, name, &ColumnInfo::name);
  return found == kColumns.end() ? std::nullopt : std::optional(found->id);
}

std::optional<Column> column_of_counter(std::string_view counter) {
  if (counter.empty()) return std::nullopt;
  const auto found = std::ranges::find(kColumns, counter, &ColumnInfo::counter);
  return found == kColumns.end() ? std::nullopt : std::optional(found->id);
}

std::string_view state_name(Column state) {
  static const auto kNames = make_state_names();
  return kNames[static_cast<size_t>(state)];
}

}  // namespace strata::period
