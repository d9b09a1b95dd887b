// SPDX-License-Identifier: Apache-2.0
//
// Records laid down byte by byte as linux/perf_event.h describes them.

#include "kernel/perf_records.h"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include "base/byte_writer.h"
#include "support/guarded_bytes.h"

namespace strata::kernel {
namespace {

using Step = PerfRecords::Step;
using testing::HasSubstr;

// struct perf_event_header { __u32 type; __u16 misc; __u16 size; }
struct Maker {
  ByteWriter out{kNativeOrder};

  Maker& record(uint32_t type, Bytes body) {
    out.u32(type);
    out.u16(PERF_RECORD_MISC_KERNEL);
    out.u16(static_cast<uint16_t>(8 + body.size()));
    out.raw(body);
    return *this;
  }
  // { u64 time; u64 nr; { u64 value; } [nr]; u32 size; char data[size]; }
  Maker& sample(uint64_t time, const std::vector<uint64_t>& values, std::string_view raw) {
    ByteWriter body(kNativeOrder);
    body.u64(time);
    body.u64(values.size());
    for (const uint64_t value : values) body.u64(value);
    body.u32(static_cast<uint32_t>(raw.size()));
    body.text(raw);
    return record(PERF_RECORD_SAMPLE, body.bytes());
  }
  // { u64 id; u64 lost; }
  Maker& lost(uint64_t count) {
    ByteWriter body(kNativeOrder);
    body.u64(77);
    body.u64(count);
    return record(PERF_RECORD_LOST, body.bytes());
  }
};

struct PerfRecordsTest : testing::Test {
  Maker maker;

  // All of it, split after `first` bytes as at the end of a ring.
  std::string walk(size_t first, size_t values = 2) {
    const Bytes all = maker.out.bytes();
    const test::GuardedBytes begin(all.first(first));
    const test::GuardedBytes end(all.subspan(first));
    PerfRecords records(begin.bytes(), end.bytes(), values);
    std::string text;
    for (;;) {
      const Step step = records.next();
      if (step == Step::End) break;
      if (step == Step::Corrupt) return text + records.cause();
      if (step == Step::Lost) {
        text += "lost " + std::to_string(records.lost()) + "\n";
        continue;
      }
      const CounterSample& sample = records.sample();
      text += std::to_string(sample.time) + ":";
      for (size_t i = 0; i < sample.values.size() / 8; ++i)
        text += " " + std::to_string(sample.value(i));
      text += " " + std::string(as_text(sample.record)) + "\n";
    }
    EXPECT_EQ(records.position(), all.size());
    return text;
  }
};

TEST_F(PerfRecordsTest, SamplesAndLossesComeInOrderWhereverTheRingEnds) {
  maker.sample(1000, {1, 500}, "abcd")
      .lost(7)
      .sample(~uint64_t{0}, {2, ~uint64_t{0}}, "abcdefghijkl");
  const size_t size = maker.out.size();
  for (size_t first = 0; first <= size; first += 8)
    EXPECT_EQ(walk(first),
              "1000: 1 500 abcd\n"
              "lost 7\n"
              "18446744073709551615: 2 18446744073709551615 abcdefghijkl\n");
}

TEST_F(PerfRecordsTest, NothingIsTheEnd) { EXPECT_EQ(walk(0), ""); }

TEST_F(PerfRecordsTest, OtherRecordsArePassedOver) {
  maker.record(PERF_RECORD_THROTTLE, std::vector<std::byte>(24))
      .sample(1, {1, 2}, "abcd")
      .record(4711, {})
      .record(PERF_RECORD_LOST_SAMPLES,
              std::vector<std::byte>{std::byte{3}, {}, {}, {}, {}, {}, {}, {}});
  EXPECT_EQ(walk(0), "1: 1 2 abcd\nlost 3\n");
}

TEST_F(PerfRecordsTest, ASampleWithoutATracepointsRecordHasNone) {
  maker.sample(1, {1, 2}, "");
  maker.out.u32(0);  // up to a multiple of 8
  std::vector<std::byte> bytes = maker.out.bytes();
  bytes[6] = std::byte{static_cast<uint8_t>(bytes.size())};
  PerfRecords records(bytes, {}, 2);
  EXPECT_EQ(records.next(), Step::Sample);
  EXPECT_TRUE(records.sample().record.empty());
}

TEST_F(PerfRecordsTest, ARecordShorterThanItsHeadIsCorruptAndStaysSo) {
  maker.sample(1, {1, 2}, "abcd");
  maker.out.u64(uint64_t{7} << 48);
  EXPECT_EQ(walk(0), "1: 1 2 abcd\na record is shorter than its head");
  PerfRecords records(maker.out.bytes(), {}, 2);
  EXPECT_EQ(records.next(), Step::Sample);
  EXPECT_EQ(records.next(), Step::Corrupt);
  EXPECT_EQ(records.next(), Step::Corrupt);
}

TEST_F(PerfRecordsTest, SizesThatCannotBeAreCorrupt) {
  maker.out.u64(uint64_t{12} << 48);
  maker.out.u64(0);
  EXPECT_THAT(walk(8), HasSubstr("no multiple of 8"));
  maker = {};
  maker.out.u64(uint64_t{24} << 48);
  maker.out.u64(0);
  EXPECT_THAT(walk(8), HasSubstr("beyond what was written"));
  maker = {};
  maker.out.u32(9);
  EXPECT_THAT(walk(0), HasSubstr("head is cut off"));
}

TEST_F(PerfRecordsTest, AnotherNumberOfValuesIsCorrupt) {
  maker.sample(1, {1, 2, 3}, "abcd");
  EXPECT_THAT(walk(0, 2), HasSubstr("another number of values"));
  EXPECT_THAT(walk(0, 4), HasSubstr("too short for its values"));
  EXPECT_EQ(walk(0, 3), "1: 1 2 3 abcd\n");
}

TEST_F(PerfRecordsTest, ATracepointsRecordThatReachesBeyondItsSampleIsCorrupt) {
  maker.sample(1, {1, 2}, "abcd");
  std::vector<std::byte> bytes = maker.out.bytes();
  bytes[8 + 16 + 16] = std::byte{5};
  PerfRecords records(bytes, {}, 2);
  EXPECT_EQ(records.next(), Step::Corrupt);
  EXPECT_STREQ(records.cause(), "a tracepoint's record is cut off");
}

TEST_F(PerfRecordsTest, ALossWithoutItsNumberIsCorrupt) {
  maker.record(PERF_RECORD_LOST, std::vector<std::byte>(8));
  EXPECT_THAT(walk(0), HasSubstr("loss is cut off"));
}

}  // namespace
}  // namespace strata::kernel
