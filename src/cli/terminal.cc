// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strata::cli {

void complain(const Error& error) { complain(error.text()); }

void complain(std::string_view text) {
  // One write, so that lines of several programs on one terminal do not mix.
  std::string line = "strata: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void warn(std::string_view text) { complain("warning: " + std::string(text)); }

void complain_at(std::string_view what, std::string_view text, const Error& error) {
  if (!error.offset) return complain(std::string(what) + ": " + error.cause);
  const uint64_t offset = std::min<uint64_t>(*error.offset, text.size());
  const size_t begin = text.substr(0, offset).rfind('\n') + 1;  // of the line; npos + 1 is 0
  std::string line(text.substr(begin, text.find('\n', begin) - begin));
  std::ranges::replace(line, '\t', ' ');
  const uint64_t column = offset - begin;
  const auto lines = std::ranges::count(text.substr(0, begin), '\n');
  complain(std::string(what) + ": in " +
           (lines > 0 ? "line " + std::to_string(lines + 1) + ", " : "") + "column " +
           std::to_string(column + 1) + ": " + error.cause + "\n  " + line + "\n  " +
           std::string(column, ' ') + "^");
}

Style::Style(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  on_ = isatty(descriptor) == 1 && !(no_color && *no_color) &&
        !(term && std::strcmp(term, "dumb") == 0);
}

std::string Style::heading(std::string_view text) const {
  return on_ ? "\033[1m" + std::string(text) + "\033[0m" : std::string(text);
}

std::string Style::alarm(std::string_view text) const {
  return on_ ? "\033[1;31m" + std::string(text) + "\033[0m" : std::string(text);
}

std::string size_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.95; value /= 1000) ++unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

void Table::put(const Style& style, size_t indent, TextBuffer& out) const {
  std::vector<size_t> widths(rows_[0].size());
  for (size_t column = 0; column < widths.size(); ++column) {
    bool used = false;
    for (size_t row = 0; row < rows_.size(); ++row) {
      widths[column] = std::max(widths[column], rows_[row][column].size());
      used |= row > 0 && !rows_[row][column].empty();
    }
    if (!used) widths[column] = 0;
  }
  for (size_t row = 0; row < rows_.size(); ++row) {
    std::string line(indent, ' ');
    bool first = true;
    for (size_t column = 0; column < widths.size(); ++column) {
      if (widths[column] == 0) continue;
      const std::string& cell = rows_[row][column];
      std::string blanks(widths[column] - cell.size(), ' ');
      if (!first) line += "  ";
      line += left_[column] ? cell + blanks : blanks + cell;
      first = false;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.put(row == 0 ? style.heading(line) : line);
    out.put('\n');
  }
}

}  // namespace strata::cli
