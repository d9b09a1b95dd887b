// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "period/feed.h"
#include "period/history.h"
#include "period/table.h"
#include "top/grid.h"
#include "top/key.h"

namespace strata::top {

// What the table on screen is of, and what is being done: told by whoever knows the time.
struct Moment {
  bool is_live = false;    // of a running machine
  bool is_paused = false;  // what is shown stays, until somebody goes on
  bool is_newest = true;   // no younger table is there
  double speed = 1;        // of a recording that is played
  bool is_recording = false;
  bool is_flying = false;                    // an event ring is kept beside
  std::vector<std::string> shortfalls = {};  // of the feed
  std::string message = {};                  // for a moment: what a key has led to
  const period::History* history = nullptr;  // tables before the one on screen
  size_t position = 0;                       // its place in the history
};

// What is on screen of a table: which screen, sorted by what, filtered, opened, selected. Knows
// nothing of terminals, nor of where tables come from.
class Board {
 public:
  Board();
  ~Board();

  // From now on this one is shown; what was selected stays so.
  void show(period::Table table);
  const period::Table& table() const;

  // False: this key does not concern what is shown, but time or the program.
  bool press(const Key& key);
  // Somebody types a text, and every key belongs to it.
  bool is_typing() const;

  // What the screens that were opened so far show of a machine.
  period::Groups wants() const;
  void open_screens(period::Groups groups);

  void draw(const Moment& moment, Grid& grid);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::top
