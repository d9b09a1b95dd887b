// SPDX-License-Identifier: Apache-2.0
#include "query/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>

#include "base/near_names.h"
#include "query/module.h"
#include "query/state_tables.h"
#include "query/trace_tables.h"

namespace strata::query {
namespace {

constexpr const char* kNoChanges = "traces can be asked about, and not be changed";

// Asking is allowed, and nothing else. What seems to write the schema is a virtual table, also one
// of SQLite's own (json_each), that declares itself; a statement that does is found by prepare().
int authorize(void*, int action, const char* first, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_INDEX:
      return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
      return std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: {
      constexpr std::string_view kAsking[] = {"table_info", "table_xinfo", "table_list",
                                              "function_list"};
      return std::ranges::find(kAsking, first) != std::end(kAsking) ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

// What a time in words is said against: asked for once.
struct Times {
  std::function<TimeFrame()> find;
  std::optional<TimeFrame> frame;
};

// Whether a statement has this word, in capitals or not.
bool names_word(std::string_view sql, std::string_view word) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  for (auto from = sql.begin();;) {
    const auto found = std::search(from, sql.end(), word.begin(), word.end(), is_same);
    if (found == sql.end()) return false;
    const auto behind = found + static_cast<std::ptrdiff_t>(word.size());
    if ((found == sql.begin() || !is_letter(*(found - 1))) &&
        (behind == sql.end() || !is_letter(*behind)))
      return true;
    from = found + 1;
  }
}

void at_time(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto& times = *static_cast<Times*>(sqlite3_user_data(context));
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
  if (text == nullptr) return;
  if (!times.frame) times.frame = times.find();
  const Result<Nanoseconds> time = resolve_time(text, *times.frame, Side::Begin);
  if (time)
    sqlite3_result_int64(context, time->count);
  else
    sqlite3_result_error(context, time.error().cause.c_str(), -1);
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const Traces& traces,
                                                 std::function<TimeFrame()> frame) {
  std::unique_ptr<Database> database(new Database(traces));
  sqlite3*& sqlite = database->sqlite_;
  const auto failed = [&] { return Error{"", std::nullopt, sqlite3_errmsg(sqlite)}; };
  // Used by one thread.
  if (sqlite3_open_v2(":memory:", &sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK)
    return failed();

  const auto most_columns = static_cast<size_t>(sqlite3_limit(sqlite, SQLITE_LIMIT_COLUMN, -1));
  auto events = std::make_unique<EventTable>(traces, most_columns, database->problems_);
  database->fields_without_column_ = events->event_columns().left_out();
  database->tables_.push_back(std::move(events));
  database->tables_.push_back(event_type_table(traces));
  database->tables_.push_back(trace_table(traces));
  database->tables_.push_back(counter_table(traces, database->problems_));
  for (const auto& group : {cpu_tables, task_tables, vm_tables, record_tables, fused_tables})
    std::ranges::move(group(database->machines_), std::back_inserter(database->tables_));
  for (const auto& table : database->tables_)
    if (add_table(sqlite, *table, database->interrupted_) != SQLITE_OK) return failed();

  if (sqlite3_create_function_v2(sqlite, "at", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 new Times{std::move(frame), {}}, at_time, nullptr, nullptr,
                                 [](void* times) { delete static_cast<Times*>(times); }) !=
          SQLITE_OK ||
      sqlite3_set_authorizer(sqlite, authorize, nullptr) != SQLITE_OK)
    return failed();
  return database;
}

Database::~Database() { sqlite3_close(sqlite_); }

Result<std::optional<Statement>> Database::prepare(std::string_view sql, size_t& position) {
  interrupted_ = false;
  const std::string_view rest = sql.substr(position);
  sqlite3_stmt* statement = nullptr;
  const char* behind = nullptr;
  const int result =
      sqlite3_prepare_v2(sqlite_, rest.data(), static_cast<int>(rest.size()), &statement, &behind);
  if (result != SQLITE_OK) {
    const int offset = sqlite3_error_offset(sqlite_);
    Error error;
    if (offset >= 0) error.offset = position + static_cast<size_t>(offset);
    const std::string message = sqlite3_errmsg(sqlite_);
    error.cause = result == SQLITE_AUTH ? kNoChanges : message + hint(message, rest);
    return error;
  }
  if (statement != nullptr && sqlite3_stmt_readonly(statement) == 0) {
    sqlite3_finalize(statement);
    return Error{"", position, kNoChanges};
  }
  position += static_cast<size_t>(behind - rest.data());
  if (statement == nullptr) return std::optional<Statement>();
  return std::optional<Statement>(Statement(statement));
}

bool Database::is_whole(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

void Database::interrupt() {
  interrupted_ = true;
  sqlite3_interrupt(sqlite_);
}

std::string Database::hint(std::string_view message, std::string_view sql) const {
  constexpr std::string_view kNoColumn = "no such column: ";
  constexpr std::string_view kNoTable = "no such table: ";
  std::vector<std::string_view> names;
  if (message.starts_with(kNoTable)) {
    for (const auto& table : tables_) names.push_back(table->name);
    return did_you_mean(message.substr(kNoTable.size()), names);
  }
  if (!message.starts_with(kNoColumn)) return "";
  std::string_view word = message.substr(kNoColumn.size());
  word.remove_prefix(word.rfind('.') + 1);  // "e.prev_pid"
  if (std::ranges::find(fields_without_column_, word) != fields_without_column_.end())
    return " (there are more fields than columns: fields ->> '" + std::string(word) + "')";
  for (const auto& table : tables_) {
    if (!names_word(sql, table->name)) continue;
    for (const Column& column : table->columns) names.push_back(column.name);
  }
  const std::string near = did_you_mean(word, names);
  return near.empty() ? " (.schema tells the columns of all tables)" : near;
}

}  // namespace strata::query
