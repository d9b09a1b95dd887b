// SPDX-License-Identifier: Apache-2.0
//
// The blocks of TSDL: trace, env, clock, stream, event.
#include <gtest/gtest.h>

#include "field_shape.h"
#include "format/ctf/metadata.h"

namespace strata::ctf {
namespace {

constexpr const char* kTrace = "trace { major = 1; minor = 8; byte_order = le; };\n";
constexpr const char* kTypes =
    "typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32;"
    "typealias integer { size = 64; } := u64;\n";

Description described(const std::string& text) {
  Result<Description> description = parse_tsdl(text, "metadata");
  EXPECT_TRUE(description) << description.error().text();
  return description ? std::move(*description) : Description();
}

std::string refused(const std::string& text) {
  Result<Description> description = parse_tsdl(text, "metadata");
  return description ? "not refused" : description.error().cause;
}

TEST(TsdlDescription, TheTraceSaysOrderUuidAndPacketHeader) {
  const Description it = described(
      "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = be;"
      " uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";"
      " packet.header := struct { u32 magic; u8 uuid[16]; u8 stream_id; u64 stream_instance_id; };"
      "};" +
      std::string(kTypes));
  EXPECT_EQ(it.version, 1u);
  EXPECT_EQ(it.order, ByteOrder::Big);
  EXPECT_EQ(it.uuid,
            std::string("\x2a\x64\x22\xd0\x6c\xee\x11\xe0\x8c\x08\xcb\x07\xd7\xb3\xa5\x64"));
  EXPECT_EQ(shape(it.packet_header),
            "{magic:u32be@8 =Magic,uuid:blob[16] =Uuid,stream_id:u8be@8 =StreamClass,"
            "stream_instance_id:u64be@8 =Stream}@8");
}

TEST(TsdlDescription, ThePacketHeaderMayBeAssignedOutsideOfTheBlock) {
  const Description it =
      described(std::string(kTypes) + kTrace + "trace.packet.header := struct { u32 magic; };");
  EXPECT_EQ(shape(it.packet_header), "{magic:u32@8 =Magic}@8");
}

TEST(TsdlDescription, TheEnvironmentHoldsNumbersAndStrings) {
  const Description it = described(
      std::string(kTrace) +
      "env { host = \"a\\\"b\\n\\x41\\102\"; pid = 12; low = -1; word = name.of.it; pid = 13; };");
  ASSERT_EQ(it.environment.size(), 4u);
  EXPECT_EQ(std::get<std::string>(*it.find_environment("host")), "a\"b\nAB");
  EXPECT_EQ(std::get<int64_t>(*it.find_environment("pid")), 13);
  EXPECT_EQ(std::get<int64_t>(*it.find_environment("low")), -1);
  EXPECT_EQ(std::get<std::string>(*it.find_environment("word")), "name.of.it");
  EXPECT_EQ(it.find_environment("none"), nullptr);
}

TEST(TsdlDescription, AClockIsAllThatItsBlockSays) {
  const Description it =
      described(std::string(kTrace) +
                "clock { name = \"mono\"; uuid = \"2A6422D0-6cee-11e0-8c08-cb07d7b3a564\"; "
                "description = \"d\";"
                " freq = 1000; precision = 5; offset_s = 10; offset = 2500; absolute = TRUE; };"
                "clock { name = other; };");
  ASSERT_EQ(it.clocks.size(), 2u);
  const Clock& clock = it.clocks[0];
  EXPECT_EQ(clock.name, "mono");
  EXPECT_EQ(clock.uid, "2a6422d0-6cee-11e0-8c08-cb07d7b3a564");
  EXPECT_EQ(clock.description, "d");
  EXPECT_EQ(clock.frequency, 1000u);
  EXPECT_EQ(clock.precision, uint64_t{5});
  EXPECT_EQ(clock.offset_seconds, 12);
  EXPECT_EQ(clock.offset_cycles, 500u);
  EXPECT_TRUE(clock.since_epoch);
  EXPECT_EQ(it.clocks[1].frequency, 1'000'000'000u);
  EXPECT_EQ(it.clocks[1].precision, std::nullopt);
  EXPECT_FALSE(it.clocks[1].since_epoch);
}

TEST(TsdlDescription, AnOffsetBeforeTheOriginHasItsCyclesForward) {
  const Description it = described(std::string(kTrace) +
                                   "clock { name = c; freq = 1000; offset_s = -3; offset = -1; };");
  EXPECT_EQ(it.clocks[0].offset_seconds, -4);
  EXPECT_EQ(it.clocks[0].offset_cycles, 999u);
}

constexpr const char* kClock = "clock { name = c; };\n";
constexpr const char* kMapped =
    "typealias integer { size = 64; map = clock.c.value; } := time;"
    "typealias integer { size = 27; align = 1; map = clock.c.value; } := short_time;\n";

TEST(TsdlDescription, FieldsOfPacketsAreKnownByTheirNames) {
  const Description it = described(
      std::string(kTrace) + kTypes + kClock + kMapped +
      "stream { packet.context := struct { time timestamp_begin; time timestamp_end;"
      " u64 packet_size; u64 content_size; u32 events_discarded; u32 packet_seq_num; u32 cpu_id;"
      " struct { u32 packet_size; } s; }; };");
  EXPECT_EQ(
      shape(it.streams[0].packet_context),
      "{timestamp_begin:u64@8 =Timestamp clock,timestamp_end:u64@8 =End clock,"
      "packet_size:u64@8 =Total,content_size:u64@8 =Content,events_discarded:u32@8 =Discarded,"
      "packet_seq_num:u32@8 =Sequence,cpu_id:u32@8,s:{packet_size:u32@8}@8}@8");
  EXPECT_EQ(it.streams[0].clock, size_t{0});
}

TEST(TsdlDescription, TheIdOfACompactHeaderLiesInTwoPlaces) {
  const Description it = described(
      std::string(kTrace) + kTypes + kClock + kMapped +
      "struct compact { enum : integer { size = 5; } { compact = 0 ... 30, extended = 31 } id;"
      " variant <id> { struct { short_time timestamp; } compact;"
      " struct { u32 id; time timestamp; } extended; } v; } align(8);"
      "stream { event.header := struct compact; };");
  EXPECT_EQ(shape(it.streams[0].event_header),
            "{id:u5 enum{compact=0..30,extended=31} =Event,v:<header:id>("
            "compact=0..30:{timestamp:u27 =Timestamp clock}@1|"
            "extended=31:{id:u32@8 =Event,timestamp:u64@8 =Timestamp clock}@8)}@8");
}

TEST(TsdlDescription, NamesMeanNothingInAPayload) {
  const Description it =
      described(std::string(kTrace) + kTypes +
                "event { fields := struct { u8 id; u32 timestamp; u8 magic; }; };");
  EXPECT_EQ(shape(it.streams[0].events[0].payload), "{id:u8@8,timestamp:u32@8,magic:u8@8}@8");
  EXPECT_EQ(it.streams[0].clock, std::nullopt);
}

TEST(TsdlDescription, TimesThatNameNoClockAreTheOnlyOnes) {
  const std::string stream = "stream { event.header := struct { u32 timestamp; }; };";
  Description it = described(std::string(kTrace) + kTypes + kClock + stream);
  EXPECT_EQ(it.streams[0].clock, size_t{0});
  EXPECT_EQ(shape(it.streams[0].event_header), "{timestamp:u32@8 =Timestamp clock}@8");
  it = described(std::string(kTrace) + kTypes + stream);
  ASSERT_EQ(it.clocks.size(), 1u);
  EXPECT_EQ(it.clocks[0].name, "default");
  EXPECT_EQ(it.clocks[0].frequency, 1'000'000'000u);
  EXPECT_EQ(refused(std::string(kTrace) + kTypes + kClock + "clock { name = d; };\n" + stream),
            "line 5, column 1: the stream has times, but does not say which of the clocks they are "
            "of");
}

TEST(TsdlDescription, AStreamHasOneClock) {
  EXPECT_EQ(
      refused(std::string(kTrace) + kClock + "clock { name = d; };\n" + kMapped +
              "stream { event.header := struct { time timestamp; };"
              " event.context := struct { integer { size = 8; map = clock.d.value; } x; }; };"),
      "line 5, column 1: the stream's fields are mapped to several clocks");
}

TEST(TsdlDescription, AnEventIsAllThatItsBlockSays) {
  const Description it = described(
      std::string(kTypes) +
      "event { name = \"late:one\"; id = 7; stream_id = 2; loglevel = 13;"
      " model.emf.uri = \"http://x\"; context := struct { u8 a; }; fields := struct { u8 b; }; };"
      "trace { byte_order = le; packet.header := struct { u8 stream_id; }; };"
      "stream { id = 1; }; stream { id = 2; name = second; };");
  ASSERT_EQ(it.streams.size(), 2u);
  EXPECT_TRUE(it.streams[0].events.empty());
  EXPECT_EQ(it.streams[1].name, "second");
  const EventClass& event = it.streams[1].events.at(0);
  EXPECT_EQ(event.name, "late:one");
  EXPECT_EQ(event.id, 7u);
  EXPECT_EQ(event.log_level, int64_t{13});
  EXPECT_EQ(event.emf_uri, "http://x");
  EXPECT_EQ(shape(event.specific_context), "{a:u8@8}@8");
  EXPECT_EQ(shape(event.payload), "{b:u8@8}@8");
}

TEST(TsdlDescription, AnEventAloneMakesItsStream) {
  const Description it = described(std::string(kTrace) + "event { name = string; };");
  ASSERT_EQ(it.streams.size(), 1u);
  EXPECT_EQ(it.streams[0].id, 0u);
  EXPECT_EQ(it.streams[0].events.at(0).name, "string");
  EXPECT_EQ(it.streams[0].events[0].payload, nullptr);
}

TEST(TsdlDescription, CallsitesCommentsAndEmptyStatementsArePassedOver) {
  const Description it =
      described("// a line\n;;" + std::string(kTrace) +
                "callsite { name = \"e\"; func = \"f\"; file = \"g.c\"; line = 12; ip = 0xfff; };\n"
                "/* a ** comment */ event { name = e; ; fields := struct { ; string s; }; };");
  EXPECT_EQ(it.streams.at(0).events.at(0).name, "e");
}

struct Wrong {
  const char* text;
  const char* cause;
};
class WrongBlock : public testing::TestWithParam<Wrong> {};

TEST_P(WrongBlock, IsRefusedWithItsPlace) { EXPECT_EQ(refused(GetParam().text), GetParam().cause); }

constexpr const char* kTwoStreams =
    "trace { byte_order = le;\n packet.header := struct { integer { size = 8; } stream_id; }; };\n"
    "stream { id = 1; }; stream { id = 2; };\n";

INSTANTIATE_TEST_SUITE_P(
    TsdlDescription, WrongBlock,
    testing::Values(
        Wrong{"", "line 1, column 1: there is no trace block"},
        Wrong{"trace { major = 1; };",
              "line 1, column 1: the trace block does not say its byte_order"},
        Wrong{"trace { byte_order = native; };",
              "line 1, column 22: expected the trace's byte order: le, be or network"},
        Wrong{"trace { byte_order = le; };\ntrace { byte_order = le; };",
              "line 2, column 1: there are two trace blocks"},
        Wrong{"trace { byte_order = le; major = 2; };",
              "line 1, column 34: expected 1, as this is CTF 1.8"},
        Wrong{"trace { byte_order = le; uuid = \"2a6422d0\"; };",
              "line 1, column 33: expected a UUID"},
        Wrong{"trace { byte_order = le; packet.header := string; };",
              "line 1, column 26: 'packet.header' must be a structure"},
        Wrong{"trace { byte_order = le; };\nclock { freq = 1; };",
              "line 2, column 1: the clock has no name"},
        Wrong{"trace { byte_order = le; };\nclock { name = c; freq = 0; };",
              "line 2, column 26: a clock of 0 Hz stands still"},
        Wrong{"trace { byte_order = le; };\nstream { id = 1; };\nstream { id = 1; };",
              "line 3, column 1: there are two streams with the id 1"},
        Wrong{
            "trace { byte_order = le; };\nstream { id = 1; };\nstream { id = 2; };",
            "line 3, column 1: there are several streams, but packets do not say their stream_id"},
        Wrong{"trace { byte_order = le; };\nevent { id = 1; };\nevent { id = 1; };",
              "line 3, column 1: there are two events with the id 1 in a stream"},
        Wrong{"trace { byte_order = le; };\nevent { name = a; };\nevent { name = b; };",
              "line 3, column 1: the event has no id, and is not the only one of its stream"},
        Wrong{"trace { byte_order = le; };\nstream { };\nevent { stream_id = 9; };",
              "line 3, column 21: there is no stream 9"},
        Wrong{"trace { byte_order = le; };\nevent { stream_id = 0; };",
              "line 2, column 21: there is no stream 0"},
        Wrong{"trace { byte_order = le };", "line 1, column 25: expected ';', not '}'"},
        Wrong{"trace { byte_order = le; }",
              "line 1, column 27: expected ';', not the end of the text"},
        Wrong{"trace { byte_order le; };", "line 1, column 20: expected '=' or ':=', not 'le'"},
        Wrong{"frame { };",
              "line 1, column 1: expected a block or the declaration of a type, not 'frame'"},
        Wrong{"trace { a = \"b; };", "line 1, column 13: a string begins that does not end"},
        Wrong{"trace { /* };", "line 1, column 9: a comment begins that does not end"},
        Wrong{"trace { a = 12ab; };", "line 1, column 13: '12ab' is not a number"},
        Wrong{"trace { a = @; };", "line 1, column 13: '@' is no part of the language"}));

TEST(TsdlDescription, WithSeveralStreamsAnEventMustSayItsOwn) {
  EXPECT_EQ(refused(std::string(kTwoStreams) + "event { id = 1; };"),
            "line 4, column 1: the event does not say which of the streams it is in");
}

}  // namespace
}  // namespace strata::ctf
