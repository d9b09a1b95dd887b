// SPDX-License-Identifier: Apache-2.0
#include "record/counters_trace.h"

#include <gmock/gmock.h>

#include "base/byte_writer.h"
#include "ftrace/format_file.h"
#include "read_counters.h"
#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::string_view kCommon =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

trace::EventType type_of(std::string_view system, const std::string& head,
                         const std::string& fields) {
  const std::string text = head + std::string(kCommon) + fields + "\nprint fmt: \"\"\n";
  Result<trace::EventType> type = ftrace::parse_format_file(system, text, {});
  EXPECT_TRUE(type) << type.error().text();
  return std::move(*type);
}

trace::EventType sched_switch() {
  return type_of("sched", "name: sched_switch\nID: 372\n",
                 "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                 "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                 "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                 "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
                 "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n");
}

trace::EventType kvm_exit() {
  return type_of("kvm", "name: kvm_exit\nID: 500\n",
                 "\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
                 "\tfield:u64 info1;\toffset:16;\tsize:8;\tsigned:0;\n"
                 "\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:0;\n"
                 "\tfield:s16 instructions;\toffset:28;\tsize:2;\tsigned:1;\n");
}

struct CountersTraceTest : testing::Test {
  test::TemporaryFolder temporary;
  std::string folder = temporary.file("host-counters");
  CountersTraceOptions options;

  CountersTraceTest() {
    options.read_at = {sched_switch(), kvm_exit()};
    options.counters = {{"L1-dcache-load-misses"}, {"instructions"}};
    options.cpus = {0, 5};
    options.epoch_ns = 1'700'000'000'000'000'000;
  }

  std::vector<std::byte> bytes;
  kernel::CounterSample sample(uint64_t time, const std::vector<uint64_t>& values,
                               const ByteWriter& record) {
    ByteWriter out(kNativeOrder);
    for (const uint64_t value : values) out.u64(value);
    out.raw(record.bytes());
    bytes = std::move(out).bytes();
    const size_t split = values.size() * 8;
    return {time, Bytes(bytes).first(split), Bytes(bytes).subspan(split)};
  }
  static ByteWriter record(uint16_t type, int32_t pid) {
    ByteWriter out(kNativeOrder);
    out.u16(type);
    out.u16(0);
    out.u32(static_cast<uint32_t>(pid));
    return out;
  }
  static ByteWriter switch_record(int32_t prev, int32_t next) {
    ByteWriter out = record(372, prev);
    out.text("prev's name.....");
    out.u32(static_cast<uint32_t>(prev));
    out.u32(120);
    out.u64(1);
    out.text("next's name.....");
    out.u32(static_cast<uint32_t>(next));
    out.u32(120);
    out.u32(0);  // perf fills records up
    return out;
  }
};

TEST_F(CountersTraceTest, ASwitchHasItsTwoThreadsAndTheCounters) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_TRUE(
      trace->write(1, sample(1'000'000'007, {1, 0, 123, ~uint64_t{0}}, switch_record(17, 0))));
  ASSERT_TRUE(trace->finish());
  const Readings readings = read_counters(folder);
  EXPECT_EQ(readings.problem, "");
  ASSERT_EQ(readings.all.size(), 1u);
  const Reading& reading = readings.all[0];
  EXPECT_EQ(reading.cpu, 5u);
  EXPECT_EQ(reading.time, 1'000'000'007u);
  EXPECT_EQ(reading.epoch_ns, 1'700'000'001'000'000'007);
  EXPECT_EQ(reading.name, "counters_sched_switch");
  EXPECT_EQ(reading.tid, 17);
  EXPECT_THAT(reading.fields,
              UnorderedElementsAre(Pair("tid", 17), Pair("prev_tid", 17), Pair("next_tid", 0),
                                   Pair("L1_dcache_load_misses", 123), Pair("instructions", -1)));
}

TEST_F(CountersTraceTest, AnotherEventHasItsIntegersAndNamesDoNotCollide) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  ByteWriter exit = record(500, 18);
  exit.u32(48);
  exit.u32(0);
  exit.u64(uint64_t{1} << 40);
  exit.u32(0);
  exit.u16(static_cast<uint16_t>(-3));
  ASSERT_TRUE(trace->write(0, sample(5, {0, 1, 10, 20}, exit)));
  ASSERT_TRUE(trace->finish());
  const Readings readings = read_counters(folder);
  ASSERT_EQ(readings.all.size(), 1u) << readings.problem;
  EXPECT_EQ(readings.all[0].name, "counters_kvm_exit");
  EXPECT_EQ(readings.all[0].tid, 18);
  EXPECT_THAT(readings.all[0].fields,
              UnorderedElementsAre(Pair("tid", 18), Pair("exit_reason", 48),
                                   Pair("info1", int64_t{1} << 40), Pair("instructions_", -3),
                                   Pair("L1_dcache_load_misses", 10), Pair("instructions", 20)));
}

TEST_F(CountersTraceTest, EventsOfOneNameKeepTheirSystemsApart) {
  options.read_at = {type_of("a", "name: work\nID: 1\n", ""),
                     type_of("b", "name: work\nID: 2\n", "")};
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  ASSERT_TRUE(trace->write(0, sample(5, {1, 0, 10, 20}, record(1, 3))));
  ASSERT_TRUE(trace->write(0, sample(6, {1, 1, 10, 20}, record(2, 3))));
  ASSERT_TRUE(trace->finish());
  const Readings readings = read_counters(folder);
  ASSERT_EQ(readings.all.size(), 2u) << readings.problem;
  EXPECT_EQ(readings.all[0].name, "counters_work");
  EXPECT_EQ(readings.all[1].name, "counters_b_work");
}

TEST_F(CountersTraceTest, LossesAreTold) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  ASSERT_TRUE(trace->discard(0, 3));
  ASSERT_TRUE(trace->write(0, sample(5, {4, 0, 10, 20}, switch_record(1, 2))));
  ASSERT_TRUE(trace->discard(0, 4));
  ASSERT_TRUE(trace->finish());
  EXPECT_EQ(trace->discarded(0), 7u);
  const Readings readings = read_counters(folder);
  EXPECT_EQ(readings.all.size(), 1u) << readings.problem;
  EXPECT_EQ(readings.lost, 7u);
}

TEST_F(CountersTraceTest, ASwitchThatIsMissingBetweenTwoOthersIsALoss) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  ASSERT_TRUE(trace->write(0, sample(1, {1, 0, 1, 1}, switch_record(1, 2))));
  ASSERT_TRUE(trace->write(0, sample(2, {2, 0, 1, 1}, switch_record(2, 3))));
  ASSERT_TRUE(trace->write(1, sample(2, {1, 0, 1, 1}, switch_record(8, 9))));
  EXPECT_EQ(trace->discarded(0), 0u);
  ASSERT_TRUE(trace->write(0, sample(3, {3, 0, 1, 1}, switch_record(4, 5))));
  EXPECT_EQ(trace->discarded(0), 1u);
  ASSERT_TRUE(trace->discard(0, 10)) << "told by the kernel: who runs then is not known";
  ASSERT_TRUE(trace->write(0, sample(4, {14, 0, 1, 1}, switch_record(6, 7))));
  ASSERT_TRUE(trace->finish());
  EXPECT_EQ(trace->discarded(0), 11u);
  const Readings readings = read_counters(folder);
  EXPECT_EQ(readings.all.size(), 5u) << readings.problem;
  EXPECT_EQ(readings.lost, 11u);
}

TEST_F(CountersTraceTest, ASampleThatIsNoneOfItsTracepointsIsALoss) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->write(0, sample(1, {1, 0, 10, 20}, record(4711, 1))));
  EXPECT_TRUE(trace->write(0, sample(2, {1, 0, 10, 20}, record(372, 1)))) << "cut off";
  EXPECT_TRUE(trace->write(0, sample(3, {1, 0, 10, 20}, ByteWriter(kNativeOrder))));
  EXPECT_TRUE(trace->write(0, sample(4, {1, 0, 10}, switch_record(1, 2)))) << "a value is missing";
  EXPECT_TRUE(trace->write(0, sample(5, {}, switch_record(1, 2))));
  EXPECT_EQ(trace->events(0), 0u);
  EXPECT_EQ(trace->discarded(0), 5u);
  ASSERT_TRUE(trace->finish());
}

TEST_F(CountersTraceTest, IsReadableUpToTheLastFlushWhileItGrows) {
  Result<CountersTrace> trace = CountersTrace::create(folder, options);
  ASSERT_TRUE(trace);
  EXPECT_EQ(read_counters(folder).all.size(), 0u);
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_TRUE(trace->write(0, sample(i, {i + 1, 0, i, i}, switch_record(1, 1))));
  ASSERT_TRUE(trace->flush());
  ASSERT_TRUE(trace->write(0, sample(100, {101, 0, 1, 1}, switch_record(1, 2))));
  const Readings readings = read_counters(folder);
  EXPECT_EQ(readings.problem, "");
  EXPECT_EQ(readings.all.size(), 100u);
}

}  // namespace
}  // namespace strata::record
