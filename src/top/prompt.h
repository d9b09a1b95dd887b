// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "top/grid.h"
#include "top/key.h"

namespace strata::top {

enum class Asked : uint8_t { Nothing, Search, Filter, Jump, Save };

// The line at the bottom in which somebody types a text.
class Prompt {
 public:
  // With something in it already, which the next characters follow.
  void ask(Asked what, std::string text = {});
  Asked asked() const { return asked_; }
  bool is_open() const { return asked_ != Asked::Nothing; }
  void close() { asked_ = Asked::Nothing; }
  const std::string& text() const { return text_; }

  enum class Typed : uint8_t { Text, Entered, GivenUp, Nothing };
  Typed press(const Key& key);
  void draw(Grid& grid, unsigned row) const;

 private:
  Asked asked_ = Asked::Nothing;
  std::string text_;
};

}  // namespace strata::top
