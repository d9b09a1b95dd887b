// SPDX-License-Identifier: Apache-2.0
#include "guest/codec.h"

#include <gmock/gmock.h>

#include <set>

#include "guest/messages.h"
#include "support/guarded_bytes.h"
#include "wire_bytes.h"

namespace strata::guest {
namespace {

using test::WireBytes;
using ::testing::ElementsAre;

template <typename Body>
Result<Body> decode_body(const std::vector<std::byte>& bytes) {
  return decode<Body>({Body::kKind, 0, bytes});
}

template <typename Body>
std::string why_not(const WireBytes& bytes) {
  const Result<Body> decoded = decode_body<Body>(bytes.bytes());
  return decoded ? "" : decoded.error().cause;
}

TEST(Codec, AMessageIsItsSizeItsKindItsRecordingAndItsFields) {
  EXPECT_EQ(encode(KeepAlive{.number = 0x1122334455667788, .answers = true}, 7),
            WireBytes().head(9, 15, 7).u64(0x1122334455667788).u8(1).bytes());
  EXPECT_EQ(encode(Stop{}, 3), WireBytes().head(0, 12, 3).bytes());
  EXPECT_EQ(encode(File{.file = 2, .kind = FileKind::App, .part = "shop", .name = "metadata"}, 1),
            WireBytes()
                .head(4 + 1 + 2 + 4 + 2 + 8, 9, 1)
                .u32(2)
                .u8(4)
                .u16(4)
                .raw("shop")
                .u16(8)
                .raw("metadata")
                .bytes());
}

TEST(Codec, AHelloHasVersionsRoleAndNonces) {
  Hello hello{.versions = {1, 2}, .role = Role::Guest};
  hello.nonce.fill(std::byte{0xaa});
  hello.answers.fill(std::byte{0xbb});
  EXPECT_EQ(encode(hello), WireBytes()
                               .head(2 + 2 + 1 + 32 + 32, 1)
                               .u16(1)
                               .u16(2)
                               .u8(2)
                               .fill(32, '\xaa')
                               .fill(32, '\xbb')
                               .bytes());
}

TEST(Codec, AListIsItsNumberAndItsElements) {
  const RecordingStatus status{.events = 5, .bytes = 6, .lost = 7, .cpus = {{1, 2, 3}, {4, 5, 6}}};
  const std::vector<std::byte> message = encode(status, 9);
  EXPECT_EQ(message, WireBytes()
                         .head(8 + 8 + 8 + 4 + 2 * 14, 11, 9)
                         .u64(5)
                         .u64(6)
                         .u64(7)
                         .u32(2)
                         .u32(1)
                         .u64(2)
                         .u16(3)
                         .u32(4)
                         .u64(5)
                         .u16(6)
                         .bytes());
  const Result<RecordingStatus> read =
      decode<RecordingStatus>({Kind::Status, 9, Bytes(message).subspan(kHeadSize)});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->lost, 7u);
  ASSERT_EQ(read->cpus.size(), 2u);
  EXPECT_EQ(read->cpus[1].cpu, 4u);
  EXPECT_EQ(read->cpus[1].lost, 5u);
  EXPECT_EQ(read->cpus[1].permille, 6u);
}

TEST(Codec, WhatALaterVersionAddsAtTheEndIsPassedOver) {
  const Result<KeepAlive> read =
      decode_body<KeepAlive>(WireBytes().u64(5).u8(1).raw("of the future").bytes());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->number, 5u);
  EXPECT_TRUE(read->answers);
}

TEST(Codec, AReasonOfALaterVersionIsAnotherReason) {
  const Result<Refused> read = decode_body<Refused>(WireBytes().u16(999).u16(2).raw("no").bytes());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->why, "no");
}

// Each cut behind memory that cannot be read.
template <typename Body>
void expect_no_part_is_enough(const Body& body) {
  const std::vector<std::byte> message = encode(body);
  const Bytes whole = Bytes(message).subspan(kHeadSize);
  ASSERT_TRUE(decode<Body>({Body::kKind, 0, whole}));
  for (size_t size = 0; size < whole.size(); ++size) {
    const test::GuardedBytes part(whole.first(size));
    EXPECT_FALSE(decode<Body>({Body::kKind, 0, part.bytes()})) << size;
  }
}

TEST(Codec, ABodyThatIsCutOffAnywhereIsAnError) {
  expect_no_part_is_enough(Hello{});
  expect_no_part_is_enough(Proof{});
  expect_no_part_is_enough(Attach{});
  expect_no_part_is_enough(Attached{});
  expect_no_part_is_enough(Refused{Reason::Key, "because"});
  expect_no_part_is_enough(Description{.program = "1", .machine = "m", .cpus = {0, 1, 2}});
  expect_no_part_is_enough(Started{.clock = "mono", .cpus = {0, 1}});
  expect_no_part_is_enough(File{.part = "p", .name = "n"});
  expect_no_part_is_enough(RecordingStatus{.cpus = {{0, 1, 2}, {1, 1, 2}}});
  expect_no_part_is_enough(Done{.why = "full", .streams = {{0, 1, 2}}});
  expect_no_part_is_enough(Problem{"p"});
  expect_no_part_is_enough(KeepAlive{});
  expect_no_part_is_enough(Watch{});
  expect_no_part_is_enough(Open{.path = "l2"});
  expect_no_part_is_enough(Opened{});
}

TEST(Codec, WhatIsNotAsItShouldBeIsNamed) {
  EXPECT_EQ(why_not<KeepAlive>(WireBytes().u64(5).u8(2)),
            "KeepAlive has a flag that is neither 0 nor 1");
  EXPECT_EQ(why_not<Hello>(WireBytes().u16(1).u16(1).u8(3).fill(64, 'x')),
            "Hello has a choice that there is not");
  EXPECT_EQ(why_not<Problem>(WireBytes().u16(1025).fill(1025, 'x')),
            "Problem has a text that is too long");
  EXPECT_EQ(why_not<Problem>(WireBytes().u16(5).raw("\33[2Jx")),
            "Problem has a text that is not printable");
  EXPECT_EQ(why_not<Problem>(WireBytes().u16(3).raw("ab")), "Problem has fields without their end");
  const Result<Stop> other = decode<Stop>({Kind::Problem, 0, {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().cause, "a message that is no Stop");
}

TEST(Codec, ANumberOfElementsIsBelievedOnlyWhereTheyCanBeThere) {
  const auto started = [](uint32_t count, size_t bytes) {
    return WireBytes().fill(32, 't').u16(0).u64(0).u32(4096).u32(count).fill(bytes, '\0');
  };
  EXPECT_EQ(why_not<Started>(started(2, 8)), "");
  EXPECT_EQ(why_not<Started>(started(3, 8)), "Started has a list without its end");
  EXPECT_EQ(why_not<Started>(started(8192, 8)), "Started has a list without its end");
  EXPECT_EQ(why_not<Started>(started(UINT32_MAX, 8)), "Started has a list that is too long");
}

TEST(Codec, OfAGuestOnlyNamesThatCanBeFilesAnywhereAreTaken) {
  const auto file = [](std::string_view name) {
    return why_not<File>(
        WireBytes().u32(0).u8(1).u16(0).u16(static_cast<uint16_t>(name.size())).raw(name));
  };
  EXPECT_EQ(file("metadata"), "");
  EXPECT_EQ(file("stream_0"), "");
  EXPECT_EQ(file("app-shop/stream-1.ctf"), "");
  for (const std::string_view name :
       {"", ".", "..", "../x", "/etc/passwd", "a/../b", "a/b/c", "a/", "a//b", ".hidden", "a/.b",
        "a b", "a\\b", "a%2fb", "\xc3\xa4"})
    EXPECT_THAT(file(name), ::testing::AnyOf("File has a name that is none of a file",
                                             "File has a text that is not printable"))
        << name;
}

TEST(Codec, TextIsMadePrintableAndCutByWhoSendsIt) {
  const std::vector<std::byte> message =
      encode(Problem{"a\33[1m\xc2\x9b" + std::string(2000, 'x')});
  const Result<Problem> read =
      decode<Problem>({Kind::Problem, 0, Bytes(message).subspan(kHeadSize)});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->what, "a?[1m??" + std::string(1024 - 7, 'x'));
}

TEST(Protocol, EveryKindHasANumberOfItsOwnAndALimitThatMemoryBears) {
  std::set<Kind> numbers;
  for (const KindInfo& info : kKinds) {
    EXPECT_TRUE(numbers.insert(info.kind).second) << info.name;
    EXPECT_LE(info.most, 1u << 20) << info.name;
    if (is_greeting(info.kind)) EXPECT_LE(info.most, kMaxGreeting) << info.name;
  }
  EXPECT_EQ(info_of(static_cast<Kind>(0)), nullptr);
  EXPECT_EQ(info_of(static_cast<Kind>(999)), nullptr);
}

TEST(Protocol, TheLargestMessagesFitTheirLimits) {
  const auto body = [](const std::vector<std::byte>& message) {
    return message.size() - kHeadSize;
  };
  const std::vector<uint32_t> cpus(kMaxCpus);
  const std::string text(4096, 'x');
  EXPECT_LE(body(encode(Hello{})), info_of(Kind::Hello)->most);
  EXPECT_LE(body(encode(Refused{Reason::Key, text})), info_of(Kind::Refused)->most);
  EXPECT_LE(body(encode(Description{text, text, text, text, text, text, 1, text, 1, cpus})),
            info_of(Kind::Description)->most);
  EXPECT_LE(body(encode(Started{{}, text, 0, 0, cpus})), info_of(Kind::Started)->most);
  EXPECT_LE(body(encode(File{0, FileKind::App, text, text})), info_of(Kind::File)->most);
  EXPECT_LE(body(encode(RecordingStatus{.cpus = std::vector<CpuStatus>(kMaxCpus)})),
            info_of(Kind::Status)->most);
  EXPECT_LE(body(encode(Done{0, text, std::vector<StreamTotal>(kMaxCpus + 1)})),
            info_of(Kind::Done)->most);
  const std::vector<std::byte> piece(kMaxPiece);
  EXPECT_LE(body(encode(Piece{0, 0, piece})), info_of(Kind::Piece)->most);
  EXPECT_LE(body(encode(Table{true, piece})), info_of(Kind::Table)->most);
  EXPECT_LE(body(encode(Open{{}, text})), info_of(Kind::Open)->most);
}

TEST(Protocol, APeerOfOneVersionOlderOrNewerIsSpokenWith) {
  EXPECT_EQ(common_version({1, 2}, {1, 3}), 2);
  EXPECT_EQ(common_version({1, 3}, {1, 2}), 2);
  EXPECT_EQ(common_version({2, 3}, {1, 2}), 2);
  EXPECT_EQ(common_version({1, 1}, {1, 9}), 1);
  EXPECT_EQ(common_version({1, 1}, {2, 3}), std::nullopt);
  EXPECT_EQ(common_version({3, 4}, {1, 2}), std::nullopt);
  EXPECT_EQ(common_version({1, 1}, {0, 0}), std::nullopt);
}

}  // namespace
}  // namespace strata::guest
