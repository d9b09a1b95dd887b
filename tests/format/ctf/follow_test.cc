// SPDX-License-Identifier: Apache-2.0
//
// A trace that is read while it is written: our own writer on one side, the reader on the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "format/ctf/ctf_trace.h"
#include "format/ctf/writer.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::ctf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Streams = std::vector<std::unique_ptr<trace::Stream>>;

const std::vector<NewField> kNumber = {integer_field("n", 32, false)};

// One stream class, written to bit by bit.
class Follow : public testing::Test {
 protected:
  Follow() {
    Result<Writer> made = Writer::create(folder_.file("trace"), {});
    writer_ = std::make_unique<Writer>(*std::move(made));
    class_ = *writer_->add_stream_class({});
    first_type_ = *writer_->add_event_type(class_, {"first", kNumber});
  }

  StreamWriter& add_stream(const std::string& name, uint32_t cpu) {
    return **writer_->add_stream(class_, {name, cpu, {}});
  }

  static void write(StreamWriter& stream, EventId type, uint64_t time, uint32_t n) {
    EXPECT_TRUE(stream.write(type, time, kNumber, std::vector<Value>{n}));
    EXPECT_TRUE(stream.flush());
  }

  // Whatever there is just now, as "first 1".
  static std::vector<std::string> shown(trace::Stream& stream) {
    std::vector<std::string> events;
    trace::Step step;
    while ((step = stream.next()) == trace::Step::Event) {
      const trace::Event& event = stream.event();
      events.push_back(event.type->name + " " +
                       std::to_string(event.integer(event.type->ref("n")).value_or(-1)));
    }
    EXPECT_EQ(step, trace::Step::Quiet);
    return events;
  }

  std::unique_ptr<CtfTrace> open() {
    auto traces = CtfTrace::open_all(folder_.file("trace"));
    return traces ? std::move(traces->front()) : nullptr;
  }

  static Streams followed(Streams streams) {
    for (const auto& stream : streams) stream->follow();
    return streams;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Writer> writer_;
  StreamClassId class_{};
  EventId first_type_{};
};

TEST_F(Follow, FilesThatComeAreStreamsThatCome) {
  const auto trace = open();
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->open_streams(), IsEmpty());
  EXPECT_THAT(trace->look_again(), IsEmpty());

  StreamWriter& cpu0 = add_stream("cpu0", 0);
  write(cpu0, first_type_, 1, 10);
  const Streams one = followed(trace->look_again());
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THAT(shown(*one[0]), ElementsAre("first 10"));

  write(add_stream("cpu1", 1), first_type_, 2, 20);
  write(cpu0, first_type_, 3, 30);
  const Streams two = followed(trace->look_again());
  ASSERT_EQ(two.size(), 1u) << "the other one goes on by itself";
  EXPECT_EQ(two[0]->cpu(), CpuId{1});
  EXPECT_THAT(shown(*two[0]), ElementsAre("first 20"));
  EXPECT_THAT(shown(*one[0]), ElementsAre("first 30"));
  EXPECT_THAT(trace->look_again(), IsEmpty());
}

TEST_F(Follow, AFileWithoutAWholePacketIsTakenWhenItHasOne) {
  const auto trace = open();
  ASSERT_TRUE(trace);
  StreamWriter& cpu0 = add_stream("cpu0", 0);
  write(cpu0, first_type_, 1, 10);
  ASSERT_TRUE(cpu0.finish());
  const std::string path = folder_.file("trace/cpu0");
  const std::string whole = test::read_whole_file(path);
  for (const size_t part : {size_t{0}, size_t{20}}) {
    folder_.write("trace/cpu0", whole.substr(0, part));
    EXPECT_THAT(trace->look_again(), IsEmpty()) << part;
  }
  folder_.write("trace/cpu0", whole);
  const Streams streams = followed(trace->look_again());
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 10"));
}

// The event's type is declared after the stream was opened; what is left of the packet waits for
// the trace to look at its metadata again.
TEST_F(Follow, AnEventOfATypeThatIsNewWaitsForTheMetadata) {
  StreamWriter& cpu0 = add_stream("cpu0", 0);
  write(cpu0, first_type_, 1, 10);
  const auto trace = open();
  ASSERT_TRUE(trace);
  const Streams streams = followed(trace->open_streams());
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 10"));

  const EventId second_type = *writer_->add_event_type(class_, {"second", kNumber});
  EXPECT_TRUE(cpu0.write(first_type_, 2, kNumber, std::vector<Value>{20}));
  EXPECT_TRUE(cpu0.write(second_type, 3, kNumber, std::vector<Value>{30}));
  write(cpu0, first_type_, 4, 40);
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 20"));
  EXPECT_THAT(trace->look_again(), IsEmpty());
  EXPECT_EQ(trace->event_types().size(), 2u);
  EXPECT_THAT(shown(*streams[0]), ElementsAre("second 30", "first 40"));
  EXPECT_EQ(streams[0]->problem(), std::nullopt);
}

TEST_F(Follow, MetadataThatAreCutOffWaitForTheirRest) {
  StreamWriter& cpu0 = add_stream("cpu0", 0);
  write(cpu0, first_type_, 1, 10);
  const auto trace = open();
  ASSERT_TRUE(trace);
  const Streams streams = followed(trace->open_streams());
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 10"));
  const EventId second_type = *writer_->add_event_type(class_, {"second", kNumber});
  write(cpu0, second_type, 2, 20);
  const std::string whole = test::read_whole_file(folder_.file("trace/metadata"));
  folder_.write("trace/metadata", whole.substr(0, whole.size() - 10));
  trace->look_again();
  EXPECT_THAT(shown(*streams[0]), IsEmpty());
  folder_.write("trace/metadata", whole);
  trace->look_again();
  EXPECT_THAT(shown(*streams[0]), ElementsAre("second 20"));
}

// As when a tracer rotates: the stream goes on in another folder, with metadata that tell the same.
TEST_F(Follow, AnotherPartOfTheTraceContinuesItsStreams) {
  namespace fs = std::filesystem;
  StreamWriter& cpu0 = add_stream("cpu0", 0);
  write(cpu0, first_type_, 1, 10);
  fs::create_directory(folder_.file("later"));
  fs::copy(folder_.file("trace/metadata"), folder_.file("later/metadata"));
  const auto trace = open();
  ASSERT_TRUE(trace);
  const Streams streams = followed(trace->open_streams());
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 10"));

  // Both packets, as if the second part had begun early: what is there twice is read once.
  write(cpu0, first_type_, 2, 20);
  fs::copy(folder_.file("trace/cpu0"), folder_.file("later/cpu0"));
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 20"));
  write(cpu0, first_type_, 3, 30);
  EXPECT_THAT(CtfTrace::open_more(folder_.path(), {trace.get()}), IsEmpty());
  EXPECT_THAT(trace->look_again(), IsEmpty());
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 30"));
}

TEST_F(Follow, TracesThatComeBelowTheFolderAreOpened) {
  const auto trace = open();
  ASSERT_TRUE(trace);
  EXPECT_THAT(CtfTrace::open_more(folder_.path(), {trace.get()}), IsEmpty());
  std::filesystem::create_directory(folder_.file("cut"));
  folder_.write("cut/metadata", "/* CTF 1.8 */ trace {");
  EXPECT_THAT(CtfTrace::open_more(folder_.path(), {trace.get()}), IsEmpty()) << "not yet readable";
  const NewTrace other;
  const Result<Writer> writer = Writer::create(folder_.file("other"), other);
  ASSERT_TRUE(writer);
  const auto more = CtfTrace::open_more(folder_.path(), {trace.get()});
  ASSERT_EQ(more.size(), 1u);
  EXPECT_EQ(more[0]->info().path, folder_.file("other"));
}

// With a period to begin at, packets are passed over: where the reader is must not be told by the
// last one that it entered.
TEST_F(Follow, BeginsWithinAPeriodThatIsStillToCome) {
  StreamWriter& cpu0 = add_stream("cpu0", 0);
  for (uint32_t n = 1; n <= 3; ++n) write(cpu0, first_type_, n * 10, n);
  const auto trace = open();
  ASSERT_TRUE(trace);
  const Streams streams = followed(trace->open_streams());
  streams[0]->skip_to(Nanoseconds{1000});
  EXPECT_THAT(shown(*streams[0]), IsEmpty());
  write(cpu0, first_type_, 2000, 4);
  EXPECT_THAT(shown(*streams[0]), ElementsAre("first 4"));
}

}  // namespace
}  // namespace strata::ctf
