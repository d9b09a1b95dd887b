// SPDX-License-Identifier: Apache-2.0
#include "top/line_filter.h"

#include <fmt/format.h>

#include <algorithm>

namespace strata::top {
namespace {

using period::Column;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// What programs and files are called in conditions, whatever the list.
std::string_view usual_name(std::string_view name) {
  return name == "proc" || name == "comm" || name == "file" ? "name" : name;
}

std::optional<Column> machine_column(std::string_view name) {
  const std::optional<Column> column = period::column_called(name);
  if (!column || !period::has_column(period::RowKind::Machine, *column)) return std::nullopt;
  return column;
}

// Times in percent of all CPUs' together.
std::optional<std::string> machine_text(std::string_view name, const Scale& scale,
                                        const period::Machine& machine) {
  const double all = static_cast<double>(scale.length_ns) *
                     static_cast<double>(std::max<size_t>(machine.cpus.size(), 1));
  const auto percent = [&](uint64_t ns) {
    return fmt::format("{}", static_cast<double>(ns) * 100 / all);
  };
  if (name == "load") {
    const auto most = static_cast<uint64_t>(all);
    return percent(most - std::min(most, machine.values[Column::Idle]));
  }
  const std::optional<Column> column = machine_column(name);
  if (!column || machine.values[*column] == period::kUnknownCell) return std::nullopt;
  const uint64_t value = machine.values[*column];
  return period::is_time(*column) ? percent(value) : fmt::format("{}", value);
}

}  // namespace

bool contains_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return word.empty() ||
         std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

std::optional<size_t> column_called(const Sheet& sheet, std::string_view name) {
  const std::span<const SheetColumn> columns = sheet.columns();
  const auto found = std::ranges::find(columns, name, &SheetColumn::name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

Result<LineFilter> LineFilter::parse(std::string_view text) {
  LineFilter filter{std::string(text)};
  if (text.find_first_of("=<>~!&|") == std::string_view::npos) return filter;
  Result<trace::TextFilter> condition = trace::TextFilter::parse(text);
  if (!condition) return std::move(condition).error();
  filter.names_ = condition->fields();
  filter.condition_ = *std::move(condition);
  return filter;
}

std::optional<std::string> LineFilter::unknown_name(const Sheet& sheet) const {
  for (const std::string& name : names_)
    if (!column_called(sheet, usual_name(name)) && name != "load" && !machine_column(name))
      return name;
  return std::nullopt;
}

bool LineFilter::has_word(const Sheet& sheet, size_t line, const Scale& scale) const {
  const std::span<const SheetColumn> columns = sheet.columns();
  for (size_t column = 0; column < columns.size(); ++column) {
    const Shown shown = columns[column].shown;
    if (shown != Shown::Text && shown != Shown::Id) continue;
    const std::string text = text_of(sheet.value(line, column), shown, scale);
    if (shown == Shown::Id ? text == text_ : contains_word(text, text_)) return true;
  }
  return false;
}

bool LineFilter::fulfils(const Sheet& sheet, std::optional<size_t> line, const Scale& scale,
                         const period::Machine& machine) const {
  std::string text;
  return condition_->matches([&](std::string_view name) -> std::optional<std::string_view> {
    const std::optional<size_t> column = column_called(sheet, usual_name(name));
    if (column) {
      if (!line) return std::nullopt;
      const Value value = sheet.value(*line, *column);
      if (value.kind != Value::Kind::Number && value.kind != Value::Kind::Text) return std::nullopt;
      text = plain_text_of(value, sheet.columns()[*column].shown, scale);
    } else if (std::optional<std::string> found = machine_text(name, scale, machine)) {
      text = *std::move(found);
    } else {
      return std::nullopt;
    }
    return text;
  });
}

bool LineFilter::matches(const Sheet& sheet, size_t line, const Scale& scale,
                         const period::Machine& machine) const {
  if (!condition_) return has_word(sheet, line, scale);
  return unknown_name(sheet) || fulfils(sheet, line, scale, machine);
}

bool LineFilter::holds(const Sheet& sheet, const Scale& scale,
                       const period::Machine& machine) const {
  if (condition_ && fulfils(sheet, std::nullopt, scale, machine)) return true;
  for (size_t line = 0; line < sheet.size(); ++line)
    if (condition_ ? fulfils(sheet, line, scale, machine) : has_word(sheet, line, scale))
      return true;
  return false;
}

}  // namespace strata::top
