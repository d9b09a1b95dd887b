// SPDX-License-Identifier: Apache-2.0
#include "top/help.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace strata::top {
namespace {

struct Help {
  std::string_view keys;
  std::string_view meaning;
};

constexpr std::array<Help, 34> kHelp = {{
    {"F2 F3", "CPU; performance counters"},
    {"F4 F7", "I/O by process; files and devices"},
    {"F5 F6", "virtual machines; latencies"},
    {"F8", "processes as a tree"},
    {"Enter", "open the line; Esc, Backspace: back"},
    {"Up Down PgUp PgDn", "move"},
    {"g G", "to the first line, to the last"},
    {"/ n N", "search; next, previous"},
    {"\\", "filter: a word, or a condition"},
    {"< >", "sort by the column beside"},
    {"s I", "choose the column; invert"},
    {"P M", "sort by CPU; by memory"},
    {"C", "choose which columns are shown"},
    {"t", "threads or processes"},
    {"%", "times in percent, or in ns"},
    {"x", "exact: watch system calls, too"},
    {"m", "the next machine"},
    {"Space p", "pause, go on"},
    {"Left Right", "back and forth by a period"},
    {"Home End", "to the oldest, to the newest"},
    {":", "jump to a time or a condition"},
    {"; ,", "the next such moment; the one before"},
    {"+ -", "play a recording faster, slower"},
    {"w", "save what is kept as JSON lines"},
    {"Ctrl-L Ctrl-Z", "draw again; stop"},
    {"q F10 Ctrl-C", "quit"},
    {"", ""},
    {"~ ?", "estimated; not known"},
    {"u s i v ?", "bars: user, system, irq, VIRT, unknown"},
    {"green", "user; a task that was just made"},
    {"blue cyan", "system; a guest's code"},
    {"yellow", "waits for a CPU"},
    {"red", "blocked; a task that has ended"},
    {"exit N, sig N", "how it ended"},
}};

}  // namespace

void draw_help(Grid& grid, unsigned top) {
  const std::string blank(grid.width(), ' ');
  const unsigned bottom = grid.height() > 0 ? grid.height() - 1 : 0;
  for (unsigned row = top; row < bottom; ++row) grid.put(row, 0, blank, Style::Plain);
  const unsigned rows = bottom > top ? bottom - top : 1;
  const unsigned needed = (static_cast<unsigned>(kHelp.size()) + rows - 1) / rows;
  const unsigned width = grid.width() / std::max(needed, 1u);
  constexpr unsigned kKeys = 19;
  for (size_t i = 0; i < kHelp.size(); ++i) {
    const unsigned row = top + static_cast<unsigned>(i) % rows;
    const unsigned at = static_cast<unsigned>(i) / rows * width;
    grid.put(row, at, kHelp[i].keys, Style::KeyName, width);
    if (width > kKeys) grid.put(row, at + kKeys, kHelp[i].meaning, Style::Plain, width - kKeys - 1);
  }
}

}  // namespace strata::top
