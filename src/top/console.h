// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "top/board.h"
#include "top/recordings.h"
#include "top/terminal.h"
#include "top/timeline.h"

namespace strata::top {

struct Pace {
  Nanoseconds delay{1'000'000'000};  // from one refresh of a running machine to the next
  std::optional<uint64_t> refreshes = std::nullopt;
  double speed = 1;  // of a recording
  bool is_paused = false;
};

// The view of a timeline on a terminal: waits for keys and for the time, and does what they want.
class Console {
 public:
  Console(Timeline& timeline, Board& board, Recordings& recordings, Terminal terminal,
          const Pace& pace);

  // Until somebody has seen enough. An error where the terminal has gone; a signal that ended it,
  // or 0.
  Result<int> run();

 private:
  int64_t interval() const;
  void at_time();
  void take_live();
  void obey(const Order& order);
  void step(int step);
  void play_or_pause();
  void jump(const std::string& text);
  void jump_to_moment(int step);
  void save(const std::string& path);
  void record();
  void see_recordings();
  void change_speed(double factor);
  void show();
  void say(std::string message, bool is_alarm = false);
  Going going() const;
  Status draw();
  void ask_feed();
  // Whether somebody pressed a key while something took long.
  bool is_given_up();

  Timeline& timeline_;
  Board& board_;
  Recordings& recordings_;
  Terminal terminal_;
  Pace pace_;
  Grid grid_{0, 0};
  int64_t deadline_ = 0;
  uint64_t refreshes_ = 0;
  bool is_done_ = false;
  int ending_ = 0;
  period::Groups wanted_;
  std::vector<std::string> counters_;  // the same of performance counters
  std::string message_;
  bool is_alarm_ = false;
  std::optional<LineFilter> sought_;  // by the last jump
  bool is_awaited_ = false;           // in what is still to come
  int64_t first_begin_ = 0;
  std::string beside_;  // of the recordings, for the first line
  int64_t beside_at_ = 0;
};

}  // namespace strata::top
