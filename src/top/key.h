// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::top {

enum class KeyCode : uint8_t {
  Character,
  Enter,
  Escape,
  Tab,
  Backspace,
  Insert,
  Delete,
  Up,
  Down,
  Left,
  Right,
  PageUp,
  PageDown,
  Home,
  End,
  F1,
  F2,
  F3,
  F4,
  F5,
  F6,
  F7,
  F8,
  F9,
  F10,
  F11,
  F12,
  Press,  // of the mouse's first button, at row and column
  WheelUp,
  WheelDown,
};

// Something that somebody pressed.
struct Key {
  KeyCode code{};
  char32_t character = 0;  // of Character; with Control the letter in lower case
  bool control = false;
  bool alt = false;
  bool shift = false;  // of keys that are no characters
  uint16_t row = 0;    // of the mouse, from 0
  uint16_t column = 0;
  bool operator==(const Key&) const = default;
};

constexpr Key character_key(char32_t character) { return {KeyCode::Character, character}; }

}  // namespace strata::top
