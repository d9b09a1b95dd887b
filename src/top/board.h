// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "period/feed.h"
#include "period/table.h"
#include "top/detail.h"
#include "top/grid.h"
#include "top/header.h"
#include "top/key.h"
#include "top/list.h"
#include "top/menu.h"
#include "top/moment.h"
#include "top/prompt.h"
#include "top/screens.h"
#include "top/task_sheet.h"

namespace strata::top {

// What a key asks of those who know more than what is on screen.
enum class Wish : uint8_t {
  Nothing,  // it was for the board, or means nothing
  Pause,    // or goes on
  Back,
  Forward,
  First,
  Last,
  Faster,
  Slower,
  Jump,            // to what the text says
  NextMoment,      // of the last jump's condition
  PreviousMoment,  // the same
  Save,            // into the file that the text names
  Record,          // events beside the view, or end that
  Stop,            // as Ctrl-Z does
  Redraw,
  Quit,
};
struct Order {
  Wish wish = Wish::Nothing;
  std::string text = {};
};

// What is on screen of a table: which screen, sorted by what, filtered, opened, selected. Knows
// nothing of terminals, nor of where tables come from.
class Board {
 public:
  explicit Board(UserNames& users);

  // From now on this one is shown; what was selected stays so.
  void show(period::Table table);
  const period::Table& table() const { return table_; }

  Order press(const Key& key);

  // What the screens that were opened so far show of a machine.
  period::Groups wants() const { return groups_; }
  // Which performance counters to watch, by perf's names; none: whoever watches chooses.
  const std::vector<std::string>& counters() const { return counters_; }
  // These alone are shown, by their usual names.
  void show_counters(std::vector<std::string> names);
  void open(Screen screen);
  void show_threads(bool are_shown);
  // Of these processes alone; of none: of all.
  void show_processes(std::vector<int32_t> pids) { pids_ = std::move(pids); }
  // Empty: of every line.
  Status filter_by(std::string_view text);
  // The column that lines are sorted by. False: there is none of this name.
  bool sort_by(std::string_view column);

  // A condition on what the screen shows; on processes, where that has no such columns.
  Result<LineFilter> condition(std::string_view text) const;
  bool holds(const LineFilter& condition, const period::Table& table) const;

  // How many rows the whole list takes, with what is above it.
  unsigned height_of_all(unsigned width) const;
  void draw(const Moment& moment, Grid& grid);

 private:
  // Something on a line of a list that was opened: a process, its descriptors, a virtual machine's
  // exits, a histogram.
  struct Opened {
    LineKey key;
    int32_t pid = period::kNoId;
    std::string title;
    List list;
  };

  const period::Machine& machine() const { return table_.machines[machine_]; }
  std::unique_ptr<Sheet> screen_sheet(const period::Machine& machine) const;
  std::unique_ptr<Sheet> sheet_of_opened() const;
  TaskLines task_lines() const;
  List& list() { return opened_ ? opened_->list : lists_[static_cast<size_t>(screen_)]; }
  Scale scale() const;
  void arrange();
  void open_selected();
  void open_sort_menu();
  void open_column_menu();
  void choose_from_menu();
  bool is_shown(std::string_view column) const;
  void toggle_column(std::string_view column);
  void want(period::Groups groups);
  Order press_in_prompt(const Key& key);
  Order press_character(const Key& key);
  Order press_at_bottom(const Key& key);
  void search(int step, bool may_stay);

  unsigned draw_opened_task(const Moment& moment, Grid& grid, unsigned row, unsigned bottom);
  void draw_status(const Moment& moment, Grid& grid, unsigned row);
  void draw_keys(Grid& grid, unsigned row);

  UserNames& users_;
  period::Table table_;
  std::optional<Population> before_;
  size_t machine_ = 0;
  std::vector<int32_t> pids_;
  period::Groups groups_;
  std::vector<std::string> counters_;

  Screen screen_ = Screen::Cpu;
  bool threads_ = false;
  bool in_ns_ = false;
  std::array<List, kScreens> lists_;
  std::optional<Opened> opened_;
  PastOfTask past_;
  std::unique_ptr<Sheet> sheet_;  // of the table, or of what was opened in it

  std::optional<LineFilter> filter_;
  std::string searched_;
  std::string remark_;  // of a key that led to nothing, until the next one
  Prompt prompt_;
  Menu menu_;
  bool menu_sorts_ = false;
  bool has_help_ = false;
  struct Button {
    unsigned at = 0;
    KeyCode code{};
  };
  std::vector<Button> buttons_;  // of the last row, for the mouse
  unsigned bottom_ = 0;
};

}  // namespace strata::top
