// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/writer.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::ctf {
namespace {

using test::read_whole_file;
using test::TemporaryFolder;

// A packet as the format defines it: where our writer puts what.
struct Packet {
  std::string bytes;  // content alone
  uint64_t begin, end, content_bits, packet_bits, number, discarded;
  uint32_t cpu;

  std::string events() const { return bytes.substr(84); }
};

template <typename T>
T number_at(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// All packets of a file; fails where it does not consist of whole ones.
std::vector<Packet> packets_of(const std::string& path) {
  const std::string file = read_whole_file(path);
  std::vector<Packet> packets;
  for (size_t at = 0; at < file.size();) {
    const std::string rest = file.substr(at);
    Packet packet;
    EXPECT_GE(rest.size(), 84u);
    EXPECT_EQ(number_at<uint32_t>(rest, 0), 0xc1fc1fc1u);
    packet.begin = number_at<uint64_t>(rest, 32);
    packet.end = number_at<uint64_t>(rest, 40);
    packet.content_bits = number_at<uint64_t>(rest, 48);
    packet.packet_bits = number_at<uint64_t>(rest, 56);
    packet.number = number_at<uint64_t>(rest, 64);
    packet.discarded = number_at<uint64_t>(rest, 72);
    packet.cpu = number_at<uint32_t>(rest, 80);
    EXPECT_LE(packet.content_bits, packet.packet_bits);
    EXPECT_LE(packet.packet_bits / 8, rest.size());
    if (testing::Test::HasFailure()) break;
    packet.bytes = rest.substr(0, packet.content_bits / 8);
    packets.push_back(packet);
    at += packet.packet_bits / 8;
  }
  return packets;
}

std::string little(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

struct CtfWriter : testing::Test {
  TemporaryFolder temporary;
  std::string folder = temporary.file("trace");
  NewTrace trace;

  Writer open(WriterOptions options = {}) {
    Result<Writer> writer = Writer::create(folder, trace, options);
    EXPECT_TRUE(writer) << writer.error().text();
    return *std::move(writer);
  }
  static StreamClassId stream_class(Writer& writer, HeaderKind header = HeaderKind::Compact) {
    return *writer.add_stream_class({header, {}, {}});
  }
  static EventId type(Writer& writer, StreamClassId stream, const std::string& name = "e") {
    return *writer.add_event_type(stream, {name, {integer_field("x", 32, false)}});
  }
  static StreamWriter& stream(Writer& writer, StreamClassId stream_class) {
    return **writer.add_stream(stream_class, {"stream", 3, {}});
  }
  std::vector<Packet> packets() const { return packets_of(folder + "/stream"); }
  std::string metadata() const { return read_whole_file(folder + "/metadata"); }
};

const std::string kX = little(7, 4);

TEST_F(CtfWriter, CompactHeaderHoldsFiveBitsOfIdBelowTwentySevenOfTime) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId first = type(writer, c);
  const EventId second = type(writer, c);
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.write(first, 0x123456789a, as_bytes(kX)));
  ASSERT_TRUE(out.write(second, 0x123456789b, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  const std::vector<Packet> all = packets();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].events(), little((0x123456789a & 0x7ffffff) << 5, 4) + kX +
                                 little((0x123456789b & 0x7ffffff) << 5 | 1, 4) + kX);
}

TEST_F(CtfWriter, GapThatTwentySevenBitsCannotTellIsWrittenInFull) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  const uint64_t t0 = 5;
  const uint64_t t1 = t0 + (1 << 27) - 1;
  const uint64_t t2 = t1 + (1 << 27);
  for (const uint64_t t : {t0, t1, t2}) ASSERT_TRUE(out.write(id, t, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(packets()[0].events(), little(t0 << 5, 4) + kX + little((t1 & 0x7ffffff) << 5, 4) + kX +
                                       little(31, 1) + little(0, 4) + little(t2, 8) + kX);
}

TEST_F(CtfWriter, IdThatFiveBitsCannotTellIsWrittenInFull) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  std::vector<EventId> ids;
  for (int i = 0; i < 32; ++i) ids.push_back(type(writer, c));
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.write(ids[30], 1, as_bytes(kX)));
  ASSERT_TRUE(out.write(ids[31], 2, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(packets()[0].events(),
            little(1 << 5 | 30, 4) + kX + little(31, 1) + little(31, 4) + little(2, 8) + kX);
}

TEST_F(CtfWriter, LargeHeaderHoldsSixteenBitsOfIdAndThirtyTwoOfTime) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer, HeaderKind::Large);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  const uint64_t far = uint64_t{7} << 32;
  ASSERT_TRUE(out.write(id, 0x12345678, as_bytes(kX)));
  ASSERT_TRUE(out.write(id, far, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(packets()[0].events(), little(0, 2) + little(0x12345678, 4) + kX + little(65535, 2) +
                                       little(0, 4) + little(far, 8) + kX);
}

TEST_F(CtfWriter, PacketTellsWhoseItIsAndFromWhenToWhen) {
  Writer writer = open();
  const StreamClassId c =
      *writer.add_stream_class({HeaderKind::Compact, {}, {integer_field("vpid", 32, true)}});
  const EventId id = type(writer, c);
  ASSERT_TRUE(writer.add_stream(c, {"other", 0, {}}));
  const std::string own = little(4711, 4);
  const Bytes own_bytes = as_bytes(own);
  StreamWriter& out = **writer.add_stream(c, {"stream", 3, {own_bytes.begin(), own_bytes.end()}});
  ASSERT_TRUE(out.write(id, 1000, as_bytes(kX)));
  ASSERT_TRUE(out.write(id, 1500, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  const std::vector<Packet> all = packets();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bytes.substr(4, 16),
            std::string(reinterpret_cast<const char*>(trace.uuid.data()), 16));
  EXPECT_EQ(all[0].bytes.substr(20, 12), little(0, 4) + little(1, 8));
  EXPECT_EQ(all[0].begin, 1000u);
  EXPECT_EQ(all[0].end, 1500u);
  EXPECT_EQ(all[0].content_bits, (84 + 4 + 2 * 8) * 8u);
  EXPECT_EQ(all[0].cpu, 3u);
  EXPECT_EQ(all[0].bytes.substr(84, 4), own);
}

TEST_F(CtfWriter, FullPacketsFollowEachOtherAndEachKeepsItsEvents) {
  Writer writer = open({.packet_size = 4096});
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  for (uint64_t t = 0; t < 10'000; ++t) ASSERT_TRUE(out.write(id, t, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  uint64_t events = 0;
  uint64_t number = 0;
  for (const Packet& packet : packets()) {
    EXPECT_EQ(packet.number, number++);
    EXPECT_EQ(packet.begin, events);
    EXPECT_LE(packet.packet_bits, 4096u * 8);
    events += packet.events().size() / 8;
    EXPECT_EQ(packet.end, events - 1);
  }
  EXPECT_EQ(events, 10'000u);
}

TEST_F(CtfWriter, FileConsistsOfWholePacketsAtEveryMoment) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  EXPECT_FALSE(std::filesystem::exists(folder + "/stream"));
  const std::string large(300'000, 'x');
  for (size_t i = 1; i <= 40; ++i) {
    ASSERT_TRUE(out.write(id, i, as_bytes(i % 3 == 0 ? large : kX)));
    ASSERT_TRUE(out.flush());
    ASSERT_EQ(packets().size(), i);
  }
  ASSERT_TRUE(writer.finish());
  const std::vector<Packet> all = packets();
  EXPECT_EQ(all.size(), 40u);
  // Nothing is left of what was kept in reserve.
  EXPECT_EQ(all.back().packet_bits, (84 + 8 + 63) / 64 * 64 * 8u);
}

TEST_F(CtfWriter, EventLargerThanPacketsGetsOneThatHoldsIt) {
  Writer writer = open({.packet_size = 4096});
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(out.write(id, 1, as_bytes(kX)));
  ASSERT_TRUE(out.write(id, 2, as_bytes(large)));
  ASSERT_TRUE(out.write(id, 3, as_bytes(std::string(200, 'y'))));
  ASSERT_TRUE(writer.finish());
  const std::vector<Packet> all = packets();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].events(), little(2 << 5, 4) + large);
}

TEST_F(CtfWriter, TimeThatRunsBackwardsStandsStillAndIsCounted) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  for (const uint64_t t : {100, 90, 101}) ASSERT_TRUE(out.write(id, t, as_bytes(kX)));
  ASSERT_TRUE(out.flush());
  ASSERT_TRUE(out.write(id, 50, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(out.moved(), 2u);
  EXPECT_EQ(packets()[0].events(), little(100 << 5, 4) + kX + little(31, 1) + little(0, 4) +
                                       little(100, 8) + kX + little(101 << 5, 4) + kX);
  EXPECT_EQ(packets()[1].begin, 101u);
}

TEST_F(CtfWriter, LossesStandBetweenThePacketsWhereTheyHappened) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.discard(2));
  ASSERT_TRUE(out.write(id, 10, as_bytes(kX)));
  ASSERT_TRUE(out.discard(5));
  ASSERT_TRUE(out.write(id, 20, as_bytes(kX)));
  ASSERT_TRUE(out.discard_unknown());
  ASSERT_TRUE(out.write(id, 30, as_bytes(kX)));
  ASSERT_TRUE(out.discard(1));
  ASSERT_TRUE(writer.finish());
  std::vector<std::array<uint64_t, 4>> told;
  for (const Packet& p : packets())
    told.push_back({p.number, p.discarded, p.begin, p.events().size()});
  // The first and the last hold no events, only what was lost before and behind all others.
  EXPECT_THAT(told, testing::ElementsAre(
                        std::array<uint64_t, 4>{0, 0, 10, 0}, std::array<uint64_t, 4>{1, 2, 10, 8},
                        std::array<uint64_t, 4>{2, 7, 20, 8}, std::array<uint64_t, 4>{4, 7, 30, 8},
                        std::array<uint64_t, 4>{5, 8, 30, 0}));
}

TEST_F(CtfWriter, ValuesLieAsTheirFieldsSay) {
  const std::array<uint16_t, 3> numbers = {1, 2, 3};
  std::vector<NewField> fields = {integer_field("i", 16, true),
                                  float_field("f", 32),
                                  float_field("d", 64),
                                  string_field("s"),
                                  text_field("t", 4),
                                  array_field(integer_field("a", 16, false), 2),
                                  sequence_field(integer_field("q", 16, false), 8),
                                  integer_field("big", 32, false)};
  fields.back().order = ByteOrder::Big;
  const std::span<const uint16_t> elements(numbers);
  const std::vector<Value> values = {-2,        1.5,      -2.0,     std::string_view("ab\0c", 4),
                                     "toolong", elements, elements, 0x01020304};
  const std::optional<size_t> size = encoded_size(fields, values);
  const std::string expected = std::string("\xfe\xff", 2) + std::string("\0\0\xc0\x3f", 4) +
                               std::string("\0\0\0\0\0\0\0\xc0", 8) + std::string("ab\0", 3) +
                               "tool" + little(1, 2) + little(2, 2) + little(3, 1) + little(1, 2) +
                               little(2, 2) + little(3, 2) + std::string("\1\2\3\4", 4);
  ASSERT_EQ(size, expected.size());
  std::string out(*size, '\0');
  encode(fields, values, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out, expected);
  EXPECT_EQ(encoded_size(fields, std::span(values).first(3)), std::nullopt);
  EXPECT_EQ(encoded_size(std::span(fields).first(1), std::vector<Value>{"text"}), std::nullopt);
}

TEST_F(CtfWriter, TypesAreDeclaredBeforeTheFirstPacketThatUsesThem) {
  Writer writer = open();
  EXPECT_TRUE(metadata().starts_with("/* CTF 1.8 */"));
  const StreamClassId c = stream_class(writer);
  const EventId early = type(writer, c, "early");
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.write(early, 1, as_bytes(kX)));
  ASSERT_TRUE(out.flush());
  EXPECT_THAT(metadata(), testing::HasSubstr("name = \"early\""));
  const EventId late = type(writer, c, "la\"te");
  ASSERT_TRUE(out.write(late, 2, as_bytes(kX)));
  ASSERT_TRUE(out.flush());
  EXPECT_THAT(metadata(), testing::HasSubstr("name = \"la\\\"te\";\n\tid = 1;"));
}

TEST_F(CtfWriter, NamesThatAreNoIdentifiersAndNamesThatAreThereTwiceBecomeOnes) {
  Writer writer = open();
  ASSERT_TRUE(writer.add_event_type(
      stream_class(writer),
      {"e", {integer_field("a-b", 8, false), string_field("a.b"), string_field("a_b")}}));
  ASSERT_TRUE(writer.finish());
  EXPECT_THAT(metadata(), testing::HasSubstr(" _a_b;\n"));
  EXPECT_THAT(metadata(), testing::HasSubstr("string _a_b_;\n"));
  EXPECT_THAT(metadata(), testing::HasSubstr("string _a_b__;\n"));
}

TEST_F(CtfWriter, WhatCannotBeDeclaredIsRefused) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  EXPECT_FALSE(writer.add_event_type(c, {"", {}}));
  EXPECT_FALSE(writer.add_event_type(c, {"e", {integer_field("x", 12, false)}}));
  EXPECT_FALSE(writer.add_event_type(c, {"e", {integer_field("", 8, false)}}));
  EXPECT_FALSE(writer.add_event_type(c, {"e", {float_field("x", 16)}}));
  for (const char* name : {"", "metadata", "index", ".hidden", "a/b"})
    EXPECT_FALSE(writer.add_stream(c, {name, 0, {}})) << name;
  EXPECT_TRUE(writer.add_stream(c, {"a", 0, {}}));
  EXPECT_FALSE(writer.add_stream(c, {"a", 1, {}}));
}

TEST_F(CtfWriter, FolderThatIsNotEmptyIsLeftAlone) {
  std::filesystem::create_directory(folder);
  temporary.write("trace/diary.txt", "dear diary");
  EXPECT_FALSE(Writer::create(folder, trace));
  EXPECT_FALSE(Writer::create(folder, trace, {.overwrite = true}));
  EXPECT_EQ(read_whole_file(folder + "/diary.txt"), "dear diary");
}

TEST_F(CtfWriter, OlderTraceGoesWhenToldSo) {
  const auto write_one = [&](const std::string& name, WriterOptions options) {
    Writer writer = open(options);
    const StreamClassId c = stream_class(writer);
    const EventId id = type(writer, c);
    ASSERT_TRUE((*writer.add_stream(c, {name, 0, {}}))->write(id, 1, as_bytes(kX)));
    ASSERT_TRUE(writer.finish());
  };
  write_one("old", {.index = true});
  EXPECT_TRUE(std::filesystem::exists(folder + "/index/old.idx"));
  EXPECT_FALSE(Writer::create(folder, trace));
  write_one("new", {.overwrite = true});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("metadata", "new"));
}

TEST_F(CtfWriter, IndexHasAnEntryForEachPacketInBigEndian) {
  Writer writer = open({.index = true});
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.write(id, 10, as_bytes(kX)));
  ASSERT_TRUE(out.discard(3));
  ASSERT_TRUE(out.write(id, 20, as_bytes(kX)));
  ASSERT_TRUE(writer.finish());
  const auto big = [](uint64_t value, size_t size) {
    const std::string bytes = little(value, size);
    return std::string(bytes.rbegin(), bytes.rend());
  };
  std::string expected = big(0xc1f1dcc1, 4) + big(1, 4) + big(1, 4) + big(72, 4);
  for (const uint64_t v : {0, 128 * 8, 92 * 8, 10, 10, 0, 0, 0, 0}) expected += big(v, 8);
  for (const uint64_t v : {128, 128 * 8, 92 * 8, 20, 20, 3, 0, 0, 1}) expected += big(v, 8);
  EXPECT_EQ(read_whole_file(folder + "/index/stream.idx"), expected);
}

TEST_F(CtfWriter, OnlyTheOwnerMayReadWhereThatIsAsked) {
  Writer writer = open({.only_owner = true});
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
  EXPECT_EQ(std::filesystem::status(folder + "/metadata").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST_F(CtfWriter, DiskThatIsFullIsAnErrorAndWhatWasWrittenStays) {
  Writer writer = open();
  const StreamClassId c = stream_class(writer);
  const EventId id = type(writer, c);
  StreamWriter& out = stream(writer, c);
  ASSERT_TRUE(out.write(id, 1, as_bytes(kX)));
  ASSERT_TRUE(out.flush());

  // The nearest thing to a full disk that a test may have: a limit on the size of files.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1'500'000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(1'000'000, 'x');
  bool written = true;
  for (uint64_t t = 2; t < 5; ++t) written = out.write(id, t, as_bytes(large)) && written;
  const Status status = out.flush();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_action);

  EXPECT_FALSE(written);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), testing::HasSubstr("stream"));
  EXPECT_FALSE(out.write(id, 9, as_bytes(kX)));
  EXPECT_FALSE(writer.finish());
  EXPECT_GE(packets().size(), 1u);
}

TEST(CtfUuid, NameAlwaysGivesTheSameIdentity) {
  EXPECT_EQ(uuid_of_name("a"), uuid_of_name("a"));
  EXPECT_NE(uuid_of_name("a"), uuid_of_name("b"));
  EXPECT_NE(random_uuid(), random_uuid());
}

TEST(MetadataText, TheClockMayBeCalledAnything) {
  NewTrace trace;
  trace.clock.name = "CLOCK";
  EXPECT_THAT(trace_text(trace),
              testing::HasSubstr("map = clock.CLOCK.value; } := uint64_clock_t"));
}

}  // namespace
}  // namespace strata::ctf
