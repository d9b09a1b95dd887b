// SPDX-License-Identifier: Apache-2.0
#include "ftrace/event_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/guarded_bytes.h"

namespace strata::ftrace {
namespace {

constexpr const char* kHead =
    "ID: 42\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
constexpr const char* kFields =
    "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:u32 b;\toffset:12;\tsize:4;\tsigned:0;\n"
    "\tfield:char name[16];\toffset:16;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] text;\toffset:32;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc u8[] bytes;\toffset:36;\tsize:4;\tsigned:0;\n";

struct Record {
  std::vector<std::byte> bytes = std::vector<std::byte>(40);
  template <typename T>
  Record& put(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
    return *this;
  }
  Record& put_text(size_t offset, std::string_view text) {
    std::memcpy(bytes.data() + offset, text.data(), text.size());
    return *this;
  }
};

class EventTextTest : public testing::Test {
 protected:
  std::string text(const std::string& print_format, Bytes record) {
    return text("test", "made_up", kFields, print_format, record);
  }
  std::string text(const std::string& system, const std::string& name, const std::string& fields,
                   const std::string& print_format, Bytes record) {
    auto type = parse_format_file(
        system, "name: " + name + "\n" + kHead + fields + "\nprint fmt: " + print_format + "\n",
        Target{});
    EXPECT_TRUE(type) << type.error().text();
    const trace::EventType* types[] = {&*type};
    const EventText texts(types, kernel_);
    way_ = texts.way(*type);
    const test::GuardedBytes guarded(record);  // one byte too far, and it crashes
    trace::Event event;
    event.type = &*type;
    event.record = guarded.bytes();
    TextBuffer out(16);
    texts.print(event, out);
    return std::string(out.view());
  }

  KernelText kernel_;
  EventText::Way way_{};
};

TEST_F(EventTextTest, FieldsAreShownAsTheirConversionsSay) {
  Record r;
  r.put<int32_t>(8, -5).put<uint32_t>(12, 0xbeef).put_text(16, "task");
  EXPECT_EQ(text(R"("a=%d b=0x%04x name=%s", REC->a, REC->b, REC->name)", r.bytes),
            "a=-5 b=0xbeef name=task");
  EXPECT_EQ(way_, EventText::Way::Program);
}

TEST_F(EventTextTest, WhatAShortRecordLacksIsZeroOrEmpty) {
  Record r;
  r.put<int32_t>(8, 7);
  for (size_t size = 0; size <= 40; ++size) {
    const std::string shown =
        text(R"("%d %u [%s] [%s] %s", REC->a, REC->b, REC->name, __get_str(text), )"
             R"(__print_hex(__get_rel_dynamic_array(bytes), 4))",
             Bytes(r.bytes).first(size));
    EXPECT_TRUE(shown.starts_with(size >= 12 ? "7 0 [] []" : "")) << size << ": " << shown;
  }
}

TEST_F(EventTextTest, LocatorsThatPointOutOfTheRecordGiveNothing) {
  Record r;
  for (const uint32_t locator : {0x0004'ffffu, 0xffff'0008u, 0xffff'ffffu, 0x0001'0028u}) {
    r.put<uint32_t>(32, locator).put<uint32_t>(36, locator);
    EXPECT_EQ(text(R"("[%s]", __get_str(text))", r.bytes), "[]") << locator;
    const std::string bytes =
        text(R"("[%s] %d", __print_array(__get_rel_dynamic_array(bytes), 3, 8), )"
             R"(__get_rel_dynamic_array_len(bytes))",
             r.bytes);
    EXPECT_TRUE(bytes.starts_with("[")) << bytes;
  }
}

TEST_F(EventTextTest, CountsFromTheRecordEndWithTheRecord) {
  Record r;
  r.put<uint32_t>(12, 0xffff'fff0);
  EXPECT_EQ(text(R"("%s", __print_hex_str(REC->bytes, REC->b))", r.bytes), "00000000");
}

TEST_F(EventTextTest, WidthsStayWithinReason) {
  Record r;
  r.put<uint32_t>(12, 2'000'000'000);
  EXPECT_LE(text(R"("%*d%*d", REC->b, 1, REC->b, 2)", r.bytes).size(), 200'000u);
  EXPECT_LE(text(R"("%999999999d", REC->b)", r.bytes).size(), 100'000u);
  std::string many = "\"";
  std::string arguments = "\"";
  for (int i = 0; i < 1000; ++i) {
    many += "%60000d";
    arguments += ", REC->a";
  }
  EXPECT_LE(text(many + arguments, r.bytes).size(), 200'000u);
}

TEST_F(EventTextTest, DivisionByZeroIsZero) {
  EXPECT_EQ(text(R"("%d %d", 7 / REC->b, 7 % REC->b)", Record().bytes), "0 0");
}

TEST_F(EventTextTest, FormatsThatAreNotUnderstoodShowTheFields) {
  Record r;
  r.put<int32_t>(8, -1).put_text(16, "name");
  EXPECT_EQ(text(R"("%d", what(REC->a))", r.bytes),
            "[FAILED TO PARSE] a=-1 b=0 name=name text= bytes=");
  EXPECT_EQ(way_, EventText::Way::Fields);
  const std::string deep(100'000, '(');
  EXPECT_TRUE(text("\"%d\", " + deep + "1", r.bytes).starts_with("[FAILED"));
  std::string chain = "\"%d\", 1";
  for (int i = 0; i < 100'000; ++i) chain += "+1";
  text(chain, r.bytes);
}

constexpr const char* kSwitchFields =
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";

TEST_F(EventTextTest, SchedSwitchIsToldAsTraceCmdDoes) {
  Record r;
  r.bytes.resize(64);
  r.put_text(8, "sixteen-letters!")
      .put<int32_t>(24, 1234)
      .put<int32_t>(28, 120)
      .put<int64_t>(32, 1);
  r.put_text(40, "swapper/0").put<int32_t>(56, 0).put<int32_t>(60, -1);
  EXPECT_EQ(text("sched", "sched_switch", kSwitchFields, "\"\"", r.bytes),
            "sixteen-letters!:1234 [120] S ==> swapper/0:0 [-1]");
  EXPECT_EQ(way_, EventText::Way::Known);
  r.put<int64_t>(32, 0x102);  // the higher bits have no letters
  EXPECT_EQ(text("sched", "sched_switch", kSwitchFields, "\"\"", r.bytes),
            "sixteen-letters!:1234 [120] D ==> swapper/0:0 [-1]");
  r.put<int64_t>(32, 0x100);
  EXPECT_EQ(text("sched", "sched_switch", kSwitchFields, "\"\"", r.bytes),
            "sixteen-letters!:1234 [120] R ==> swapper/0:0 [-1]");
  for (size_t size = 0; size < 64; ++size)
    text("sched", "sched_switch", kSwitchFields, "\"\"", Bytes(r.bytes).first(size));
}

TEST_F(EventTextTest, CallsAreIndentedByWhoCalledWhom) {
  kernel_.kallsyms = "1000 T outer\n2000 T middle\n3000 T inner\n4000 T end\n";
  const std::string fields =
      "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n";
  auto type = parse_format_file(
      "ftrace", std::string("name: function\n") + kHead + fields + "\nprint fmt: \"\"\n", Target{});
  ASSERT_TRUE(type);
  const trace::EventType* types[] = {&*type};
  const EventText texts(types, kernel_);
  const auto call = [&](uint64_t function, uint64_t caller) {
    Record r;
    r.put<uint64_t>(8, function).put<uint64_t>(16, caller);
    trace::Event event;
    event.type = &*type;
    event.record = Bytes(r.bytes).first(24);
    TextBuffer out;
    texts.print(event, out);
    return std::string(out.view());
  };
  EXPECT_EQ(call(0x2000, 0x1010), "middle");
  EXPECT_EQ(call(0x3000, 0x2004), "   inner");
  EXPECT_EQ(call(0x2000, 0x1020), "middle");
  EXPECT_EQ(call(0x9000, 0x1020), "0x9000");
}

TEST_F(EventTextTest, ACallAndItsReturnThatComesNextAreOneLine) {
  kernel_.kallsyms = "1000 T leaf\n2000 T end\n";
  const auto type = [&](const std::string& name, int id, const std::string& fields) {
    std::string text = "name: " + name + "\n" + kHead + fields + "\nprint fmt: \"\"\n";
    text.replace(text.find("ID: 42"), 6, "ID: " + std::to_string(id));
    auto parsed = parse_format_file("ftrace", text, Target{});
    EXPECT_TRUE(parsed);
    return std::move(*parsed);
  };
  const std::string call =
      "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n";
  const trace::EventType entry_type = type("funcgraph_entry", 11, call);
  const trace::EventType exit_type =
      type("funcgraph_exit", 10,
           call +
               "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
               "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n");
  Record entry;
  entry.put<uint64_t>(8, 0x1000).put<int32_t>(16, 2);
  Record exit = entry;
  exit.put<uint64_t>(24, 1000).put<uint64_t>(32, 13'345);
  trace::Event first;
  first.type = &entry_type;
  first.record = entry.bytes;
  trace::Event second;
  second.type = &exit_type;
  second.record = exit.bytes;
  const trace::EventType* types[] = {&entry_type, &exit_type};
  const EventText texts(types, kernel_);
  TextBuffer out;
  texts.print(first, out);
  EXPECT_EQ(out.view(), "             |      leaf() {");
  out.clear();
  texts.print(second, out);
  EXPECT_EQ(out.view(), "+ 12.345 us  |      }");
  out.clear();
  ASSERT_TRUE(EventText::is_leaf(first, second));
  EXPECT_FALSE(EventText::is_leaf(second, first));
  texts.print_leaf(first, second, out);
  EXPECT_EQ(out.view(), "+ 12.345 us  |      leaf();");
}

TEST_F(EventTextTest, AStackIsOneLineAFunction) {
  kernel_.kallsyms = "1000 T outer\n2000 T end\n";
  Record r;
  r.bytes.resize(48);
  r.put<uint64_t>(16, 0x1008).put<uint64_t>(24, 0x7777).put<uint64_t>(32, ~uint64_t{0});
  EXPECT_EQ(text("ftrace", "kernel_stack",
                 "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
                 "\"\"", r.bytes),
            "<stack trace >\n=> outer (1008)\n=> 7777\n");
}

}  // namespace
}  // namespace strata::ftrace
