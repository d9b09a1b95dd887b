// SPDX-License-Identifier: Apache-2.0
//
// The C interface of feeds and tables: <strata/strata.h>.
#include <strata/strata.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "lib/feeds.h"
#include "live/feed.h"
#include "period/fields.h"

using namespace strata;
using period::RowKind;

struct strata_feed {
  std::unique_ptr<period::Feed> feed;
  std::string problem = {};
  std::vector<std::string> shortfalls = {};
  FileDescriptor due = {};

  int fail(const Error& error) {
    problem = error.text();
    return -1;
  }
};

struct strata_table {
  period::Table table;
};

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

strata_feed* opened(Result<std::unique_ptr<period::Feed>> feed, char* why, size_t size) {
  if (feed) return new strata_feed{std::move(*feed)};
  if (size == 0) return nullptr;
  const std::string text = feed.error().text();
  why[text.copy(why, size - 1)] = '\0';
  return nullptr;
}

const period::Machine* machine_of(const strata_row& row) {
  const std::vector<period::Machine>& machines = row.table->table.machines;
  return row.machine < machines.size() ? &machines[row.machine] : nullptr;
}

// Gives the row, if it is there, to `visit`; of a machine there is one. False: it is not there.
bool visit_row(const strata_row& row, auto&& visit) {
  const period::Machine* const machine = machine_of(row);
  if (machine == nullptr) return false;
  const auto kind = static_cast<RowKind>(row.kind);
  if (kind == RowKind::Machine && row.number == 0) {
    visit(*machine);
    return true;
  }
  bool found = false;
  period::each_list(*machine, [&](std::string_view, const auto& rows) {
    using Row = typename std::remove_cvref_t<decltype(rows)>::value_type;
    if (Row::kKind != kind || row.number >= rows.size()) return;
    visit(rows[row.number]);
    found = true;
  });
  return found;
}

void each_field_of(const auto& row, auto&& visit) {
  if constexpr (std::same_as<std::remove_cvref_t<decltype(row)>, period::Machine>)
    visit("name", row.name);
  else
    period::each_field(row, visit);
}

// As JSON has them: what was not told is not there.
std::optional<int64_t> number_in(const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::same_as<Value, std::optional<uint32_t>>) {
    return value ? std::optional<int64_t>(*value) : std::nullopt;
  } else if constexpr (std::same_as<Value, int32_t>) {
    return value != period::kNoId ? std::optional<int64_t>(value) : std::nullopt;
  } else if constexpr (std::integral<Value>) {
    return static_cast<int64_t>(value);
  } else {
    return std::nullopt;
  }
}

// Names of states and kinds are literals or live for ever: there is a NUL behind them.
const char* text_in(const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::same_as<Value, std::string>) {
    return value.empty() ? nullptr : value.c_str();
  } else if constexpr (std::same_as<Value, std::optional<period::Column>>) {
    return value ? period::state_name(*value).data() : nullptr;
  } else if constexpr (std::same_as<Value, period::FileIdentity> ||
                       std::same_as<Value, period::Latency>) {
    return period::name_of(value).data();
  } else {
    return nullptr;
  }
}

const period::ColumnInfo* info_of(int column) {
  return column >= 0 && static_cast<size_t>(column) < period::kColumnCount
             ? &period::kColumns[static_cast<size_t>(column)]
             : nullptr;
}

}  // namespace

extern "C" {

strata_feed* strata_feed_open_machine(const char* groups, char* why, size_t size) noexcept {
  const Result<period::Groups> wanted = period::groups_from(groups);
  return wanted ? opened(live::machine_feed(*wanted), why, size)
                : opened(wanted.error(), why, size);
}

strata_feed* strata_feed_open(const char* const* paths, size_t count, int64_t period_ns, char* why,
                              size_t size) noexcept {
  return opened(lib::open_feed({paths, paths + count}, Nanoseconds{period_ns}), why, size);
}

void strata_feed_close(strata_feed* feed) noexcept { delete feed; }

int strata_feed_next(strata_feed* feed, strata_table** table) noexcept {
  // What is read is how often it was due: too late is late, and not more tables.
  uint64_t times;
  if (feed->due && feed->feed->is_live()) [[maybe_unused]]
    const ssize_t size = read(feed->due.get(), &times, sizeof times);
  Result<std::optional<period::Table>> next = feed->feed->next();
  if (!next) return feed->fail(next.error());
  if (!*next) return 0;
  *table = new strata_table{std::move(**next)};
  return 1;
}

int strata_feed_descriptor(strata_feed* feed, int64_t period_ns) noexcept {
  if (period_ns <= 0) return feed->fail({{}, std::nullopt, "a period takes longer than nothing"});
  const bool is_live = feed->feed->is_live();
  if (!feed->due)
    feed->due = FileDescriptor(is_live ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)
                                       : eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!feed->due) return feed->fail(system_error({}, "there is no descriptor", errno));
  if (is_live) {
    constexpr int64_t kSecond = 1'000'000'000;
    const timespec time{period_ns / kSecond, period_ns % kSecond};
    const itimerspec every{time, time};
    timerfd_settime(feed->due.get(), 0, &every, nullptr);
  }
  return feed->due.get();
}

int strata_feed_want(strata_feed* feed, const char* groups) noexcept {
  const Result<period::Groups> wanted = period::groups_from(groups);
  if (!wanted) return feed->fail(wanted.error());
  const Status done = feed->feed->want(*wanted);
  return done ? 0 : feed->fail(done.error());
}

const char* strata_feed_problem(const strata_feed* feed) noexcept { return feed->problem.c_str(); }

const char* strata_feed_shortfall(strata_feed* feed, size_t number) noexcept {
  if (number == 0) feed->shortfalls = feed->feed->shortfalls();
  return number < feed->shortfalls.size() ? feed->shortfalls[number].c_str() : nullptr;
}

void strata_table_free(strata_table* table) noexcept { delete table; }

int64_t strata_table_begin(const strata_table* table) noexcept { return table->table.begin; }
int64_t strata_table_end(const strata_table* table) noexcept { return table->table.end; }
const char* strata_table_clock(const strata_table* table) noexcept {
  return table->table.clock.c_str();
}

size_t strata_table_machines(const strata_table* table) noexcept {
  return table->table.machines.size();
}

size_t strata_table_rows(const strata_table* table, size_t machine, strata_kind kind) noexcept {
  if (machine >= table->table.machines.size()) return 0;
  if (kind == STRATA_ROW_MACHINE) return 1;
  size_t count = 0;
  period::each_list(table->table.machines[machine], [&](std::string_view, const auto& rows) {
    using Row = typename std::remove_cvref_t<decltype(rows)>::value_type;
    if (Row::kKind == static_cast<RowKind>(kind)) count = rows.size();
  });
  return count;
}

int strata_column(const char* name) noexcept {
  const auto found = period::column_called(name);
  return found ? static_cast<int>(*found) : -1;
}

// The texts of columns are literals: there is a NUL behind them.
const char* strata_column_name(int column) noexcept {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? info->name.data() : nullptr;
}
const char* strata_column_meaning(int column) noexcept {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? info->meaning.data() : nullptr;
}
const char* strata_column_unit(int column) noexcept {
  const period::ColumnInfo* const info = info_of(column);
  return info != nullptr ? period::name_of(info->unit).data() : nullptr;
}

uint64_t strata_row_value(strata_row row, int column, strata_certainty* certainty) noexcept {
  auto how = period::Certainty::Exact;
  uint64_t value = 0;
  if (const period::ColumnInfo* const info = info_of(column); info != nullptr) {
    visit_row(row, [&](const auto& found) {
      if (!period::has_column(found.kKind, info->id)) return;
      how = machine_of(row)->marks.of(found.kKind, info->id);
      value = found.values[info->id];
      if (value == period::kUnknownCell) how = period::Certainty::Unknown;
      if (how == period::Certainty::Unknown) value = 0;
    });
  }
  if (certainty != nullptr) *certainty = static_cast<strata_certainty>(how);
  return value;
}

int strata_row_number(strata_row row, const char* field, int64_t* number) noexcept {
  std::optional<int64_t> value;
  visit_row(row, [&](const auto& found) {
    each_field_of(found, [&](std::string_view name, const auto& member) {
      if (name == field) value = number_in(member);
    });
  });
  if (value) *number = *value;
  return value ? 1 : 0;
}

const char* strata_row_text(strata_row row, const char* field) noexcept {
  const char* text = nullptr;
  visit_row(row, [&](const auto& found) {
    each_field_of(found, [&](std::string_view name, const auto& member) {
      if (name == field) text = text_in(member);
    });
  });
  return text;
}

const uint64_t* strata_row_histogram(strata_row row, uint64_t* count, uint64_t* sum_ns) noexcept {
  const uint64_t* buckets = nullptr;
  visit_row(row, [&]<typename Row>(const Row& found) {
    if constexpr (period::HasHistogram<Row>) {
      buckets = found.histogram.buckets.data();
      *count = found.histogram.count;
      *sum_ns = found.histogram.sum_ns;
    }
  });
  return buckets;
}

}  // extern "C"
