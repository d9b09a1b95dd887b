// SPDX-License-Identifier: Apache-2.0
#include "trace/json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_trace.h"
#include "trace/field_text.h"

namespace strata::trace {
namespace {

using nlohmann::json;

class JsonLineTest : public testing::Test {
 protected:
  JsonLineTest() {
    trace.edit_info().machine = "web1";
    trace.types.push_back(sched_switch_type());
    trace.types.push_back(odd_type());
    trace.types.push_back(sys_enter_openat_type());
    trace.names.add(Tid(7), "ba\"sh");
  }
  json line(const FakeEvent& event, std::vector<std::string> fields = {},
            std::string_view buffer = "") {
    LearnedNames names(trace);
    TextBuffer out;
    JsonLine(trace, names, "a.dat", std::move(fields)).print(view(event, 3), buffer, out);
    EXPECT_EQ(out.back(), '\n');
    text = out.view();
    return json::parse(text);
  }
  FakeTrace trace;
  std::string text;
};

TEST_F(JsonLineTest, TellsAllOfAnEvent) {
  FakeEvent event{trace.types[0].get(),
                  RecordMaker(*trace.types[0], 7)
                      .set("prev_comm", "bash")
                      .set("prev_pid", -7)
                      .set("next_comm", "x")
                      .bytes(),
                  2'084'021'443'001};
  EXPECT_EQ(line(event), json::parse(R"({
    "ts_ns": 2084021443001, "machine": "web1", "trace": "a.dat", "cpu": 3, "tid": 7,
    "comm": "ba\"sh", "system": "sched", "event": "sched_switch",
    "fields": {"prev_comm": "bash", "prev_pid": -7, "prev_prio": 0, "prev_state": 0,
               "next_comm": "x", "next_pid": 0, "next_prio": 0}})"));
}

TEST_F(JsonLineTest, EveryKindOfValue) {
  FakeEvent event{trace.types[1].get(),
                  RecordMaker(*trace.types[1], 0)
                      .set("path", std::string_view("a\nb\xff\xc3\xa4\x01\0", 8))
                      .set("values", std::string_view("\x01\0\0\0\xff\xff\xff\xff\x03\0\0\0", 12))
                      .set("big", -1)
                      .bytes(),
                  0};
  json fields = line(event)["fields"];
  EXPECT_EQ(fields["path"], "a\nb\uFFFD\u00e4\u0001");
  EXPECT_EQ(fields["values"], json::parse("[1, -1, 3]"));
  EXPECT_EQ(fields["big"], 18446744073709551615u);
  EXPECT_EQ(fields["cpus"], json::array());

  FakeEvent open{trace.types[2].get(),
                 RecordMaker(*trace.types[2], 0)
                     .set("filename", static_cast<int64_t>(0xffff800000001000))
                     .bytes(),
                 0};
  EXPECT_EQ(line(open)["fields"]["filename"], "0xffff800000001000");
}

TEST_F(JsonLineTest, LossesAndBuffer) {
  FakeEvent event{trace.types[0].get(), RecordMaker(*trace.types[0], 0).bytes(), 0, 12, true};
  json object = line(event, {}, "instance");
  EXPECT_EQ(object["lost"], 12);
  EXPECT_EQ(object["lost_unknown"], true);
  EXPECT_EQ(object["buffer"], "instance");
  EXPECT_EQ(object["comm"], "<idle>");
}

TEST_F(JsonLineTest, ChosenFieldsOnly) {
  FakeEvent event{trace.types[0].get(), RecordMaker(*trace.types[0], 9).bytes(), 0};
  EXPECT_EQ(line(event, {"next_pid", "nothing", "common_pid"})["fields"],
            json::parse(R"({"next_pid": 0, "common_pid": 9})"));
}

TEST_F(JsonLineTest, ATooShortRecordGivesNulls) {
  FakeEvent event{trace.types[0].get(), RecordMaker(*trace.types[0], 9).bytes(), 0};
  event.record.resize(10);
  json fields = line(event)["fields"];
  EXPECT_TRUE(fields["prev_pid"].is_null());
  EXPECT_EQ(fields["prev_comm"], "");
}

TEST_F(JsonLineTest, AThreadThatNobodyKnowsIsNull) {
  FakeEvent event{trace.types[0].get(), RecordMaker(*trace.types[0], -1).bytes(), 0};
  json object = line(event);
  EXPECT_TRUE(object.contains("tid") && object["tid"].is_null());
  EXPECT_TRUE(object["comm"].is_null());
}

TEST_F(JsonLineTest, ALongNameIsCutAndKept) {
  trace.names.add(Tid(8), std::string(100, '\x01'));
  FakeEvent event{trace.types[0].get(), RecordMaker(*trace.types[0], 8).bytes(), 0};
  EXPECT_EQ(line(event)["comm"], std::string(32, '\x01'));
}

TEST(JsonString, AllTwoByteTextsAreValid) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char text[] = {'x', static_cast<char>(a), static_cast<char>(b), 'y'};
      TextBuffer out;
      put_json_string({text, 4}, out);
      ASSERT_TRUE(json::accept(out.view())) << out.view();
    }
  }
}

TEST(JsonString, WellFormedAndIllFormedUtf8) {
  auto of = [](std::string_view text) {
    TextBuffer out;
    put_json_string(text, out);
    return json::parse(out.view()).get<std::string>();
  };
  EXPECT_EQ(of("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(of("\xe2\x82\xac"), "\xe2\x82\xac");
  EXPECT_EQ(of("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(of("\xe2\x82"), "\uFFFD\uFFFD");            // cut short
  EXPECT_EQ(of("\xc0\x80"), "\uFFFD\uFFFD");            // longer than needed
}

}  // namespace
}  // namespace strata::trace
