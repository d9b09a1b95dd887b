// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "top/grid.h"
#include "top/key.h"
#include "top/key_reader.h"
#include "top/painter.h"

namespace strata::top {

// What woke whoever waited for a terminal.
struct Woken {
  std::vector<Key> keys = {};
  bool is_time = false;  // it was waited for
  bool has_resized = false;
  bool has_resumed = false;  // the program was stopped, and goes on
  int ending = 0;            // the signal that wants the program to end
};

// The terminal that the program was started in, as long as this lives: its other screen, every key
// as it is pressed. However the program ends, but for SIGKILL, the terminal is as it was before.
// There is one at a time, since it is told of its size by a signal.
class Terminal {
 public:
  // An error where there is none, or one that cannot move its cursor.
  static Result<Terminal> open();
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  unsigned width() const { return width_; }
  unsigned height() const { return height_; }

  // In one write. An error where nobody is there any more.
  Status show(const Grid& grid);
  // Until something is pressed, or another thing happens; at the latest until this time of
  // CLOCK_MONOTONIC.
  Result<Woken> wait(int64_t deadline_ns);
  // The next frame is drawn as a whole.
  void forget() { painter_.forget(); }
  // Gives the terminal back and stops the program, as Ctrl-Z does, until somebody continues it.
  void stop();

 private:
  Terminal(TerminalCodes codes, const termios& before);
  void enter();
  void leave();
  void read_size();

  Painter painter_;
  termios before_;
  sigset_t mask_before_ = {};
  bool is_entered_ = false;
  unsigned width_ = 80;
  unsigned height_ = 24;
  KeyReader keys_;
};

// What a terminal of this kind, as $TERM names it, understands, in this environment ($COLORTERM,
// $NO_COLOR, $LANG). An error where it cannot show a screen.
Result<TerminalCodes> terminal_codes();

}  // namespace strata::top
