// SPDX-License-Identifier: Apache-2.0
//
// The C interface of tables: <strata/strata.h>.
#include "lib/c_table.h"

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text_buffer.h"
#include "period/fields.h"
#include "period/json.h"

using namespace strata;
using period::RowKind;

namespace {

static_assert(STRATA_ROW_MACHINE == static_cast<int>(RowKind::Machine) &&
              STRATA_ROW_CPU == static_cast<int>(RowKind::Cpu) &&
              STRATA_ROW_TASK == static_cast<int>(RowKind::Task) &&
              STRATA_ROW_VM == static_cast<int>(RowKind::Vm) &&
              STRATA_ROW_VCPU == static_cast<int>(RowKind::Vcpu) &&
              STRATA_ROW_EXIT == static_cast<int>(RowKind::Exit) &&
              STRATA_ROW_FILE == static_cast<int>(RowKind::File) &&
              STRATA_ROW_DESCRIPTOR == static_cast<int>(RowKind::Descriptor) &&
              STRATA_ROW_DEVICE == static_cast<int>(RowKind::Device) &&
              STRATA_ROW_INTERFACE == static_cast<int>(RowKind::Interface) &&
              STRATA_ROW_LATENCY == static_cast<int>(RowKind::Latency));
static_assert(STRATA_EXACT == static_cast<int>(period::Certainty::Exact) &&
              STRATA_ESTIMATED == static_cast<int>(period::Certainty::Estimated) &&
              STRATA_UNKNOWN == static_cast<int>(period::Certainty::Unknown));
static_assert(STRATA_BUCKETS == period::Histogram::kBuckets);

const period::Machine* machine_of(const strata_table* table, size_t number) {
  if (table == nullptr || number >= table->table.machines.size()) return nullptr;
  return &table->table.machines[number];
}

// Gives the machine's rows of a kind, if there is such a kind but for the machine itself.
void visit_list(const period::Machine& machine, int kind, auto&& visit) {
  period::each_list(machine, [&](std::string_view, const auto& rows) {
    using Row = typename std::remove_cvref_t<decltype(rows)>::value_type;
    if (static_cast<int>(Row::kKind) == kind) visit(rows);
  });
}

// Gives the row and its machine, if it is there.
void visit_row(const strata_row& row, auto&& visit) {
  const period::Machine* const machine = machine_of(row.table, row.machine);
  if (machine == nullptr) return;
  if (row.kind == STRATA_ROW_MACHINE && row.number == 0) visit(*machine, *machine);
  visit_list(*machine, row.kind, [&](const auto& rows) {
    if (row.number < rows.size()) visit(rows[row.number], *machine);
  });
}

void each_field_of(const auto& row, auto&& visit) {
  if constexpr (std::same_as<std::remove_cvref_t<decltype(row)>, period::Machine>)
    visit("name", row.name);
  else
    period::each_field(row, visit);
}

// As in a line of JSON: what was not told is not there.
std::optional<int64_t> number_in(const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::same_as<Value, std::optional<uint32_t>>)
    return value ? std::optional<int64_t>(*value) : std::nullopt;
  else if constexpr (std::same_as<Value, int32_t>)
    return value != period::kNoId ? std::optional<int64_t>(value) : std::nullopt;
  else if constexpr (std::integral<Value>)
    return static_cast<int64_t>(value);
  else
    return std::nullopt;
}

// Names of states and kinds are literals or live for ever: there is a NUL behind them.
const char* text_in(const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::same_as<Value, std::string>)
    return value.empty() ? nullptr : value.c_str();
  else if constexpr (std::same_as<Value, std::optional<period::Column>>)
    return value ? period::state_name(*value).data() : nullptr;
  else if constexpr (std::is_enum_v<Value>)
    return period::name_of(value).data();
  else
    return nullptr;
}

const period::ColumnInfo* info_of(int column) {
  return column >= 0 && static_cast<size_t>(column) < period::kColumnCount
             ? &period::kColumns[static_cast<size_t>(column)]
             : nullptr;
}

// What a row has in a column; nothing: it is unknown.
std::optional<uint64_t> value_in(const auto& row, period::Column column,
                                 const period::Machine& machine) {
  const uint64_t value = row.values[column];
  if (value == period::kUnknownCell ||
      machine.marks.of(row.kKind, column) == period::Certainty::Unknown)
    return std::nullopt;
  return value;
}

}  // namespace

extern "C" {

void strata_table_free(strata_table* table) { delete table; }

int64_t strata_table_begin(const strata_table* table) {
  return table != nullptr ? table->table.begin : 0;
}
int64_t strata_table_end(const strata_table* table) {
  return table != nullptr ? table->table.end : 0;
}
const char* strata_table_clock(const strata_table* table) {
  return table != nullptr ? table->table.clock.c_str() : "";
}

int strata_table_add(strata_table* table, const strata_table* next) {
  if (table == nullptr || next == nullptr) return -1;
  try {
    period::Table sum = table->table;
    if (!sum.append(next->table)) return -1;
    table->table = std::move(sum);
    table->json.clear();
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

const char* strata_table_json(strata_table* table) {
  if (table == nullptr) return nullptr;
  try {
    if (table->json.empty()) {
      TextBuffer line;
      period::put_json(table->table, line);
      table->json = line.view();
    }
    return table->json.c_str();
  } catch (const std::exception&) {
    return nullptr;
  }
}

size_t strata_table_machines(const strata_table* table) {
  return table != nullptr ? table->table.machines.size() : 0;
}

size_t strata_table_rows(const strata_table* table, size_t machine, int kind) {
  const period::Machine* const found = machine_of(table, machine);
  if (found == nullptr) return 0;
  size_t count = kind == STRATA_ROW_MACHINE ? 1 : 0;
  visit_list(*found, kind, [&](const auto& rows) { count = rows.size(); });
  return count;
}

int strata_column(const char* name) {
  if (name == nullptr) return -1;
  const auto found = period::column_called(name);
  return found ? static_cast<int>(*found) : -1;
}

// The texts of columns are literals: there is a NUL behind them.
const char* strata_column_name(int column) {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? info->name.data() : nullptr;
}
const char* strata_column_meaning(int column) {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? info->meaning.data() : nullptr;
}
const char* strata_column_unit(int column) {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? period::name_of(info->unit).data() : nullptr;
}

uint64_t strata_row_value(strata_row row, int column) {
  const period::ColumnInfo* const info = info_of(column);
  uint64_t value = 0;
  if (info == nullptr) return value;
  visit_row(row, [&](const auto& found, const period::Machine& machine) {
    value = value_in(found, info->id, machine).value_or(0);
  });
  return value;
}

int strata_row_certainty(strata_row row, int column) {
  const period::ColumnInfo* const info = info_of(column);
  auto certainty = period::Certainty::Unknown;
  if (info == nullptr) return STRATA_UNKNOWN;
  visit_row(row, [&](const auto& found, const period::Machine& machine) {
    if (period::has_column(found.kKind, info->id) && value_in(found, info->id, machine))
      certainty = machine.marks.of(found.kKind, info->id);
  });
  return static_cast<int>(certainty);
}

int strata_row_number(strata_row row, const char* field, int64_t* number) {
  std::optional<int64_t> value;
  if (field == nullptr) return 0;
  visit_row(row, [&](const auto& found, const period::Machine&) {
    each_field_of(found, [&](std::string_view name, const auto& member) {
      if (name == field) value = number_in(member);
    });
  });
  if (value && number != nullptr) *number = *value;
  return value ? 1 : 0;
}

const char* strata_row_text(strata_row row, const char* field) {
  const char* text = nullptr;
  if (field == nullptr) return nullptr;
  visit_row(row, [&](const auto& found, const period::Machine&) {
    each_field_of(found, [&](std::string_view name, const auto& member) {
      if (name == field) text = text_in(member);
    });
  });
  return text;
}

const uint64_t* strata_row_histogram(strata_row row, uint64_t* count, uint64_t* sum_ns) {
  const period::Histogram* histogram = nullptr;
  visit_row(row, [&]<typename Row>(const Row& found, const period::Machine&) {
    if constexpr (period::HasHistogram<Row>) histogram = &found.histogram;
  });
  if (histogram == nullptr) return nullptr;
  if (count != nullptr) *count = histogram->count;
  if (sum_ns != nullptr) *sum_ns = histogram->sum_ns;
  return histogram->buckets.data();
}

}  // extern "C"
