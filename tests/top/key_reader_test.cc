// SPDX-License-Identifier: Apache-2.0
#include "top/key_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace strata::top {
namespace {

std::vector<Key> keys_of(std::string_view bytes) {
  KeyReader reader;
  reader.add(bytes);
  std::vector<Key> keys;
  while (std::optional<Key> key = reader.next()) keys.push_back(*key);
  EXPECT_FALSE(reader.is_waiting()) << "bytes are left";
  return keys;
}

std::vector<KeyCode> codes_of(std::string_view bytes) {
  std::vector<KeyCode> codes;
  for (const Key& key : keys_of(bytes)) codes.push_back(key.code);
  return codes;
}

using enum KeyCode;

// By terminfo: kf1 to kf10 of each.
TEST(KeyReader, KnowsTheFunctionKeysOfUsualTerminals) {
  const std::vector<KeyCode> all = {F1, F2, F3, F4, F5, F6, F7, F8, F9, F10};
  EXPECT_EQ(codes_of("\033OP\033OQ\033OR\033OS\033[15~\033[17~\033[18~\033[19~\033[20~\033[21~"),
            all)
      << "xterm, screen, tmux";
  EXPECT_EQ(codes_of("\033[11~\033[12~\033[13~\033[14~\033[15~\033[17~\033[18~\033[19~\033[20~"
                     "\033[21~"),
            all)
      << "rxvt, putty";
  EXPECT_EQ(codes_of("\033[[A\033[[B\033[[C\033[[D\033[[E\033[17~\033[18~\033[19~\033[20~\033[21~"),
            all)
      << "linux";
}

TEST(KeyReader, KnowsArrowsAndTheirNeighbours) {
  EXPECT_EQ(codes_of("\033[A\033OB\033[C\033OD\033[5~\033[6~"),
            (std::vector{Up, Down, Right, Left, PageUp, PageDown}));
  EXPECT_EQ(codes_of("\033[H\033OH\033[1~\033[7~\033[F\033OF\033[4~\033[8~"),
            (std::vector{Home, Home, Home, Home, End, End, End, End}));
  EXPECT_EQ(codes_of("\r\n\t\x7f\b\033[2~\033[3~"),
            (std::vector{Enter, Enter, Tab, Backspace, Backspace, Insert, Delete}));
}

TEST(KeyReader, TellsModifiers) {
  const std::vector<Key> keys = keys_of("\033[1;5C\033[1;2A\033x\x0c\033[3;3~");
  ASSERT_EQ(keys.size(), 5u);
  EXPECT_EQ(keys[0], (Key{.code = Right, .control = true}));
  EXPECT_EQ(keys[1], (Key{.code = Up, .shift = true}));
  EXPECT_EQ(keys[2], (Key{.code = Character, .character = U'x', .alt = true}));
  EXPECT_EQ(keys[3], (Key{.code = Character, .character = U'l', .control = true}));
  EXPECT_EQ(keys[4], (Key{.code = Delete, .alt = true}));
}

TEST(KeyReader, ReadsCharactersOfSeveralBytesWhereverTheyAreCut) {
  KeyReader reader;
  const std::string text = "ä中😀";
  std::u32string read;
  for (const char byte : text) {
    reader.add({&byte, 1});
    while (std::optional<Key> key = reader.next()) read += key->character;
  }
  EXPECT_EQ(read, U"ä中😀");
}

TEST(KeyReader, ReadsTheMouse) {
  const std::vector<Key> keys =
      keys_of("\033[<0;10;5M\033[<0;10;5m\033[<64;1;1M\033[<65;300;200M\033[<2;1;1M");
  ASSERT_EQ(keys.size(), 3u) << "a button that is let go, and others, mean nothing";
  EXPECT_EQ(keys[0], (Key{.code = Press, .row = 4, .column = 9}));
  EXPECT_EQ(keys[1], (Key{.code = WheelUp}));
  EXPECT_EQ(keys[2], (Key{.code = WheelDown, .row = 199, .column = 299}));
}

TEST(KeyReader, AnEscapeIsAKeyWhenNothingFollows) {
  KeyReader reader;
  reader.add("\033");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_TRUE(reader.is_waiting());
  EXPECT_EQ(reader.give_up(), Key{Escape});
  EXPECT_FALSE(reader.is_waiting());
  reader.add("\033[1");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.give_up(), std::nullopt) << "half a sequence is no key";
}

TEST(KeyReader, WhatMeansNothingIsLeftOut) {
  EXPECT_EQ(codes_of("\033[99~\033[?1;2c\033[1;2;3;4;5A\033[99999999999A\xff\xc2\x9b"
                     "\033[<9999999;1;1Mq"),
            (std::vector{Character}));
}

}  // namespace
}  // namespace strata::top
