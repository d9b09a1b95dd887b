// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/grid.h"
#include "top/key.h"

namespace strata::top {

struct MenuItem {
  std::string_view name;
  std::string_view meaning;
  bool is_on = false;
};

// A list of things to choose from, over what is on screen.
class Menu {
 public:
  bool is_open() const { return !title_.empty(); }
  void open(std::string title, std::vector<MenuItem> items, size_t at);
  void close() { title_.clear(); }

  const std::string& title() const { return title_; }
  std::vector<MenuItem>& items() { return items_; }
  size_t at() const { return at_; }

  enum class Chosen : uint8_t { Nothing, This, GivenUp };
  Chosen press(const Key& key);
  void draw(Grid& grid, unsigned top);

 private:
  std::string title_;
  std::vector<MenuItem> items_;
  size_t at_ = 0;
  size_t first_ = 0;  // on screen
  unsigned row_ = 0;  // of the first one, for the mouse
  size_t rows_ = 1;
};

}  // namespace strata::top
