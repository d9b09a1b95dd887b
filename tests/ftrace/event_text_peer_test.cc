// SPDX-License-Identifier: Apache-2.0
//
// Print formats that the running kernel does not have, against libtraceevent: other machines' words
// and byte orders, trace_printk(), operators that bind strangely.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ftrace/event_text.h"
#include "libtraceevent_oracle.h"

namespace strata::ftrace {
namespace {

constexpr const char* kCommon =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

// A record of many fields, the same for all formats.
constexpr const char* kFields =
    "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:unsigned int b;\toffset:12;\tsize:4;\tsigned:0;\n"
    "\tfield:u64 c;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:short d;\toffset:24;\tsize:2;\tsigned:1;\n"
    "\tfield:unsigned char e;\toffset:26;\tsize:1;\tsigned:0;\n"
    "\tfield:bool f;\toffset:27;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned long args[4];\toffset:32;\tsize:32;\tsigned:0;\n"
    "\tfield:char name[16];\toffset:64;\tsize:16;\tsigned:0;\n"
    "\tfield:u8 mac[6];\toffset:80;\tsize:6;\tsigned:0;\n"
    "\tfield:__u8 v4[4];\toffset:86;\tsize:4;\tsigned:0;\n"
    "\tfield:__u8 v6[16];\toffset:90;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] text;\toffset:108;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc u8[] bytes;\toffset:112;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] near;\toffset:116;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long p;\toffset:120;\tsize:8;\tsigned:0;\n";
constexpr size_t kFixed = 128;

template <typename T>
void put(std::vector<std::byte>& bytes, size_t offset, T value, ByteOrder order = kNativeOrder) {
  if constexpr (sizeof(T) > 1)
    if (order != kNativeOrder) value = swap_bytes(value);
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

std::string format_file(const std::string& name, int id, const std::string& fields,
                        const std::string& print_format) {
  return "name: " + name + "\nID: " + std::to_string(id) + "\n" + kCommon + fields +
         "\nprint fmt: " + print_format + "\n";
}

// Both texts of one record.
struct Texts {
  std::string ours;
  std::string theirs;
};

Texts both(const std::string& system, const std::string& format, Bytes record, Target target = {},
           const std::string& kallsyms = "", const std::string& printk_formats = "") {
  auto type = parse_format_file(system, format, target);
  EXPECT_TRUE(type) << (type ? "" : type.error().text());
  if (!type) return {};
  KernelText kernel;
  kernel.target = target;
  kernel.kallsyms = kallsyms;
  kernel.printk_formats = printk_formats;
  const trace::EventType* types[] = {&*type};
  const EventText text(types, kernel);
  trace::Event event;
  event.type = &*type;
  event.record = record;
  TextBuffer out;
  text.print(event, out);
  test::LibtraceeventOracle oracle(target, kallsyms, printk_formats);
  oracle.add(system, format);
  return {std::string(out.view()), oracle.text(record)};
}

// A record with zeros behind it.
struct Made {
  std::vector<std::byte> bytes;
  size_t size;
  Bytes record() const { return {bytes.data(), size}; }
};

Made made_record(int id, ByteOrder order = kNativeOrder) {
  Made made{std::vector<std::byte>(4096), kFixed + 64};
  auto& b = made.bytes;
  put<uint16_t>(b, 0, static_cast<uint16_t>(id), order);
  put<uint32_t>(b, 4, 4711, order);
  put<uint32_t>(b, 8, static_cast<uint32_t>(-7), order);
  put<uint32_t>(b, 12, 12, order);
  put<uint64_t>(b, 16, 0x123456789abcdef0, order);
  put<uint16_t>(b, 24, static_cast<uint16_t>(-3), order);
  put<uint8_t>(b, 26, 200);
  put<uint8_t>(b, 27, 1);
  for (size_t i = 0; i < 4; ++i) put<uint64_t>(b, 32 + 8 * i, 0x1000 + i, order);
  std::memcpy(b.data() + 64, "kworker/0:1", 11);
  for (size_t i = 0; i < 26; ++i) put<uint8_t>(b, 80 + i, static_cast<uint8_t>(i * 7));
  put<uint32_t>(b, 108, 6 << 16 | kFixed, order);
  std::memcpy(b.data() + kFixed, "hello", 6);
  put<uint32_t>(b, 112, 28 << 16 | (kFixed + 8), order);
  put<uint16_t>(b, kFixed + 8, 2);  // a socket's address
  for (size_t i = 2; i < 28; ++i) put<uint8_t>(b, kFixed + 8 + i, static_cast<uint8_t>(i));
  put<uint32_t>(b, 116, 5 << 16 | (kFixed + 40 - 120), order);
  std::memcpy(b.data() + kFixed + 40, "near", 5);
  put<uint64_t>(b, 120, 0xffffffff81000010, order);
  return made;
}

const std::vector<std::string> kFormats = {
    R"("%d %u %x %o %X", REC->a, REC->a, REC->a, REC->a, REC->a)",
    R"("%ld %lu %lld %llx %Lu %zu", REC->a, REC->b, REC->c, REC->c, REC->c, REC->c)",
    R"("%hd %hu %hhd %hhu %hhx", REC->d, REC->d, REC->e, REC->e, REC->a)",
    R"("[%5d] [%-5d] [%05d] [%.3d] [%8.3d] [%-8.3d] [%08.3d]", REC->a, REC->a, REC->a, REC->a, REC->a, REC->a, REC->a)",
    R"("[%#x] [%#o] [%#010x] [%-#10x] [%#X] [%.0d]", REC->b, REC->b, REC->b, REC->b, REC->b, REC->b - 12)",
    R"("[%s] [%20s] [%-20s] [%.3s] [%10.2s]", REC->name, REC->name, REC->name, REC->name, REC->name)",
    R"("[%*d] [%-*d] [%0*x] [%.*s] [%*s]", 6, REC->a, 6, REC->a, 8, REC->b, 4, REC->name, 14, REC->name)",
    R"("100%% done\n\t\"quoted\" \\ %d%%", REC->b)",
    R"("%c %d", REC->e, REC->a)",
    R"("%s", REC->b > 3 ? "many" : "few")",
    R"("%s|%s", REC->f ? "yes" : "no", !REC->f ? "yes" : "no")",
    R"("%d %d %d", REC->b - 1 - 2, REC->b - (1 - 2), REC->b * (2 + 3))",
    R"("%d %d", 2 * REC->b + 3, 2 + REC->b * 3)",
    R"("%d %d %d", REC->b & 4 | 1, REC->b | 4 & 1, (REC->b & 0xc) == 12)",
    R"("%d %d", REC->b == 12 && REC->e == 200, REC->b == 1 || REC->e == 200)",
    R"("%d", REC->b == 12 ? REC->e : REC->f)",
    R"("%d", REC->b == 1 ? 5 : REC->f ? 6 : 7)",
    R"("%d", (REC->b == 1 ? 5 : 6) + 10)",
    R"("%llu %llu", REC->c >> 32, (REC->c << 4) >> 8)",
    R"("%x %x %x", ~REC->b, -REC->b, !REC->b)",
    R"("%llx %llx %llx", (u8)REC->c, (unsigned short)REC->c, (int)REC->c)",
    R"("%llx %llx", (unsigned long)REC->c, (s32)(REC->c >> 4))",
    R"("%d %d", REC->b / 5, REC->b % 5)",
    R"("%lx %lx %lx", REC->args[0], (unsigned long)REC->args[3], REC->args[REC->f])",
    R"("%d", (int)REC->name[1])",
    R"("%s", __print_flags(REC->b, "|", { 4, "four" }, { 8, "eight" }, { 16, "sixteen" }))",
    R"("%s", __print_flags(REC->e, "", { 1 << 3, "a" }, { (1 << 6), "b" }))",
    R"("[%8s]", __print_flags(REC->b, ",", { 4, "x" }, { 8, "yy" }))",
    R"("%s %s", __print_symbolic(REC->b, { 1, "one" }, { 12, "twelve" }), __print_symbolic(REC->e, { 1, "one" }))",
    R"("%s", __print_symbolic(REC->a, { -7, "minus seven" }, { 7, "seven" }))",
    R"("%s", __print_symbolic(REC->f, { HI_SOFTIRQ, "HI" }, { TIMER_SOFTIRQ, "TIMER" }))",
    R"("%s %s", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, 3 + 1))",
    R"("%s %s", __print_hex(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes)), __print_array(REC->mac, 3, 2))",
    R"("%s", __print_array(__get_dynamic_array(bytes), 3, 4))",
    R"("%s", __print_array(REC->mac, 2, 3))",
    R"("%s [%.2s] [%8s]", __get_str(text), __get_str(text), __get_str(text))",
    R"("%s", __get_rel_str(near))",
    R"("%s", __get_str(missing))",
    R"("%d %d", __get_dynamic_array_len(text), ((u8 *)__get_dynamic_array(bytes))[4])",
    R"("%s %s", __get_bitmask(bytes), __get_cpumask(bytes))",
    R"("%pM %pm %pMR %pMF", REC->mac, REC->mac, REC->mac, REC->mac)",
    R"("%pI4 %pi4 %pI4h %pI4l %pI4n", REC->v4, REC->v4, REC->v4, REC->v4, REC->v4)",
    R"("%pI6 %pi6 %pI6c", REC->v6, REC->v6, REC->v6)",
    R"("%pU %pUb %pUB %pUl %pUL", REC->v6, REC->v6, REC->v6, REC->v6, REC->v6)",
    R"("%pISpc %pIS %piS", __get_dynamic_array(bytes), __get_dynamic_array(bytes), __get_dynamic_array(bytes))",
    R"("%pI4 %pI6 %pM %pU", REC->v6, REC->v4, REC->name, REC->mac)",
    R"("%pI4 %pM", REC->b + 1, REC->b + 1)",
    R"("%*ph %*phC %*phD %*phN %ph", 5, __get_dynamic_array(bytes), 3, __get_dynamic_array(bytes), 3, __get_dynamic_array(bytes), 3, __get_dynamic_array(bytes), __get_dynamic_array(bytes))",
    R"("%pS %ps %pF %pf %p %pK", (void *)REC->p, (void *)REC->p, REC->p, REC->p, (void *)REC->p, REC->b)",
    R"("%p %10p", REC->b - 12, (void *)REC->b)",
    R"("%s %x", (char *)REC->name, sizeof(REC->c))",
    R"("%s", REC->p)",
    R"("%d", jiffies_to_msecs(REC->b))",
    R"("%s %d", jbd2_dev_to_name(REC->b), is_writable_pte(REC->b))",
    R"("%d", (REC)->b)",
    R"("%d %d", __builtin_expect(REC->b, 1), REC->missing)",
    R"("%d", REC->b, REC->e)",
    R"("%d %d", REC->b)",
    R"("%d", unknown_function(REC->b))",
    R"("%lllld", REC->b)",
    R"("%d", REC->args[REC->b + 1])",
    R"("%s", "constant")",
    R"("no arguments at all")",
    R"("%d" " concatenated " "%d", REC->a, REC->b)",
    R"("%d", 0x10 + 010 + 10)",
    R"("%s", REC->b == 12 ? __print_symbolic(REC->e, { 200, "two hundred" }) : __get_str(text))",
    R"("%d", REC->a ^ 1)",
    R"("%d", 1 ? 2 : 3)",
    R"("%s%s", REC->f ? "" : "not ", REC->b ? "there" : "gone")",
    R"("%-10s|%5s|", __get_str(text), __print_symbolic(REC->b, { 12, "ab" }))",
    R"("%lu", (unsigned long)(REC->c & 0xff) << 2)",
    R"("%llu.%03llu", REC->c / 1000, REC->c % 1000)",
    R"("%s", REC->text)",
};

constexpr const char* kKallsyms =
    "ffffffff81000000 T first_function\n"
    "ffffffff81000100 t second_function\t[module]\n"
    "ffffffff81000200 D last\n";

TEST(EventTextPeer, FormatsOfEveryKindGiveTheSameText) {
  int id = 100;
  for (const std::string& print_format : kFormats) {
    const std::string format = format_file("made_up", ++id, kFields, print_format);
    const Made made = made_record(id);
    const Texts texts = both("test", format, made.record(), {}, kKallsyms);
    EXPECT_EQ(texts.ours, texts.theirs) << print_format;
  }
}

TEST(EventTextPeer, AnotherByteOrderGivesTheSameText) {
  const Target target{.order =
                          kNativeOrder == ByteOrder::Little ? ByteOrder::Big : ByteOrder::Little};
  int id = 100;
  for (const std::string& print_format : kFormats) {
    const std::string format = format_file("made_up", ++id, kFields, print_format);
    const Made made = made_record(id, target.order);
    const Texts texts = both("test", format, made.record(), target, kKallsyms);
    EXPECT_EQ(texts.ours, texts.theirs) << print_format;
  }
}

TEST(EventTextPeer, A32BitKernelsWordsGiveTheSameText) {
  const Target target{.order = kNativeOrder, .long_size = 4};
  const std::string fields =
      "\tfield:unsigned long a;\toffset:8;\tsize:4;\tsigned:0;\n"
      "\tfield:long b;\toffset:12;\tsize:4;\tsigned:1;\n"
      "\tfield:const char * c;\toffset:16;\tsize:4;\tsigned:0;\n"
      "\tfield:unsigned long d[2];\toffset:20;\tsize:8;\tsigned:0;\n";
  Made made{std::vector<std::byte>(4096), 28};
  for (size_t i = 8; i < 28; i += 4) put<uint32_t>(made.bytes, i, 0xc0000010 + uint32_t(i));
  put<uint32_t>(made.bytes, 16, 0xc0123456);
  put<uint16_t>(made.bytes, 0, 77);
  for (const char* print_format :
       {R"("%lu %ld %lx %d", REC->a, REC->b, REC->a, REC->b)", R"("%ps %pS", REC->a, REC->a)",
        R"("%s %lx", REC->c, REC->d[1])", R"("%d", sizeof(long))"}) {
    const Texts texts =
        both("test", format_file("made_up", 77, fields, print_format), made.record(), target,
             "c0000000 T start\nc0001000 T end\n", "0xc0123456 : \"a constant\"\n");
    EXPECT_EQ(texts.ours, texts.theirs) << print_format;
  }
}

TEST(EventTextPeer, WhatCannotBeParsedIsShownFieldByField) {
  const std::string fields = std::string(kFields) +
                             "\tfield:const char * q;\toffset:128;\tsize:8;\tsigned:0;\n"
                             "\tfield:long r;\toffset:136;\tsize:8;\tsigned:1;\n"
                             "\tfield:signed char s;\toffset:144;\tsize:1;\tsigned:1;\n";
  Made made = made_record(9);
  made.size = kFixed + 64;
  const Texts texts =
      both("test", format_file("made_up", 9, fields, R"("%d", unknown(REC->a))"), made.record());
  EXPECT_EQ(texts.ours, texts.theirs);
  EXPECT_TRUE(texts.ours.starts_with("[FAILED TO PARSE] a=-7 b=12"));
}

// ---- trace_printk() ------------------------------------------------------------------------

constexpr const char* kBprintFields =
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n";

Made bprint_record(uint64_t format, const std::vector<uint32_t>& words, const std::string& text) {
  Made made{std::vector<std::byte>(4096), 0};
  put<uint16_t>(made.bytes, 0, 6);
  put<uint64_t>(made.bytes, 8, 0xffffffff81000010);
  put<uint64_t>(made.bytes, 16, format);
  size_t at = 24;
  for (const uint32_t word : words) {
    put<uint32_t>(made.bytes, at, word);
    at += 4;
  }
  std::memcpy(made.bytes.data() + at, text.data(), text.size());
  made.size = (at + text.size() + 3) / 4 * 4;
  return made;
}

TEST(EventTextPeer, TracePrintkGivesTheSameText) {
  struct Case {
    std::string format;
    std::vector<uint32_t> words;
    std::string text;
  };
  const std::string nul(1, '\0');
  const std::vector<Case> cases = {
      {"plain\\n", {1}, ""},
      {"%d and %u and %x\\n", {uint32_t(-5), 7, 0xabc}, ""},
      {"%ld %llx", {1, 2, 3, 4}, ""},
      {"%5d|%05d|%#x|%.3d", {1, 2, 3, 4}, ""},
      {"%s!", {}, "some text" + nul},
      {"%s=%d", {}, "abc" + nul + std::string("\5\0\0\0", 4)},
      {"%*d|%.*s", {6, 42, 3}, "abcdef" + nul},
      {"%ps %pS %p", {0x81000010, 0xffffffff, 0x81000020, 0xffffffff, 16, 0}, ""},
      {"%pM", {1, 2}, ""},
      {"%pI4 %d", {1, 2, 3}, ""},
      {"%pMx", {}, "aa:bb" + nul},
      {"%c%d", {65, 66}, ""},
      {"%% %d%%", {3}, ""},
      {"no end %d %d", {3}, ""},
      {"%-5d|", {3}, ""},
  };
  for (const Case& c : cases) {
    const std::string printk = "0xffffffff82000000 : \"" + c.format + "\"\n";
    const Made made = bprint_record(0xffffffff82000000, c.words, c.text);
    const std::string format =
        format_file("bprint", 6, kBprintFields, R"("%ps: %s", (void *)REC->ip, REC->fmt)");
    const Texts texts = both("ftrace", format, made.record(), {}, kKallsyms, printk);
    EXPECT_EQ(texts.ours, texts.theirs) << c.format;
  }
}

TEST(EventTextPeer, ATracePrintkWhoseFormatIsNotKnownSaysSo) {
  const Made made = bprint_record(0x1234, {1, 2}, "");
  const std::string format =
      format_file("bprint", 6, kBprintFields, R"("%ps: %s", (void *)REC->ip, REC->fmt)");
  const Texts texts = both("ftrace", format, made.record(), {}, kKallsyms);
  EXPECT_EQ(texts.ours, texts.theirs);
  EXPECT_EQ(texts.ours, "first_function: (NO FORMAT FOUND at 1234)\n");
}

}  // namespace
}  // namespace strata::ftrace
