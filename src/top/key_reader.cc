// SPDX-License-Identifier: Apache-2.0
#include "top/key_reader.h"

#include <array>
#include <charconv>

#include "top/utf8.h"

namespace strata::top {
namespace {

constexpr char kEscape = '\033';
// No sequence that means anything is as long; what is longer is dropped.
constexpr size_t kLongest = 32;

struct Named {
  std::string_view text;
  KeyCode code;
};

// Behind "\033O", and behind "\033[" where no number stands before the last character.
constexpr std::array<Named, 14> kLetters = {{{"A", KeyCode::Up},
                                             {"B", KeyCode::Down},
                                             {"C", KeyCode::Right},
                                             {"D", KeyCode::Left},
                                             {"H", KeyCode::Home},
                                             {"F", KeyCode::End},
                                             {"M", KeyCode::Enter},
                                             {"P", KeyCode::F1},
                                             {"Q", KeyCode::F2},
                                             {"R", KeyCode::F3},
                                             {"S", KeyCode::F4},
                                             {"Z", KeyCode::Tab},
                                             {"E", KeyCode::Enter},
                                             {"j", KeyCode::Enter}}};

// Of "\033[N~".
struct Numbered {
  unsigned number;
  KeyCode code;
};
constexpr std::array<Numbered, 20> kNumbers = {
    {{1, KeyCode::Home},   {2, KeyCode::Insert},   {3, KeyCode::Delete}, {4, KeyCode::End},
     {5, KeyCode::PageUp}, {6, KeyCode::PageDown}, {7, KeyCode::Home},   {8, KeyCode::End},
     {11, KeyCode::F1},    {12, KeyCode::F2},      {13, KeyCode::F3},    {14, KeyCode::F4},
     {15, KeyCode::F5},    {17, KeyCode::F6},      {18, KeyCode::F7},    {19, KeyCode::F8},
     {20, KeyCode::F9},    {21, KeyCode::F10},     {23, KeyCode::F11},   {24, KeyCode::F12}}};

std::optional<KeyCode> letter_key(char letter) {
  for (const Named& named : kLetters)
    if (named.text[0] == letter) return named.code;
  return std::nullopt;
}

// Numbers with ';' between them; one that is missing is 0.
struct Numbers {
  std::array<unsigned, 3> all = {};
  bool are_all = true;
};

Numbers numbers_of(std::string_view text) {
  Numbers numbers;
  size_t i = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    unsigned number = 0;
    const auto [stopped, problem] = std::from_chars(at, end, number);
    if (problem == std::errc::result_out_of_range || i >= numbers.all.size()) {
      numbers.are_all = false;
      break;
    }
    numbers.all[i++] = number;
    at = stopped;
    if (at == end) break;
    if (*at != ';') {
      numbers.are_all = false;
      break;
    }
    ++at;
  }
  return numbers;
}

// xterm's second number: 1 and a bit each for Shift, Alt and Control.
void add_modifiers(unsigned number, Key& key) {
  if (number < 2 || number > 16) return;
  key.shift = ((number - 1) & 1) != 0;
  key.alt = ((number - 1) & 2) != 0;
  key.control = ((number - 1) & 4) != 0;
}

std::optional<Key> mouse_key(const Numbers& numbers, char last) {
  const auto [button, column, row] = numbers.all;
  if (last != 'M' || column == 0 || row == 0 || column > 65535 || row > 65535) return std::nullopt;
  Key key{.row = static_cast<uint16_t>(row - 1), .column = static_cast<uint16_t>(column - 1)};
  switch (button & ~0x1cu) {  // without Shift, Alt and Control
    case 0:
      key.code = KeyCode::Press;
      return key;
    case 64:
      key.code = KeyCode::WheelUp;
      return key;
    case 65:
      key.code = KeyCode::WheelDown;
      return key;
    default:
      return std::nullopt;
  }
}

std::optional<Key> control_sequence(std::string_view parameters, char last) {
  if (parameters.starts_with('<')) {
    const Numbers numbers = numbers_of(parameters.substr(1));
    return numbers.are_all ? mouse_key(numbers, last) : std::nullopt;
  }
  const Numbers numbers = numbers_of(parameters);
  if (!numbers.are_all) return std::nullopt;
  Key key;
  if (last == '~') {
    for (const Numbered& numbered : kNumbers) {
      if (numbered.number != numbers.all[0]) continue;
      key.code = numbered.code;
      add_modifiers(numbers.all[1], key);
      return key;
    }
    return std::nullopt;
  }
  const std::optional<KeyCode> code = letter_key(last);
  if (!code) return std::nullopt;
  key.code = *code;
  key.shift = last == 'Z';
  add_modifiers(numbers.all[1], key);
  return key;
}

Key plain_key(char32_t character) {
  switch (character) {
    case '\r':
    case '\n':
      return {KeyCode::Enter};
    case '\t':
      return {KeyCode::Tab};
    case '\b':
    case 0x7f:
      return {KeyCode::Backspace};
    case 0:
      return {.code = KeyCode::Character, .character = U' ', .control = true};
    default:
      break;
  }
  if (character < 0x20) {
    const char32_t letter = character + (character < 27 ? 0x60 : 0x40);
    return {.code = KeyCode::Character, .character = letter, .control = true};
  }
  return character_key(character);
}

}  // namespace

// What comes behind an Escape: a function key, or a key that was pressed together with Alt.
KeyReader::Found KeyReader::after_escape() const {
  const std::string_view rest = std::string_view(bytes_).substr(1);
  if (rest.empty()) return {};
  if (rest[0] == 'O') {
    if (rest.size() < 2) return {};
    const std::optional<KeyCode> code = letter_key(rest[1]);
    return {3, code ? std::optional(Key{*code}) : std::nullopt};
  }
  if (rest[0] == '[') {
    if (rest.starts_with("[[")) {  // the Linux console: "\033[[A" is F1
      if (rest.size() < 3) return {};
      constexpr std::array<KeyCode, 5> kFirst = {KeyCode::F1, KeyCode::F2, KeyCode::F3, KeyCode::F4,
                                                 KeyCode::F5};
      const auto which = static_cast<size_t>(static_cast<unsigned char>(rest[2])) - 'A';
      return {4, which < kFirst.size() ? std::optional(Key{kFirst[which]}) : std::nullopt};
    }
    for (size_t i = 1; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c >= 0x40 && c <= 0x7e) return {i + 2, control_sequence(rest.substr(1, i - 1), c)};
      if (c < 0x20 || i > kLongest) return {i + 1};  // never one of a sequence
    }
    return {};
  }
  if (rest[0] == kEscape) return {1, Key{KeyCode::Escape}};
  const Utf8 next = first_of_utf8(rest);
  if (next.is_cut) return {};
  if (!next.is_valid) return {size_t{1} + next.size};
  Key key = plain_key(next.character);
  key.alt = true;
  return {size_t{1} + next.size, key};
}

KeyReader::Found KeyReader::first() const {
  if (bytes_.empty()) return {};
  if (bytes_[0] == kEscape) return after_escape();
  const Utf8 next = first_of_utf8(bytes_);
  if (next.is_cut) return {};
  // 0x80 to 0x9f are control characters, too.
  const bool is_key = next.is_valid && (next.character < 0x80 || next.character > 0x9f);
  return {next.size, is_key ? std::optional(plain_key(next.character)) : std::nullopt};
}

std::optional<Key> KeyReader::next() {
  for (;;) {
    const Found found = first();
    if (found.size == 0) return std::nullopt;
    bytes_.erase(0, found.size);
    if (found.key) return found.key;
  }
}

std::optional<Key> KeyReader::give_up() {
  const bool was_escape = bytes_ == std::string_view(&kEscape, 1);
  bytes_.clear();
  if (!was_escape) return std::nullopt;
  return Key{KeyCode::Escape};
}

}  // namespace strata::top
