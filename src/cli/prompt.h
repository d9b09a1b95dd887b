// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

struct editline;
struct history;

namespace strata::cli {

// Lines that somebody types at a terminal, with editing, and a history that is kept from one time
// to the next in $XDG_STATE_HOME/strata/.
class Prompt {
 public:
  // `name`: shown before each line, and of the file with the history.
  explicit Prompt(std::string name);
  ~Prompt();
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  enum class Got : uint8_t {
    Line,
    Cancelled,  // Ctrl-C: what was typed is to be forgotten
    End,
  };
  // `goes_on`: what the line before began.
  Got read(bool goes_on, std::string& line);

  // Puts what was typed into the history.
  void remember(const std::string& text);

 private:
  std::string name_;
  std::string shown_;
  std::string history_file_;  // empty: nowhere to keep one
  editline* editor_;
  history* history_;
};

}  // namespace strata::cli
