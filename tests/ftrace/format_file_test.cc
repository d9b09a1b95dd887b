// SPDX-License-Identifier: Apache-2.0
#include "ftrace/format_file.h"

#include <gtest/gtest.h>

#include <string>

#include "support/guarded_bytes.h"

namespace strata::ftrace {
namespace {

using trace::EventType;
using trace::Field;
using trace::Location;
using trace::ValueKind;

constexpr std::string_view kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n";

// The text of a format file with these lines of fields.
std::string format(std::string_view fields, std::string_view print = "\"\"") {
  return "name: an_event\nID: 1234\nformat:\n" + std::string(kCommon) + std::string(fields) +
         "\nprint fmt: " + std::string(print) + "\n";
}

EventType parse(const std::string& text, Target target = {ByteOrder::Little, 8}) {
  auto type = parse_format_file("a_system", text, target);
  EXPECT_TRUE(type) << type.error().text();
  return type ? *type : EventType{};
}

// The one field besides the common ones.
Field field_of(std::string_view line, Target target = {ByteOrder::Little, 8}) {
  const EventType type = parse(format(line), target);
  EXPECT_EQ(type.fields.size(), 5u) << line;
  return type.fields.size() == 5 ? type.fields[4] : Field{};
}

TEST(FormatFile, ASwitch) {
  const std::string text = format(
      "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
      "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
      "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
      "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
      "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n",
      "\"prev_comm=%s ==> next_comm=%s\", REC->prev_comm, REC->next_comm");
  const EventType type = parse(text);
  EXPECT_EQ(type.name, "an_event");
  EXPECT_EQ(type.system, "a_system");
  EXPECT_EQ(type.id, 1234u);
  EXPECT_EQ(type.declaration, text);
  EXPECT_EQ(type.print_format, "\"prev_comm=%s ==> next_comm=%s\", REC->prev_comm, REC->next_comm");
  EXPECT_EQ(type.common_fields, 4u);
  ASSERT_EQ(type.fields.size(), 11u);
  EXPECT_EQ(type.fields[3],
            (Field{"common_pid", "int", 4, 4, 4, Location::InPlace, ValueKind::Integer, true}));
  EXPECT_EQ(type.fields[4],
            (Field{"prev_comm", "char[16]", 8, 16, 1, Location::InPlace, ValueKind::Text, false}));
  EXPECT_EQ(type.fields[5],
            (Field{"prev_pid", "pid_t", 24, 4, 4, Location::InPlace, ValueKind::Integer, true}));
  EXPECT_EQ(type.fields[7],
            (Field{"prev_state", "long", 32, 8, 8, Location::InPlace, ValueKind::Integer, true}));
  EXPECT_EQ(type.tid.offset, 4u);
  EXPECT_EQ(type.tid.size, 4u);
}

TEST(FormatFile, IsBoundToTheVocabulary) {
  const std::string text =
      "name: sched_switch\nID: 314\nformat:\n" + std::string(kCommon) +
      "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
  auto type = parse_format_file("sched", text, {ByteOrder::Big, 8});
  ASSERT_TRUE(type);
  EXPECT_EQ(type->meaning.word, trace::Word::SchedSwitch);
  EXPECT_EQ(type->meaning.part(trace::Role::NextTid).offset, 56u);
  EXPECT_EQ(type->meaning.part(trace::Role::NextTid).swap, kNativeOrder != ByteOrder::Big);
  EXPECT_EQ(type->order, ByteOrder::Big);
}

TEST(FormatFile, TextsAreLocated) {
  const Field name = field_of("\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n");
  EXPECT_EQ(name.name, "name");
  EXPECT_EQ(name.offset, 8u);
  EXPECT_EQ(name.size, 4u) << "the locator's";
  EXPECT_EQ(name.location, Location::DataLoc);
  EXPECT_EQ(name.kind, ValueKind::Text);
  EXPECT_EQ(name.element_size, 1u);

  const Field relative =
      field_of("\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n");
  EXPECT_EQ(relative.location, Location::RelLoc);
  EXPECT_EQ(relative.kind, ValueKind::Text);
  EXPECT_EQ(relative.name, "name");
}

TEST(FormatFile, ArraysAreLocated) {
  const Field values =
      field_of("\tfield:__data_loc unsigned long[] values;\toffset:8;\tsize:4;\tsigned:0;\n");
  EXPECT_EQ(values.kind, ValueKind::Array);
  EXPECT_EQ(values.element_size, 8u);
  EXPECT_EQ(values.location, Location::DataLoc);
  EXPECT_EQ(field_of("\tfield:__data_loc u16[] v;\toffset:8;\tsize:4;\tsigned:0;\n").element_size,
            2u);
  EXPECT_EQ(field_of("\tfield:__data_loc cpumask_t cpus;\toffset:8;\tsize:4;\tsigned:0;\n").name,
            "cpus");
}

TEST(FormatFile, ArraysInPlace) {
  const Field args = field_of("\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n");
  EXPECT_EQ(args, (Field{"args", "unsigned long[6]", 16, 48, 8, Location::InPlace, ValueKind::Array,
                         false}));
  const Field address = field_of("\tfield:__u8 saddr[4];\toffset:16;\tsize:4;\tsigned:0;\n");
  EXPECT_EQ(address.kind, ValueKind::Array);
  EXPECT_EQ(address.element_size, 1u);
}

TEST(FormatFile, ADimensionMayBeAnExpression) {
  const Field comm =
      field_of("\tfield:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:0;\n");
  EXPECT_EQ(comm.name, "comm");
  EXPECT_EQ(comm.size, 16u);
  EXPECT_EQ(comm.kind, ValueKind::Text);
  const Field address = field_of(
      "\tfield:__u8 saddr[sizeof(struct sockaddr_in6)];\toffset:8;\tsize:28;\tsigned:0;\n");
  EXPECT_EQ(address.name, "saddr");
  EXPECT_EQ(address.size, 28u);
  EXPECT_EQ(address.element_size, 1u);
}

TEST(FormatFile, Pointers) {
  const Field filename =
      field_of("\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n");
  EXPECT_EQ(filename.name, "filename");
  EXPECT_EQ(filename.kind, ValueKind::Pointer) << "a number, not characters";
  EXPECT_EQ(field_of("\tfield:void *function;\toffset:16;\tsize:8;\tsigned:0;\n").name, "function");
  EXPECT_EQ(field_of("\tfield:struct timespec __attribute__((user)) *t;\toffset:16;\tsize:8;"
                     "\tsigned:0;\n")
                .name,
            "t");
}

TEST(FormatFile, LongsOf32BitKernels) {
  const Target target{ByteOrder::Little, 4};
  const Field located = field_of(
      "\tfield:__data_loc unsigned long[] values;\toffset:8;\tsize:4;\tsigned:0;\n", target);
  EXPECT_EQ(located.element_size, 4u);
  const Field pointer = field_of("\tfield:void * ip;\toffset:8;\tsize:4;\tsigned:0;\n", target);
  EXPECT_EQ(pointer.size, 4u);
  EXPECT_EQ(pointer.kind, ValueKind::Pointer);
}

TEST(FormatFile, NumbersOfOddNames) {
  for (const char* type : {"bool", "u8", "dev_t", "sector_t", "unsigned int", "gfp_t",
                           "enum tick_dep_bits", "unsigned long long", "isolate_mode_t"}) {
    const Field field =
        field_of("\tfield:" + std::string(type) + " x;\toffset:8;\tsize:8;\tsigned:0;\n");
    EXPECT_EQ(field.name, "x") << type;
    EXPECT_EQ(field.type, type);
    EXPECT_EQ(field.kind, ValueKind::Integer) << type;
  }
}

TEST(FormatFile, AStructureIsShownByteByByte) {
  const Field field = field_of("\tfield:struct thing x;\toffset:8;\tsize:12;\tsigned:0;\n");
  EXPECT_EQ(field.size, 12u);
  EXPECT_EQ(field.element_size, 1u);
  EXPECT_EQ(field.kind, ValueKind::Array);
}

TEST(FormatFile, AnEventWithoutFieldsOfItsOwn) {
  const EventType type = parse(format(""));
  EXPECT_EQ(type.fields.size(), 4u);
  EXPECT_EQ(type.common_fields, 4u);
}

TEST(FormatFile, OldKernelsHadMoreCommonFieldsAndNoSigns) {
  const EventType type = parse(
      "name: kmalloc\nID: 20\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\n"
      "\tfield:int common_lock_depth;\toffset:8;\tsize:4;\n"
      "\n"
      "\tfield:unsigned long call_site;\toffset:16;\tsize:8;\n"
      "\nprint fmt: \"%lx\", REC->call_site\n");
  EXPECT_EQ(type.common_fields, 5u);
  ASSERT_EQ(type.fields.size(), 6u);
  EXPECT_EQ(type.fields[5].offset, 16u);
}

TEST(FormatFile, APrintFormatGoesOnToTheEnd) {
  const EventType type = parse(format("", "\"first\\n\"\n  \"second: x;\", REC->x"));
  EXPECT_EQ(type.print_format, "\"first\\n\"\n  \"second: x;\", REC->x");
}

TEST(FormatFile, NoLineEndAtTheEnd) {
  std::string text = format("\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n", "\"%d\", REC->x");
  text.pop_back();
  EXPECT_EQ(parse(text).print_format, "\"%d\", REC->x");
}

TEST(FormatFile, WhatMakesNoSenseIsRefused) {
  for (const std::string& text : {
           std::string(""),
           std::string("name: x\n"),
           std::string("ID: 5\nformat:\n"),
           std::string("name: x\nID: five\nformat:\n"),
           std::string("name: x\nID: 65536\nformat:\n"),
           std::string("name: x\nID: -1\nformat:\n"),
           format("\tfield:int x;\toffset:8;\n"),
           format("\tfield:int x;\toffset:eight;\tsize:4;\tsigned:1;\n"),
           format("\tfield:int x;\toffset:-8;\tsize:4;\tsigned:1;\n"),
           format("\tfield:int x;\toffset:4294967295;\tsize:4;\tsigned:1;\n"),
           format("\tfield:int x;\toffset:99999999999999999999;\tsize:4;\tsigned:1;\n"),
           format("\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n"),
           format("\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n"),
           format("\tfield:[4];\toffset:8;\tsize:4;\tsigned:1;\n"),
       }) {
    auto type = parse_format_file("s", text, {});
    EXPECT_FALSE(type) << text;
    if (!type) {
      EXPECT_FALSE(type.error().cause.empty());
      EXPECT_LE(type.error().offset.value_or(0), text.size());
    }
  }
}

TEST(FormatFile, ErrorsSayWhereInTheText) {
  const std::string text = format("\tfield:int x;\toffset:eight;\tsize:4;\tsigned:1;\n");
  auto type = parse_format_file("s", text, {});
  ASSERT_FALSE(type);
  const uint64_t line = text.find("\tfield:int x");
  EXPECT_GE(type.error().offset, line);
  EXPECT_LE(type.error().offset, line + 40);
}

TEST(FormatFile, CutOffAnywhereItIsReadNoFurther) {
  const std::string text = format(
      "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
      "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n",
      "\"%s\", __get_str(name)");
  test::GuardedBytes guarded(as_bytes(text));
  for (size_t size = 0; size <= text.size(); ++size) {
    guarded.assign(as_bytes(std::string_view(text).substr(0, size)));
    auto type = parse_format_file("s", as_text(guarded.bytes()), {});
    EXPECT_TRUE(type || !type.error().cause.empty());
  }
}

}  // namespace
}  // namespace strata::ftrace
