// SPDX-License-Identifier: Apache-2.0
#include "trace/filter.h"

#include <gtest/gtest.h>

#include <bit>

#include "fake_trace.h"

namespace strata::trace {
namespace {

class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    names.add(Tid(1234), "mysqld");
    switch_event = {sched_switch.get(),
                    RecordMaker(*sched_switch, 1234)
                        .set("prev_comm", "mysqld")
                        .set("prev_pid", 1234)
                        .set("prev_prio", 120)
                        .set("prev_state", 1)
                        .set("next_comm", "kworker/2:1")
                        .set("next_pid", 77)
                        .set("next_prio", 100)
                        .bytes(),
                    2'084'021'443'000};
    open_event = {openat.get(),
                  RecordMaker(*openat, 1234)
                      .set("dfd", 0xffffff9c)
                      .set("filename", static_cast<int64_t>(0xffff'8000'0000'1000))
                      .set("flags", 0x80241)
                      .set("mode", 0644)
                      .bytes(),
                  5};
    odd_event = {odd.get(),
                 RecordMaker(*odd, 9)
                     .set("path", std::string_view("/etc/passwd\0", 12))
                     .set("big", -1)
                     .set("cpus", std::string_view("\x0c\0\0\0\0\0\0\0", 8))
                     .set("cpu", 3)
                     .bytes(),
                 6};
  }

  bool matches(std::string_view text, const FakeEvent& event) {
    Result<Filter> filter = Filter::parse(text);
    EXPECT_TRUE(filter) << text << ": " << (filter ? "" : filter.error().text());
    return filter && filter->matches(view(event, 2), names);
  }
  bool on_switch(std::string_view text) { return matches(text, switch_event); }

  std::unique_ptr<EventType> sched_switch = sched_switch_type();
  std::unique_ptr<EventType> openat = sys_enter_openat_type();
  std::unique_ptr<EventType> odd = odd_type();
  TaskNames names;
  FakeEvent switch_event, open_event, odd_event;
};

TEST_F(FilterTest, ComparesNumbers) {
  EXPECT_TRUE(on_switch("prev_pid == 1234"));
  EXPECT_FALSE(on_switch("prev_pid != 1234"));
  EXPECT_TRUE(on_switch("prev_pid > 1233"));
  EXPECT_TRUE(on_switch("prev_pid >= 1234"));
  EXPECT_FALSE(on_switch("prev_pid < 1234"));
  EXPECT_TRUE(on_switch("prev_pid <= 1234"));
  EXPECT_TRUE(on_switch("prev_pid==0x4d2"));
  EXPECT_TRUE(on_switch("prev_pid==02322"));
  EXPECT_TRUE(on_switch("prev_pid > -1"));
}

TEST_F(FilterTest, TestsBits) {
  EXPECT_TRUE(matches("flags & 0x40", open_event));
  EXPECT_FALSE(matches("flags & 0x2", open_event));
  EXPECT_TRUE(matches("flags&0x40&&mode==0644", open_event));
}

TEST_F(FilterTest, ComparesTexts) {
  EXPECT_TRUE(on_switch("prev_comm == \"mysqld\""));
  EXPECT_TRUE(on_switch("prev_comm == mysqld"));
  EXPECT_FALSE(on_switch("prev_comm != 'mysqld'"));
  EXPECT_TRUE(on_switch("prev_comm ~ \"mysql*\""));
  EXPECT_TRUE(on_switch("next_comm ~ kworker/[0-9]*:?"));
  EXPECT_FALSE(on_switch("prev_comm ~ sql"));
  EXPECT_TRUE(matches("path == /etc/passwd", odd_event));
}

TEST_F(FilterTest, TheDesignsExample) {
  EXPECT_TRUE(on_switch("prev_comm ~ \"mysql*\" and next_pid != 0"));
}

TEST_F(FilterTest, AndBindsTighterThanOr) {
  EXPECT_TRUE(on_switch("prev_pid == 1234 || prev_pid == 1 && next_pid == 1"));
  EXPECT_FALSE(on_switch("(prev_pid == 1234 || prev_pid == 1) && next_pid == 1"));
  EXPECT_TRUE(on_switch("prev_pid == 1234 or prev_pid == 1 and next_pid == 1"));
  EXPECT_TRUE(on_switch("prev_pid == 1 and next_pid == 1 or prev_prio == 120"));
}

TEST_F(FilterTest, Negates) {
  EXPECT_FALSE(on_switch("!(prev_pid == 1234)"));
  EXPECT_TRUE(on_switch("!!(prev_pid == 1234)"));
  EXPECT_TRUE(on_switch("not prev_pid == 1"));
  EXPECT_TRUE(on_switch("not (prev_pid == 1 or next_pid == 1) and not not prev_prio == 120"));
}

TEST_F(FilterTest, AnEventWithoutTheFieldDoesNotFulfilTheComparison) {
  EXPECT_FALSE(on_switch("nothing == 1"));
  EXPECT_FALSE(on_switch("nothing != 1"));
  EXPECT_TRUE(on_switch("not nothing == 1"));
  EXPECT_TRUE(on_switch("nothing == 1 or prev_pid == 1234"));
}

TEST_F(FilterTest, ATextIsNotANumber) {
  EXPECT_FALSE(on_switch("prev_pid == mysqld"));
  EXPECT_FALSE(on_switch("prev_pid ~ \"12*\""));
  EXPECT_FALSE(on_switch("prev_comm < 5"));
}

TEST_F(FilterTest, UnsignedNumbersOf64Bits) {
  EXPECT_TRUE(matches("big == 18446744073709551615", odd_event));
  EXPECT_TRUE(matches("big == 0xffffffffffffffff", odd_event));
  EXPECT_TRUE(matches("big > 9223372036854775807", odd_event));
  EXPECT_FALSE(matches("big == -1", odd_event));
  EXPECT_TRUE(matches("big > -1", odd_event));
  EXPECT_TRUE(matches("filename >= 0xffff800000000000", open_event));
  EXPECT_TRUE(on_switch("prev_pid < 18446744073709551615"));
}

TEST_F(FilterTest, WhatIsToldOfEveryEvent) {
  EXPECT_TRUE(on_switch("event == sched_switch and system == sched"));
  EXPECT_TRUE(on_switch("event ~ sched_* && cpu == 2 && CPU == 2"));
  EXPECT_TRUE(on_switch("tid == 1234 && comm == mysqld && COMM ~ my*"));
  EXPECT_TRUE(on_switch("common_pid == 1234"));
  EXPECT_TRUE(on_switch("ts == 2084021443000"));
  EXPECT_FALSE(matches("event == sched_switch", open_event));
}

TEST_F(FilterTest, ARealFieldWins) { EXPECT_TRUE(matches("cpu == 3 and CPU == 2", odd_event)); }

TEST_F(FilterTest, SetsOfCpus) {
  EXPECT_TRUE(on_switch("CPU & CPUS{0-2}"));
  EXPECT_FALSE(on_switch("CPU & CPUS{0,3-200}"));
  EXPECT_TRUE(on_switch("CPU == CPUS{2}"));
  EXPECT_TRUE(on_switch("CPU != CPUS{2-3}"));
  EXPECT_TRUE(matches("cpus & CPUS{3-9}", odd_event));
  EXPECT_FALSE(matches("cpus & CPUS{4-90}", odd_event));
  EXPECT_TRUE(matches("cpus == CPUS{2,3}", odd_event));
  EXPECT_TRUE(matches("cpus != CPUS{2}", odd_event));
}

TEST_F(FilterTest, Floats) {
  auto type =
      make_type(5, "app", "measured",
                {{"load", "double", 8, 8, 8, Location::InPlace, ValueKind::Float, true, 0, 0, {}}});
  FakeEvent event{type.get(), RecordMaker(*type).set("load", std::bit_cast<int64_t>(1.5)).bytes(),
                  0};
  EXPECT_TRUE(matches("load == 1.5", event));
  EXPECT_TRUE(matches("load > 1 and load < 0x2", event));
  EXPECT_FALSE(matches("load >= 1.6 or load & 1", event));
}

TEST_F(FilterTest, RecordsOfTheOtherByteOrder) {
  auto type = sched_switch_type(ByteOrder::Big);
  FakeEvent event{type.get(), RecordMaker(*type, 7).set("prev_pid", 258).bytes(), 0};
  EXPECT_TRUE(matches("prev_pid == 258 and tid == 7", event));
}

TEST_F(FilterTest, NothingIsKnownOfAnUnknownThread) {
  FakeEvent event{openat.get(), RecordMaker(*openat, raw(kNoTid)).bytes(), 0};
  EXPECT_FALSE(matches("tid != 5 or comm != x", event));
}

TEST_F(FilterTest, ATooShortRecordDoesNotMatch) {
  switch_event.record.resize(26);
  EXPECT_FALSE(on_switch("prev_pid == 1234"));
  EXPECT_FALSE(on_switch("next_comm == mysqld"));
}

TEST_F(FilterTest, RejectsTypesThatCannotMatch) {
  Result<Filter> filter = Filter::parse("prev_pid == 1 and event == sched_switch");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->rejects(*openat));
  EXPECT_FALSE(filter->rejects(*sched_switch));
}

TEST_F(FilterTest, NamesUnknownFields) {
  Result<Filter> filter = Filter::parse("prev_pidd == 1 or comm == x or flags & 1");
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->unknown_fields({sched_switch.get(), openat.get()}),
            std::vector<std::string>{"prev_pidd"});
}

struct Bad {
  const char* text;
  uint64_t column;
  const char* says;
};

class BadFilter : public testing::TestWithParam<Bad> {};

TEST_P(BadFilter, SaysWhereAndWhatWasExpected) {
  Result<Filter> filter = Filter::parse(GetParam().text);
  ASSERT_FALSE(filter) << GetParam().text;
  EXPECT_EQ(filter.error().offset, GetParam().column) << GetParam().text;
  EXPECT_NE(filter.error().cause.find(GetParam().says), std::string::npos)
      << GetParam().text << ": " << filter.error().cause;
}

INSTANTIATE_TEST_SUITE_P(
    Filter, BadFilter,
    testing::Values(Bad{"", 0, "expected the name of a field"}, Bad{"pid", 3, "expected '=='"},
                    Bad{"pid = 1", 4, "two signs"}, Bad{"pid ==", 6, "expected a number, a word"},
                    Bad{"pid < abc", 6, "expected a number"},
                    Bad{"comm == \"abc", 8, "never closed"}, Bad{"(pid == 1", 9, "column 1"},
                    Bad{"pid == 1)", 8, "without a '('"},
                    Bad{"pid == 1 pid == 2", 9, "expected 'and', 'or'"},
                    Bad{"pid == 1 and", 12, "expected the name of a field"},
                    Bad{"(pid == 1 pid == 2)", 10, "expected 'and', 'or' or ')'"},
                    Bad{"name.ustring == \"a\"", 4, "only the kernel"},
                    Bad{"CPU & CPUS{3-1}", 12, "backwards"}, Bad{"CPU < CPUS{3}", 6, "only"},
                    Bad{"CPU & CPUS{x}", 11, "CPU's number"}));

TEST(Filter, DepthIsBounded) {
  std::string deep(100'000, '(');
  Result<Filter> filter = Filter::parse(deep.substr(0, 60'000));
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().cause.find("64"), std::string::npos);
  EXPECT_FALSE(Filter::parse(std::string(60'000, '!') + "a==1"));
  EXPECT_FALSE(Filter::parse(deep));
}

TEST(Filter, AChainMayBeLong) {
  auto type = sched_switch_type();
  std::string text = "prev_pid == 0";
  for (int i = 1; i < 3000; ++i) text += " or prev_pid == " + std::to_string(i);
  Result<Filter> filter = Filter::parse(text);
  ASSERT_TRUE(filter);
  FakeEvent event{type.get(), RecordMaker(*type, 7).set("prev_pid", 2999).bytes(), 0};
  EXPECT_TRUE(filter->matches(view(event), TaskNames()));
}

}  // namespace
}  // namespace strata::trace
