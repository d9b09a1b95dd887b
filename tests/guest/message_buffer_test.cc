// SPDX-License-Identifier: Apache-2.0
#include "guest/message_buffer.h"

#include <gmock/gmock.h>

#include "wire_bytes.h"

namespace strata::guest {
namespace {

using test::WireBytes;
using ::testing::HasSubstr;

// Gives it the bytes, as many at once as there is room for and at most `step`.
void put(MessageBuffer& buffer, Bytes bytes, size_t step = SIZE_MAX) {
  const std::span<std::byte> room = buffer.room();
  const size_t size = std::min({room.size(), bytes.size(), step});
  ASSERT_GT(size, 0u);
  std::ranges::copy(bytes.first(size), room.begin());
  buffer.filled(size);
}

MessageBuffer proved(Role from) {
  MessageBuffer buffer(from);
  put(buffer, as_bytes(kPreamble));
  buffer.key_is_proved();
  return buffer;
}

std::string error_of(MessageBuffer& buffer, const WireBytes& bytes) {
  put(buffer, bytes.bytes());
  const Result<std::optional<Message>> message = buffer.next();
  return message ? "" : message.error().cause;
}

// Its messages, of bytes that come so many at once: "KIND RECORDING SIZE BEGINNING".
std::vector<std::string> messages_in(MessageBuffer& buffer, Bytes bytes, size_t step) {
  std::vector<std::string> found;
  while (!bytes.empty()) {
    const size_t before = buffer.unread().size();
    put(buffer, bytes, step);
    bytes = bytes.subspan(buffer.unread().size() - before);
    for (;;) {
      const Result<std::optional<Message>> message = buffer.next();
      EXPECT_TRUE(message) << message.error().text();
      if (!message || !*message) break;
      const Message& m = **message;
      found.push_back(std::to_string(static_cast<int>(m.kind)) + " " + std::to_string(m.recording) +
                      " " + std::to_string(m.body.size()) + " " +
                      std::string(as_text(m.body).substr(0, 3)));
    }
  }
  return found;
}

TEST(MessageBuffer, MessagesComeOutHoweverTheirBytesCameIn) {
  WireBytes bytes;
  bytes.preamble().head(3, 13, 5).raw("abc").head(0, 14).head(70'000, 10, 6).fill(70'000, 'x');
  for (const size_t step : {size_t{1}, size_t{7}, size_t{4096}, SIZE_MAX}) {
    MessageBuffer buffer(Role::Guest);
    buffer.key_is_proved();
    EXPECT_THAT(messages_in(buffer, bytes.bytes(), step),
                ::testing::ElementsAre("13 5 3 abc", "14 0 0 ", "10 6 70000 xxx"))
        << step;
  }
}

TEST(MessageBuffer, NoPartOfAMessageIsOne) {
  const std::vector<std::byte> whole = WireBytes().preamble().head(69, 1).fill(69, 'h').bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    MessageBuffer buffer(Role::Host);
    if (size > 0) put(buffer, Bytes(whole).first(size));
    const Result<std::optional<Message>> message = buffer.next();
    ASSERT_TRUE(message) << size;
    EXPECT_FALSE(*message) << size;
  }
}

TEST(MessageBuffer, OtherProtocolsAreTurnedAwayAtTheirFirstBytes) {
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n", "\x16\x03\x01\x02", "SSH-2.0", "strata-guest 2\r\n", "s\n"}) {
    MessageBuffer buffer(Role::Host);
    EXPECT_EQ(error_of(buffer, WireBytes().raw(text)),
              "something else than this protocol is spoken")
        << text;
  }
}

TEST(MessageBuffer, KindsOfALaterVersionArePassedOver) {
  MessageBuffer buffer = proved(Role::Guest);
  put(buffer,
      WireBytes().head(5, 999, 1).raw("later").head(0, 65535).head(2, 14).raw("ok").bytes());
  const Result<std::optional<Message>> message = buffer.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->kind, Kind::Problem);
  EXPECT_EQ(as_text((*message)->body), "ok");
}

TEST(MessageBuffer, ASizeIsBoundedBeforeAnyMemoryIsTakenForIt) {
  MessageBuffer large = proved(Role::Guest);
  EXPECT_THAT(error_of(large, WireBytes().head(UINT32_MAX, 10)),
              HasSubstr("Piece (10) of 4294967295 bytes, of which it may have 262208"));
  MessageBuffer unknown = proved(Role::Guest);
  EXPECT_THAT(error_of(unknown, WireBytes().head(65'537, 999)), HasSubstr("may have 65536"));
  MessageBuffer just = proved(Role::Guest);
  EXPECT_EQ(error_of(just, WireBytes().head(256 << 10, 11)), "");
  EXPECT_LE(just.room().size(), (256u << 10) + kHeadSize);
}

TEST(MessageBuffer, BeforeTheKeyIsProvedOnlyShortGreetingsAreTaken) {
  const auto unproved = [](const WireBytes& bytes) {
    MessageBuffer buffer(Role::Host);
    put(buffer, as_bytes(kPreamble));
    return error_of(buffer, bytes);
  };
  EXPECT_EQ(unproved(WireBytes().head(1024, 1)), "");
  EXPECT_THAT(unproved(WireBytes().head(1025, 1)), HasSubstr("Hello (1) of 1025 bytes"));
  EXPECT_THAT(unproved(WireBytes().head(0, 7)), HasSubstr("Record (7) before the key was proved"));
  EXPECT_THAT(unproved(WireBytes().head(0, 999)), HasSubstr("kind 999 before the key was proved"));
  MessageBuffer buffer(Role::Host);
  EXPECT_LE(buffer.room().size(), 4096u);
}

TEST(MessageBuffer, WhatOnlyTheOtherSideMaySendIsAnError) {
  MessageBuffer from_host = proved(Role::Host);
  EXPECT_THAT(error_of(from_host, WireBytes().head(0, 10)),
              HasSubstr("Piece (10) that a host does not send"));
  MessageBuffer from_guest = proved(Role::Guest);
  EXPECT_THAT(error_of(from_guest, WireBytes().head(0, 7)),
              HasSubstr("Record (7) that a guest does not send"));
  MessageBuffer reserved = proved(Role::Host);
  EXPECT_EQ(error_of(reserved, WireBytes().head(0, 12, 1, 1)), "what comes is no message");
}

TEST(MessageBuffer, UntilTheKeyIsProvedAPreambleMayComeAgain) {
  const std::vector<std::byte> bytes =
      WireBytes().preamble().preamble().head(1, 1).raw("a").preamble().head(1, 1).raw("b").bytes();
  for (const size_t step : {size_t{1}, size_t{5}, SIZE_MAX}) {
    MessageBuffer buffer(Role::Host);
    EXPECT_THAT(messages_in(buffer, bytes, step), ::testing::ElementsAre("1 0 1 a", "1 0 1 b"))
        << step;
  }
}

TEST(MessageBuffer, AfterAResetItGoesOnAtTheNextPreambleWhateverComesBefore) {
  MessageBuffer buffer = proved(Role::Host);
  // In the midst of a conversation another one begins.
  EXPECT_EQ(error_of(buffer, WireBytes().preamble()), "what comes is no message");
  buffer.reset();
  Result<std::optional<Message>> message = buffer.next();
  ASSERT_TRUE(message && !*message);
  put(buffer, WireBytes().head(3, 1).raw("hi!").bytes());
  message = buffer.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ(as_text((*message)->body), "hi!");

  buffer.reset();
  const std::vector<std::byte> noise = WireBytes()
                                           .fill(10'000, 's')
                                           .raw("strata-guest 0\r\nstrata-gu")
                                           .preamble()
                                           .head(2, 1)
                                           .raw("yo")
                                           .bytes();
  for (const std::byte byte : noise) {
    put(buffer, {&byte, 1});
    message = buffer.next();
    ASSERT_TRUE(message) << message.error().text();
    EXPECT_LT(buffer.unread().size(), 64u);
  }
  ASSERT_TRUE(*message);
  EXPECT_EQ(as_text((*message)->body), "yo");
}

}  // namespace
}  // namespace strata::guest
