// SPDX-License-Identifier: Apache-2.0
#include "top/prompt.h"

#include <array>
#include <string_view>

#include "top/utf8.h"

namespace strata::top {
namespace {

constexpr size_t kLongest = 1000;

// Beside Asked: what stands before the text, and what may be written.
constexpr std::array<std::array<std::string_view, 2>, 5> kLabels = {
    {{"", ""},
     {"search: ", "a part of a name; n, N: next, previous"},
     {"filter: ", "a word, or a condition: user = www-data and cpu > 5"},
     {"jump to: ", "@14:30:05, +10s, -1m, 3m ago; or a condition: cpu > 80"},
     {"save as: ", "a file of JSON lines, which strata top opens again"}}};

size_t last_character(const std::string& text) {
  size_t at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xc0) == 0x80) {
  }
  return at;
}

}  // namespace

void Prompt::ask(Asked what, std::string text) {
  asked_ = what;
  text_ = std::move(text);
}

Prompt::Typed Prompt::press(const Key& key) {
  switch (key.code) {
    case KeyCode::Enter:
      return Typed::Entered;
    case KeyCode::Escape:
      return Typed::GivenUp;
    case KeyCode::Backspace:
      if (text_.empty()) return Typed::GivenUp;
      text_.erase(last_character(text_));
      return Typed::Text;
    case KeyCode::Character:
      if (key.control && (key.character == U'c' || key.character == U'g')) return Typed::GivenUp;
      if (key.control && key.character == U'u') {
        text_.clear();
        return Typed::Text;
      }
      if (key.control || key.alt || text_.size() > kLongest) return Typed::Nothing;
      append_utf8(key.character, text_);
      return Typed::Text;
    default:
      return Typed::Nothing;
  }
}

void Prompt::draw(Grid& grid, unsigned row) const {
  const auto& [label, hint] = kLabels[static_cast<size_t>(asked_)];
  grid.paint(row, 0, grid.width(), Style::Plain);
  unsigned at = grid.put(row, 0, label, Style::Bold);
  // The end of a long text is where somebody types.
  const size_t room = grid.width() > at + 1 ? grid.width() - at - 1 : 0;
  std::string_view shown = text_;
  if (shown.size() > room) shown.remove_prefix(shown.size() - room);
  while (!shown.empty() && (static_cast<unsigned char>(shown[0]) & 0xc0) == 0x80)
    shown.remove_prefix(1);
  at = grid.put(row, at, shown, Style::Plain);
  at = grid.put(row, at, " ", Style::Selected);
  if (text_.empty()) grid.put(row, at + 1, hint, Style::Dim);
}

}  // namespace strata::top
