// SPDX-License-Identifier: Apache-2.0
#include "cli/query_shell.h"

#include <unistd.h>

#include <algorithm>

#include "base/near_names.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "query/declaration.h"

namespace strata::cli {
namespace {

using query::RowStyle;

constexpr std::string_view kHelp =
    ".help                        this text\n"
    ".mode table|csv|json|line    how rows are shown\n"
    ".quit                        the end, as Ctrl-D\n"
    ".schema [TABLE]              tables with their columns, and what each tells\n"
    ".tables                      the tables\n"
    "\n"
    "Everything else is SQL, up to a semicolon. Ctrl-C ends a statement that takes too long.\n"
    "at('+2s') is a time: +2s after the first event, -2s before the last, @14:30 of the day.\n";

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

QueryShell::QueryShell(query::Database& database, RowStyle style)
    : database_(database), style_(style) {}

bool QueryShell::is_command(std::string_view text) {
  text = without_blanks(text);
  return text.size() > 1 && text[0] == '.' && text[1] >= 'a' && text[1] <= 'z';
}

int QueryShell::run(const std::string& text) {
  Output out(STDOUT_FILENO);
  int status =
      is_command(text) ? run_command(without_blanks(text), out.text()) : run_statements(text, out);
  if (const Status written = out.finish(); !written) {
    complain(written.error());
    status = kExitInput;
  }
  return std::max(status, tell_problems(database_.take_problems()));
}

int QueryShell::run_statements(const std::string& sql, Output& out) {
  const Style style(STDOUT_FILENO);
  for (size_t position = 0; position < sql.size() && !out.closed_early();) {
    Result<std::optional<query::Statement>> statement = database_.prepare(sql, position);
    if (!statement) {
      out.flush();
      complain_at("SQL", sql, statement.error());
      return kExitUsage;
    }
    if (!*statement) continue;
    const auto writer = query::RowWriter::make(style_, style.is_on());
    if (Status done = write_rows(**statement, *writer, out); !done) {
      out.flush();
      complain(done.error());
      return kExitInput;
    }
  }
  return kExitFine;
}

int QueryShell::run_command(std::string_view text, TextBuffer& out) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t"));
  const std::string_view argument = without_blanks(text.substr(name.size()));
  if (name == ".schema") return show_schema(argument, out);
  if (name == ".mode") return set_style(argument);
  if (name == ".tables") {
    show_tables(out);
  } else if (name == ".help") {
    out.put(kHelp);
  } else if (name == ".quit" || name == ".exit") {
    quits_ = true;
  } else {
    complain("there is no command '" + std::string(name) + "'" +
             did_you_mean(name, {".help", ".mode", ".quit", ".schema", ".tables"}));
    return kExitUsage;
  }
  return kExitFine;
}

int QueryShell::show_schema(std::string_view table, TextBuffer& out) {
  bool is_known = table.empty();
  for (const auto& one : database_.tables()) {
    if (!table.empty() && one->name != table) continue;
    is_known = true;
    if (!out.empty()) out.put('\n');
    out.put(query::documentation(*one));
  }
  if (is_known) return kExitFine;
  complain("there is no table '" + std::string(table) + "'");
  return kExitUsage;
}

int QueryShell::set_style(std::string_view name) {
  constexpr std::pair<std::string_view, RowStyle> kStyles[] = {{"table", RowStyle::Table},
                                                               {"csv", RowStyle::Csv},
                                                               {"json", RowStyle::Json},
                                                               {"line", RowStyle::Line}};
  const auto* style = std::ranges::find(kStyles, name, [](const auto& one) { return one.first; });
  if (style == std::end(kStyles)) {
    complain(".mode is one of table, csv, json and line");
    return kExitUsage;
  }
  style_ = style->second;
  return kExitFine;
}

void QueryShell::show_tables(TextBuffer& out) const {
  Table list({"table", "what it holds"});
  list.align_left(1);
  for (const auto& table : database_.tables()) list.add({table->name, table->about});
  list.put(Style(STDOUT_FILENO), 0, out);
}

}  // namespace strata::cli
