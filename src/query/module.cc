// SPDX-License-Identifier: Apache-2.0
#include "query/module.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "query/declaration.h"

namespace strata::query {
namespace {

// What SQLite hands back at every call.
struct Module {
  const Table& table;
  const std::atomic<bool>& interrupted;
};
struct OpenTable : sqlite3_vtab {
  const Module* module = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<Rows> rows;
};

const Module& module_of(const sqlite3_vtab* table) {
  return *static_cast<const OpenTable*>(table)->module;
}

// Exceptions end here: what calls us is C.
template <typename F>
int guarded(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int connect(sqlite3* database, void* module, int, const char* const*, sqlite3_vtab** out,
            char** problem) {
  return guarded([&] {
    const auto* own = static_cast<const Module*>(module);
    const int result = sqlite3_declare_vtab(database, declaration(own->table).c_str());
    if (result != SQLITE_OK) {
      *problem = sqlite3_mprintf("%s", sqlite3_errmsg(database));
      return result;
    }
    auto table = std::make_unique<OpenTable>();
    table->module = own;
    *out = table.release();
    return SQLITE_OK;
  });
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<OpenTable*>(table);
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  return guarded([&] {
    const Module& module = module_of(table);
    auto cursor = std::make_unique<Cursor>();
    cursor->rows = module.table.open(module.interrupted);
    *out = cursor.release();
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// A condition goes from best_index() to filter() as its column and one of these, "time>=", which
// also is what EXPLAIN QUERY PLAN shows.
constexpr std::string_view kEqual = "=";
constexpr std::string_view kIn = "=in";
constexpr std::string_view kAtLeast = ">=";
constexpr std::string_view kAtMost = "<=";

// The condition as the table can use it; empty where it cannot. "<" is taken for "<=": what is too
// much is sorted out by SQLite.
std::string_view operation(const Column& column, sqlite3_index_info* info, int index) {
  if (column.search == Search::None) return {};
  if (column.type == ColumnType::Text &&
      std::strcmp(sqlite3_vtab_collation(info, index), "BINARY") != 0)
    return {};
  switch (info->aConstraint[index].op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return sqlite3_vtab_in(info, index, -1) != 0 ? kIn : kEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return column.search == Search::Range ? kAtLeast : std::string_view{};
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return column.search == Search::Range ? kAtMost : std::string_view{};
    default:
      return {};
  }
}

int best_index(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  return guarded([&] {
    // By how much a condition narrows is not known; these make SQLite prefer those that narrow
    // more.
    constexpr double kEqualPart = 0.02;
    constexpr double kRangePart = 0.1;
    const Table& table = module_of(vtab).table;
    double rows = table.about_rows;
    std::string plan;
    int arguments = 0;
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.usable == 0 || constraint.iColumn < 0) continue;
      const Column& column = table.columns[static_cast<size_t>(constraint.iColumn)];
      const std::string_view how = operation(column, info, i);
      if (how.empty()) continue;
      if (how == kIn) sqlite3_vtab_in(info, i, 1);
      info->aConstraintUsage[i].argvIndex = ++arguments;
      plan += (plan.empty() ? "" : " ") + column.name + std::string(how);
      rows *= how == kEqual || how == kIn ? kEqualPart : kRangePart;
    }
    info->idxStr = sqlite3_mprintf("%s", plan.c_str());
    if (info->idxStr == nullptr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->idxNum = static_cast<int>(info->colUsed & ((uint64_t{1} << Conditions::kTold) - 1));
    info->estimatedCost = std::max(rows, 1.0);
    info->estimatedRows = static_cast<sqlite3_int64>(std::max(rows, 1.0));
    info->orderByConsumed =
        static_cast<int>(table.sorted_by && info->nOrderBy == 1 && info->aOrderBy[0].desc == 0 &&
                         info->aOrderBy[0].iColumn == static_cast<int>(*table.sorted_by));
    return SQLITE_OK;
  });
}

// The integer nearest to a number, not above it or not below it.
int64_t whole(double value) {
  constexpr double kEdge = 9223372036854775808.0;
  if (value >= kEdge) return std::numeric_limits<int64_t>::max();
  if (value < -kEdge) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

void narrow_range(Condition& condition, std::string_view how, sqlite3_value* value) {
  const bool is_least = how == kAtLeast;
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
      is_least ? condition.at_least(sqlite3_value_int64(value))
               : condition.at_most(sqlite3_value_int64(value));
      return;
    case SQLITE_FLOAT:
      is_least ? condition.at_least(whole(std::floor(sqlite3_value_double(value))))
               : condition.at_most(whole(std::ceil(sqlite3_value_double(value))));
      return;
    case SQLITE_NULL:  // nothing is more or less than NULL
      condition.one_of(std::vector<int64_t>{});
      return;
    default:  // a text or a blob, which are more than any number
      return;
  }
}

// Of one value, or of those that IN lists.
template <typename F>
void for_each_value(bool is_list, sqlite3_value* value, F&& f) {
  if (!is_list) {
    f(value);
    return;
  }
  sqlite3_value* element = nullptr;
  for (int result = sqlite3_vtab_in_first(value, &element);
       result == SQLITE_OK && element != nullptr; result = sqlite3_vtab_in_next(value, &element))
    f(element);
}

void narrow_to_values(Condition& condition, ColumnType type, bool is_list, sqlite3_value* value) {
  if (type == ColumnType::Text) {
    std::vector<std::string> texts;
    for_each_value(is_list, value, [&](sqlite3_value* one) {
      if (const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(one)))
        texts.emplace_back(text, static_cast<size_t>(sqlite3_value_bytes(one)));
    });
    condition.one_of(std::move(texts));
    return;
  }
  std::vector<int64_t> numbers;
  for_each_value(is_list, value, [&](sqlite3_value* one) {
    const int kind = sqlite3_value_numeric_type(one);
    if (kind == SQLITE_INTEGER) numbers.push_back(sqlite3_value_int64(one));
    if (kind != SQLITE_FLOAT) return;
    const double real = sqlite3_value_double(one);
    if (std::floor(real) == real) numbers.push_back(whole(real));
  });
  condition.one_of(std::move(numbers));
}

Conditions conditions_of(const Table& table, std::string_view plan, sqlite3_value** arguments) {
  Conditions conditions;
  while (!plan.empty()) {
    const std::string_view term = plan.substr(0, plan.find(' '));
    plan.remove_prefix(std::min(plan.size(), term.size() + 1));
    const size_t name_size = term.find_first_of("<=>");
    const std::string_view how = term.substr(name_size);
    const auto column = std::ranges::find(table.columns, term.substr(0, name_size), &Column::name);
    Condition& condition = conditions.on(static_cast<size_t>(column - table.columns.begin()));
    if (how == kAtLeast || how == kAtMost)
      narrow_range(condition, how, *arguments);
    else
      narrow_to_values(condition, column->type, how == kIn, *arguments);
    ++arguments;
  }
  return conditions;
}

int result_of_step(const sqlite3_vtab_cursor* cursor) {
  if (module_of(cursor->pVtab).interrupted) return SQLITE_INTERRUPT;
  const std::optional<Error>& failure = static_cast<const Cursor*>(cursor)->rows->failure();
  if (!failure) return SQLITE_OK;
  sqlite3_free(cursor->pVtab->zErrMsg);
  cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", failure->text().c_str());
  return SQLITE_ERROR;
}

int filter(sqlite3_vtab_cursor* cursor, int used, const char* plan, int,
           sqlite3_value** arguments) {
  return guarded([&] {
    Conditions conditions = conditions_of(module_of(cursor->pVtab).table, plan, arguments);
    conditions.set_used(static_cast<uint32_t>(used));
    static_cast<Cursor*>(cursor)->rows->begin(conditions);
    return result_of_step(cursor);
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  return guarded([&] {
    static_cast<Cursor*>(cursor)->rows->next();
    return result_of_step(cursor);
  });
}

int at_end(sqlite3_vtab_cursor* cursor) {
  return static_cast<int>(static_cast<Cursor*>(cursor)->rows->at_end());
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int index) {
  return guarded([&] {
    Cell cell(context);
    static_cast<Cursor*>(cursor)->rows->column(static_cast<size_t>(index), cell);
    return SQLITE_OK;
  });
}

int row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<Cursor*>(cursor)->rows->number();
  return SQLITE_OK;
}

// Tables are there under their modules' names, without having been created: nothing has to be
// written anywhere.
constexpr sqlite3_module kMethods = [] {
  sqlite3_module methods{};
  methods.iVersion = 1;
  methods.xConnect = connect;
  methods.xBestIndex = best_index;
  methods.xDisconnect = disconnect;
  methods.xOpen = open;
  methods.xClose = close;
  methods.xFilter = filter;
  methods.xNext = next;
  methods.xEof = at_end;
  methods.xColumn = column;
  methods.xRowid = row_number;
  return methods;
}();

}  // namespace

void Cell::integer(int64_t value) { sqlite3_result_int64(context_, value); }

void Cell::real(double value) { sqlite3_result_double(context_, value); }

void Cell::text(std::string_view value) {
  sqlite3_result_text64(context_, value.empty() ? "" : value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

void Cell::lasting_text(std::string_view value) {
  sqlite3_result_text64(context_, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
}

int add_table(sqlite3* database, const Table& table, const std::atomic<bool>& interrupted) {
  return sqlite3_create_module_v2(database, table.name.c_str(), &kMethods,
                                  new Module{table, interrupted},
                                  [](void* module) { delete static_cast<Module*>(module); });
}

}  // namespace strata::query
