// SPDX-License-Identifier: Apache-2.0
//
// Any trace as trace.dat, read again.
#include "recording/to_tracedat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/ctf/writer.h"
#include "recording/open.h"
#include "recording/tracedat_event.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

using ctf::EventId;
using ctf::NewField;
using ctf::StreamWriter;
using ctf::Value;
using testing::ElementsAre;
using testing::HasSubstr;

struct ToTracedat : testing::Test {
  test::TemporaryFolder folder;
  std::string out = folder.file("out.dat");

  // Writes a CTF trace of one stream class.
  template <typename Fill>
  void write(const ctf::NewTrace& trace, Fill fill) {
    Result<ctf::Writer> writer = ctf::Writer::create(folder.file("ctf"), trace);
    ASSERT_TRUE(writer);
    const Result<ctf::StreamClassId> stream_class = writer->add_stream_class({});
    fill(*writer, *stream_class);
    ASSERT_TRUE(writer->finish());
  }

  Status convert() {
    const Result<std::unique_ptr<trace::Trace>> trace = open_trace(folder.file("ctf"));
    if (!trace) return trace.error();
    return to_tracedat(**trace, out, {});
  }

  // Every event of the result as "time cpu system:name text".
  std::vector<std::string> events() {
    const Result<std::unique_ptr<trace::Trace>> trace = open_trace(out);
    EXPECT_TRUE(trace) << trace.error().text();
    std::vector<std::string> lines;
    for (const auto& stream : (*trace)->open_streams()) {
      while (stream->next() == trace::Step::Event) {
        const trace::Event& event = stream->event();
        TextBuffer text;
        (*trace)->print_fields(event, text);
        lines.push_back(std::to_string(event.time.count) + " " + std::to_string(raw(event.cpu)) +
                        " " + event.type->system + ":" + event.type->name + " " +
                        std::string(text.view()));
      }
      EXPECT_EQ(stream->problem(), std::nullopt);
    }
    return lines;
  }
};

TEST_F(ToTracedat, FieldsOfEveryKind) {
  const std::vector<NewField> fields = {ctf::integer_field("small", 8, true),
                                        ctf::integer_field("large", 64, false),
                                        ctf::integer_field("address", 64, false, 16),
                                        ctf::float_field("half", 64),
                                        ctf::float_field("third", 32),
                                        ctf::string_field("text"),
                                        ctf::text_field("fixed", 8),
                                        ctf::array_field(ctf::integer_field("three", 16, true), 3),
                                        ctf::sequence_field(ctf::integer_field("some", 32, false)),
                                        ctf::integer_field("behind", 32, true)};
  write({}, [&](ctf::Writer& writer, ctf::StreamClassId id) {
    const EventId type = *writer.add_event_type(id, {"my provider:odd-name", fields});
    StreamWriter& stream = **writer.add_stream(id, {"s", 3, {}});
    const int16_t three[] = {1, -2, 3};
    const uint32_t some[] = {7, 8};
    const std::vector<Value> values = {-5,
                                       ~uint64_t{0},
                                       uint64_t{0xabc},
                                       0.5,
                                       double{1.0f / 3},
                                       "some text",
                                       "fixed",
                                       std::span<const int16_t>(three),
                                       std::span<const uint32_t>(some),
                                       -6};
    ASSERT_TRUE(stream.write(type, 1000, fields, values));
  });
  const Status status = convert();
  ASSERT_TRUE(status) << status.error().text();
  const std::vector<std::string> lines = events();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::StartsWith("1000 3 my_provider:odd_name small=-5 "
                                            "large=18446744073709551615 address=0xabc half=0.5 "
                                            "third=0.33333334 text=some text fixed=fixed "));
  EXPECT_THAT(lines[0], testing::EndsWith(" behind=-6"));
}

// Readings below the epoch's offset, streams of one CPU, and a type that two systems have.
TEST_F(ToTracedat, StreamsOfOneCpuBecomeOneInTheOrderOfTime) {
  const std::vector<NewField> fields = {ctf::integer_field("n", 32, false)};
  ctf::NewTrace trace;
  trace.clock.offset_seconds = 1'700'000'000;
  trace.environment = {{"tracer_name", "lttng-ust"}};  // whose monotonic clock leads to the epoch
  write(trace, [&](ctf::Writer& writer, ctf::StreamClassId id) {
    const EventId type = *writer.add_event_type(id, {"tick", fields});
    StreamWriter& a = **writer.add_stream(id, {"a", 0, {}});
    StreamWriter& b = **writer.add_stream(id, {"b", 0, {}});
    for (uint32_t n = 0; n < 6; ++n)
      ASSERT_TRUE((n % 2 == 0 ? a : b).write(type, n * 1001, fields, std::vector<Value>{n}));
  });
  ASSERT_TRUE(convert());
  EXPECT_THAT(
      events(),
      ElementsAre("1700000000000000000 0 ctf:tick n=0", "1700000000000001001 0 ctf:tick n=1",
                  "1700000000000002002 0 ctf:tick n=2", "1700000000000003003 0 ctf:tick n=3",
                  "1700000000000004004 0 ctf:tick n=4", "1700000000000005005 0 ctf:tick n=5"));
  EXPECT_TRUE((*open_trace(out))->info().since_epoch);
}

TEST_F(ToTracedat, EventsThatAreLongMakePagesThatAre) {
  const std::vector<NewField> fields = {ctf::string_field("text")};
  write({}, [&](ctf::Writer& writer, ctf::StreamClassId id) {
    const EventId type = *writer.add_event_type(id, {"long", fields});
    StreamWriter& stream = **writer.add_stream(id, {"s", 0, {}});
    const std::string text(20'000, 'x');
    for (uint64_t n = 0; n < 3; ++n)
      ASSERT_TRUE(stream.write(type, n, fields, std::vector<Value>{std::string_view(text)}));
  });
  ASSERT_TRUE(convert());
  const std::vector<std::string> lines = events();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "2 0 ctf:long text=" + std::string(20'000, 'x'));
}

TEST_F(ToTracedat, WhatIsTooLongIsCutAndTold) {
  const std::vector<NewField> fields = {ctf::string_field("text")};
  write({}, [&](ctf::Writer& writer, ctf::StreamClassId id) {
    const EventId type = *writer.add_event_type(id, {"long", fields});
    StreamWriter& stream = **writer.add_stream(id, {"s", 0, {}});
    const std::string text(70'000, 'x');
    ASSERT_TRUE(stream.write(type, 1, fields, std::vector<Value>{std::string_view(text)}));
  });
  const Status status = convert();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().cause, HasSubstr("1 events hold more than the 64 KiB"));
  EXPECT_EQ(events().size(), 1u) << "what fits is there";
}

TEST_F(ToTracedat, LossesStayMarkedWhereTheyHappened) {
  const std::vector<NewField> fields = {ctf::integer_field("n", 32, false)};
  write({}, [&](ctf::Writer& writer, ctf::StreamClassId id) {
    const EventId type = *writer.add_event_type(id, {"tick", fields});
    StreamWriter& stream = **writer.add_stream(id, {"s", 0, {}});
    ASSERT_TRUE(stream.write(type, 1, fields, std::vector<Value>{1}));
    ASSERT_TRUE(stream.discard(5));
    ASSERT_TRUE(stream.write(type, 2, fields, std::vector<Value>{2}));
    ASSERT_TRUE(stream.discard_unknown());
    ASSERT_TRUE(stream.write(type, 3, fields, std::vector<Value>{3}));
    ASSERT_TRUE(stream.discard(7));
  });
  const Status status = convert();
  ASSERT_FALSE(status) << "where no event comes behind a loss, there is no place for it";
  const auto trace = open_trace(out);
  const auto streams = (*trace)->open_streams();
  ASSERT_EQ(streams.size(), 1u);
  for (const auto& [lost, unknown] : {std::pair(0u, false), {5u, false}, {0u, true}}) {
    ASSERT_EQ(streams[0]->next(), trace::Step::Event);
    EXPECT_EQ(streams[0]->event().lost, lost);
    EXPECT_EQ(streams[0]->event().lost_unknown, unknown);
  }
}

TEST(CName, IsOneThatCWouldTake) {
  EXPECT_EQ(c_name("a.b-c::d"), "a_b_c__d");
  EXPECT_EQ(c_name("2nd"), "_2nd");
  EXPECT_EQ(c_name(""), "_");
}

}  // namespace
}  // namespace strata::recording
