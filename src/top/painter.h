// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_buffer.h"
#include "top/grid.h"
#include "top/style.h"

namespace strata::top {

enum class Colours : uint8_t {
  None,  // bold, reversed and underlined alone
  Sixteen,
  Many,  // 256
};

// What a terminal is told to do something. Empty: it cannot.
struct TerminalCodes {
  Colours colours = Colours::None;
  bool is_utf8 = true;  // otherwise ASCII alone
  std::string enter;    // the screen that leaves no trace, without a cursor, with a mouse
  std::string leave;
  std::string clear;
};

// Grids as what a terminal has to be sent: of each what differs from the one before.
class Painter {
 public:
  explicit Painter(TerminalCodes codes) : codes_(std::move(codes)) {}

  const TerminalCodes& codes() const { return codes_; }
  // What makes the screen that shows the last grid show this one. Valid until the next call.
  std::string_view paint(const Grid& grid);
  // Nobody knows what is on the screen.
  void forget() { has_shown_ = false; }

 private:
  void move_to(unsigned row, unsigned column);
  void put_style(Style style);
  void put_glyph(char32_t glyph);

  TerminalCodes codes_;
  Grid shown_{0, 0};
  bool has_shown_ = false;
  TextBuffer out_;
};

// How a style looks: an SGR sequence that depends on nothing before it.
std::string_view look_of(Style style, Colours colours);

}  // namespace strata::top
