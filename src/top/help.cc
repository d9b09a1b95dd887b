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

constexpr std::array<Help, 42> kHelp = {{
    {"F2", "CPU time of processes"},
    {"F3", "performance counters"},
    {"F4", "I/O of processes"},
    {"F5", "virtual machines"},
    {"F6", "latencies, as histograms"},
    {"F7", "files, disks, interfaces"},
    {"F8", "processes as a tree"},
    {"Enter Esc", "open the line; go back"},
    {"Up Down", "move; also PgUp, PgDn"},
    {"g G", "first line, last line"},
    {"/ n N", "search; next, previous"},
    {"\\", "filter: word or condition"},
    {"< >", "sort by the column beside"},
    {"s I", "sort by ...; inverted"},
    {"P M", "sort by CPU; by memory"},
    {"C", "which columns are shown"},
    {"t H", "threads or processes"},
    {"%", "times in percent, in ns"},
    {"x", "watch system calls, too"},
    {"m", "the next machine"},
    {"q F10", "quit; also Ctrl-C"},
    {"Space p", "pause, go on"},
    {"Left Right", "a period back, forth"},
    {"Home End", "the oldest, the newest"},
    {":", "jump: time or condition"},
    {"; ,", "next such moment; previous"},
    {"+ -", "play faster, slower"},
    {"w", "save what is kept"},
    {"Ctrl-L", "draw again"},
    {"Ctrl-Z", "stop the program"},
    {"", ""},
    {"~ ?", "estimated; not known"},
    {"u s i v ?", "in bars: user, system,"},
    {"", "irq, VIRT, unknown"},
    {"green", "user; a new task's name"},
    {"blue", "system"},
    {"cyan", "a guest's code"},
    {"yellow", "waits for a CPU"},
    {"red", "blocked; a task that ended"},
    {"exit 3", "ended, and said so"},
    {"sig 9", "ended by a signal"},
    {"ended", "nobody told how"},
}};

}  // namespace

void draw_help(Grid& grid, unsigned top) {
  const std::string blank(grid.width(), ' ');
  const unsigned bottom = grid.height() > 0 ? grid.height() - 1 : 0;
  for (unsigned row = top; row < bottom; ++row) grid.put(row, 0, blank, Style::Plain);
  const unsigned rows = bottom > top ? bottom - top : 1;
  const unsigned needed = (static_cast<unsigned>(kHelp.size()) + rows - 1) / rows;
  const unsigned width = grid.width() / std::max(needed, 1u);
  constexpr unsigned kKeys = 12;
  for (size_t i = 0; i < kHelp.size(); ++i) {
    const unsigned row = top + static_cast<unsigned>(i) % rows;
    const unsigned at = static_cast<unsigned>(i) / rows * width;
    grid.put(row, at, kHelp[i].keys, Style::KeyName, width);
    if (width > kKeys) grid.put(row, at + kKeys, kHelp[i].meaning, Style::Plain, width - kKeys - 1);
  }
}

}  // namespace strata::top
