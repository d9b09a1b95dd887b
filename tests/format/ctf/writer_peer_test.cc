// SPDX-License-Identifier: Apache-2.0
//
// Babeltrace 2 and Babeltrace 1 read what the writer wrote.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "format/ctf/writer.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::ctf {
namespace {

using test::has_program;
using test::lines_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

struct CtfWriterPeer : testing::TestWithParam<const char*> {
  TemporaryFolder temporary;
  std::string folder = temporary.file("trace");

  void SetUp() override {
    if (!has_program(GetParam())) GTEST_SKIP() << "no " << GetParam() << " here";
  }

  // Its lines on the standard output or, `errors`, on the other one. Times are in seconds.
  std::vector<std::string> read(bool errors = false) const {
    const test::CommandResult result =
        test::run({"sh", "-c",
                   std::string(GetParam()) + " --no-delta --clock-seconds '" + folder + "'" +
                       (errors ? " 2>&1 >/dev/null" : " 2>/dev/null")});
    EXPECT_EQ(result.status, 0) << result.output;
    std::vector<std::string> lines = lines_of(result.output);
    // Babeltrace 1 puts seconds into three columns.
    for (std::string& line : lines)
      while (line.starts_with("[ ")) line.erase(1, 1);
    return lines;
  }
};

INSTANTIATE_TEST_SUITE_P(All, CtfWriterPeer, testing::Values("babeltrace2", "babeltrace"));

TEST_P(CtfWriterPeer, ReadsEveryKindOfField) {
  NewTrace trace;
  trace.clock.offset_seconds = 3;
  trace.clock.offset_cycles = 5;
  Result<Writer> writer = Writer::create(folder, trace, {.index = true});
  ASSERT_TRUE(writer);
  const std::vector<NewField> context = {integer_field("tid", 32, true)};
  const StreamClassId c =
      *writer->add_stream_class({HeaderKind::Compact, context, {integer_field("vpid", 32, true)}});
  NewEventType all{
      "all",
      {integer_field("u8", 8, false), integer_field("s16", 16, true),
       integer_field("hex", 64, false, 16), float_field("f", 32), float_field("d", 64),
       string_field("s"), text_field("comm", 16), array_field(integer_field("a", 16, true), 3),
       sequence_field(integer_field("q", 32, false), 16), string_field("empty")}};
  all.fields.push_back(integer_field("state", 8, false));
  all.fields.back().kind = NewFieldKind::Enum;
  all.fields.back().labels = {{"RUNNING", 0, 0}, {"SLEEPING", 1, 3}};
  all.fields.push_back(integer_field("port", 16, false));
  all.fields.back().order = ByteOrder::Big;
  const EventId id = *writer->add_event_type(c, all);
  const std::string vpid = std::string("\x67\x12\0\0", 4);
  const Bytes vpid_bytes = as_bytes(vpid);
  StreamWriter& out = **writer->add_stream(c, {"cpu2", 2, {vpid_bytes.begin(), vpid_bytes.end()}});

  std::vector<NewField> fields = context;
  fields.insert(fields.end(), all.fields.begin(), all.fields.end());
  const std::array<int16_t, 3> a = {-1, 0, 1};
  const std::array<uint32_t, 2> q = {7, 4'000'000'000};
  const std::vector<Value> values = {
      4712,  255,        -300,        0xffffffff81000000,          1.5,
      -0.25, "one line", "swapper/0", std::span<const int16_t>(a), std::span<const uint32_t>(q),
      "",    2,          443};
  ASSERT_TRUE(out.write(id, 1'000'000'000, fields, values));
  ASSERT_TRUE(writer->finish());
  EXPECT_THAT(
      read(),
      ElementsAre("[4.000000005] all: { cpu_id = 2, vpid = 4711 }, { tid = 4712 }, { u8 = 255, "
                  "s16 = -300, hex = 0xFFFFFFFF81000000, f = 1.5, d = -0.25, s = \"one line\", "
                  "comm = \"swapper/0\", a = [ [0] = -1, [1] = 0, [2] = 1 ], "
                  "_q_length = 2, q = [ [0] = 7, [1] = 4000000000 ], empty = \"\", state = ( "
                  "\"SLEEPING\" : container = 2 ), port = 443 }"));
}

TEST_P(CtfWriterPeer, ReadsTimesWithGapsOfAnySizeAndIdsOfAnySize) {
  Result<Writer> writer = Writer::create(folder, NewTrace{}, {.packet_size = 4096});
  ASSERT_TRUE(writer);
  for (const HeaderKind header : {HeaderKind::Compact, HeaderKind::Large}) {
    const StreamClassId c = *writer->add_stream_class({header, {}, {}});
    std::vector<EventId> ids;
    for (int i = 0; i < 100; ++i)
      ids.push_back(
          *writer->add_event_type(c, {"e" + std::to_string(i), {integer_field("n", 64, false)}}));
    StreamWriter& out =
        **writer->add_stream(c, {header == HeaderKind::Compact ? "compact" : "large", 0, {}});
    const std::vector<NewField> fields = {integer_field("n", 64, false)};
    uint64_t time = 1;
    std::mt19937_64 random(42);
    for (int i = 0; i < 5000; ++i) {
      const std::vector<Value> values = {time};
      ASSERT_TRUE(out.write(ids[random() % 100], time, fields, values));
      // 2^27 and 2^32 are where the compact and the large header end.
      const uint64_t gaps[] = {
          0, 1, 99, (1 << 27) - 1, 1 << 27, (uint64_t{1} << 32) - 1, uint64_t{1} << 32};
      time += gaps[random() % std::size(gaps)];
    }
  }
  ASSERT_TRUE(writer->finish());
  const std::vector<std::string> lines = read();
  EXPECT_EQ(lines.size(), 10'000u);
  for (const std::string& line : lines) {
    // "[12.000000345] e7: { cpu_id = 0 }, { n = 12000000345 }"
    const std::string seconds = line.substr(1, line.find('.') - 1);
    const std::string time = seconds + line.substr(line.find('.') + 1, 9);
    const std::string n = line.substr(line.find("n = ") + 4);
    ASSERT_EQ(std::stoull(time), std::stoull(n)) << line;
  }
}

TEST_P(CtfWriterPeer, HearsOfLosses) {
  Result<Writer> writer = Writer::create(folder, NewTrace{});
  ASSERT_TRUE(writer);
  const StreamClassId c = *writer->add_stream_class({});
  const EventId id = *writer->add_event_type(c, {"e", {}});
  StreamWriter& out = **writer->add_stream(c, {"s", 0, {}});
  ASSERT_TRUE(out.discard(3));
  ASSERT_TRUE(out.write(id, 1'000'000'000, Bytes{}));
  ASSERT_TRUE(out.discard(5));
  ASSERT_TRUE(out.write(id, 2'000'000'000, Bytes{}));
  ASSERT_TRUE(out.discard_unknown());
  ASSERT_TRUE(out.write(id, 3'000'000'000, Bytes{}));
  ASSERT_TRUE(out.discard(7));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(read().size(), 3u);
  const std::string errors = testing::PrintToString(read(true));
  for (const char* told :
       {"discarded 3 events", "discarded 5 events", "discarded 7 events", "discarded 1 packet"}) {
    // Babeltrace 1 counts a lost packet too, but says it otherwise.
    if (std::string(GetParam()) == "babeltrace" && std::string(told).ends_with("packet"))
      EXPECT_THAT(errors, HasSubstr("lost 1 trace packet"));
    else
      EXPECT_THAT(errors, HasSubstr(told));
  }
}

TEST_P(CtfWriterPeer, ReadsWhatIsThereWhileItIsBeingWritten) {
  Result<Writer> writer = Writer::create(folder, NewTrace{}, {.packet_size = 4096});
  ASSERT_TRUE(writer);
  const StreamClassId c = *writer->add_stream_class({});
  StreamWriter& out = **writer->add_stream(c, {"s", 0, {}});
  uint64_t time = 0;
  for (size_t round = 1; round <= 3; ++round) {
    const EventId id = *writer->add_event_type(c, {"e" + std::to_string(round), {}});
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(out.write(id, ++time, Bytes{}));
    ASSERT_TRUE(out.flush());
    EXPECT_EQ(read().size(), 2000 * round);
  }
}

// What the child, which is to be killed, tells of itself.
struct Told {
  std::atomic<uint64_t> flushed;
};

[[noreturn]] void write_for_ever(const std::string& folder, Told& told) {
  Result<Writer> writer = Writer::create(folder, NewTrace{}, {.packet_size = 64 * 1024});
  if (!writer) _exit(1);
  const StreamClassId c = *writer->add_stream_class({});
  StreamWriter& first = **writer->add_stream(c, {"first", 0, {}});
  StreamWriter& second = **writer->add_stream(c, {"second", 1, {}});
  const std::array<std::byte, 100> payload{};
  EventId id{};
  for (uint64_t i = 0;; ++i) {
    if (i % 100'000 == 0)
      id = *writer->add_event_type(c, {"e" + std::to_string(i), {text_field("x", 100)}});
    if (!(i % 2 == 0 ? first : second).write(id, i, payload)) _exit(1);
    if (i % 5'000 != 0) continue;
    if (!writer->flush()) _exit(1);
    told.flushed = i + 1;
  }
}

TEST_P(CtfWriterPeer, ReadsWhatAKilledProgramWroteUpToItsLastPacket) {
  auto* told = static_cast<Told*>(
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(told, MAP_FAILED);
  // What it had begun in a process of its own is ours then, to be waited for.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 6; ++round) {
    folder = temporary.file("killed" + std::to_string(round));
    told->flushed = 0;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(folder, *told);
    while (told->flushed == 0) usleep(100);
    usleep(static_cast<useconds_t>(random() % 30'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (waitpid(-1, nullptr, __WALL) > 0) {
    }
    // Its events, and not a word of complaint.
    const test::CommandResult result =
        test::run({"sh", "-c", std::string(GetParam()) + " '" + folder + "' 2>&1"});
    EXPECT_EQ(result.status, 0);
    uint64_t events = 0;
    for (const std::string& line : lines_of(result.output)) {
      ASSERT_THAT(line, HasSubstr(" e")) << line;
      ASSERT_THAT(line, HasSubstr("{ cpu_id = ")) << line;
      ++events;
    }
    EXPECT_GE(events, told->flushed.load());
  }
  munmap(told, sizeof(Told));
}

TEST_P(CtfWriterPeer, ReadsAThousandStreams) {
  Result<Writer> writer = Writer::create(folder, NewTrace{});
  ASSERT_TRUE(writer);
  const StreamClassId c = *writer->add_stream_class({});
  const EventId id = *writer->add_event_type(c, {"e", {}});
  for (uint32_t i = 0; i < 1000; ++i) {
    StreamWriter& out = **writer->add_stream(c, {"s" + std::to_string(i), i, {}});
    ASSERT_TRUE(out.write(id, i, Bytes{}));
    ASSERT_TRUE(out.write(id, 1000 + i, Bytes{}));
    ASSERT_TRUE(out.flush());
  }
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(read().size(), 2000u);
}

}  // namespace
}  // namespace strata::ctf
