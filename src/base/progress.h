// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace strata {

// "reading trace.dat: 42 %" on standard error while something takes long: only on a terminal, and
// not where the data itself scrolls by on one. Nothing is shown for what takes under half a second.
// The line is wiped away at the end.
class Progress {
 public:
  // `data_on_terminal`: the result goes to this terminal while it is made.
  Progress(std::string what, bool data_on_terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool enabled() const { return enabled_; }
  // Looks at the clock and writes at most ten times a second; call it every few thousand events.
  void update(uint64_t done, uint64_t total);

 private:
  std::string what_;
  bool enabled_;
  bool shown_ = false;
  int64_t next_ms_ = 0;
};

}  // namespace strata
