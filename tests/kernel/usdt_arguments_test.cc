// SPDX-License-Identifier: Apache-2.0
//
// What <sys/sdt.h> makes the compiler write, and the words of the kernel's uprobetracer.rst for it.
#include "kernel/usdt_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<uint64_t> variable(std::string_view name) {
  if (name == "counter") return 0x4000;
  return std::nullopt;
}

std::vector<std::string> taken(std::string_view text) {
  std::vector<std::string> all;
  for (const ProbeArgument& argument : decode_usdt_arguments(text, variable).arguments)
    all.push_back(argument.text());
  return all;
}

std::vector<std::string> left_out(std::string_view text) {
  return decode_usdt_arguments(text, variable).left_out;
}

TEST(UsdtArguments, RegistersOfEveryWidth) {
  EXPECT_THAT(taken("-4@%eax 8@%rdi 2@%si 1@%cl -1@%r9b -2@%r10w 4@%r11d"),
              ElementsAre("arg1=%ax:s32", "arg2=%di:u64", "arg3=%si:u16", "arg4=%cx:u8",
                          "arg5=%r9:s8", "arg6=%r10:s16", "arg7=%r11:u32"));
  EXPECT_THAT(taken("1@%ah"), ElementsAre("arg1=%ax:b8@8/16"));
}

TEST(UsdtArguments, MemoryAtADistance) {
  EXPECT_THAT(taken("8@-24(%rbp) -4@(%rax) 2@0x10(%rsp) 1@8(%r12)"),
              ElementsAre("arg1=-24(%bp):u64", "arg2=+0(%ax):s32", "arg3=+16(%sp):u16",
                          "arg4=+8(%r12):u8"));
}

TEST(UsdtArguments, Constants) {
  EXPECT_THAT(taken("4@$5 -4@$-7 8@$0xff"),
              ElementsAre("arg1=\\5:u32", "arg2=\\-7:s32", "arg3=\\255:u64"));
}

TEST(UsdtArguments, Variables) {
  EXPECT_THAT(taken("4@counter(%rip) -8@counter+16(%rip) 8@16+counter(%rip) 1@counter-4 2@counter"),
              ElementsAre("arg1=@+16384:u32", "arg2=@+16400:s64", "arg3=@+16400:u64",
                          "arg4=@+16380:u8", "arg5=@+16384:u16"));
}

TEST(UsdtArguments, WithoutASizeAreWholeRegisters) {
  EXPECT_THAT(taken("%rax"), ElementsAre("arg1=%ax:u64"));
}

TEST(UsdtArguments, WhatTheKernelCannotTakeIsLeftOutAndSaid) {
  EXPECT_THAT(taken("4@%eax 8f@%xmm0 8@%rbx"), ElementsAre("arg1=%ax:u32", "arg3=%bx:u64"));
  EXPECT_THAT(left_out("4@%eax 8f@%xmm0 8@%rbx"),
              ElementsAre("arg2 (8f@%xmm0): a floating-point number"));
  EXPECT_THAT(left_out("8@%xmm1"), ElementsAre(HasSubstr("floating-point registers")));
  EXPECT_THAT(left_out("8@8(%rax,%rbx,4)"), ElementsAre(HasSubstr("two registers")));
  EXPECT_THAT(left_out("8@%fs:16"), ElementsAre(HasSubstr("thread-local")));
  EXPECT_THAT(left_out("8@other(%rip)"), ElementsAre(HasSubstr("'other'")));
  EXPECT_THAT(left_out("-1@%ah"), ElementsAre(HasSubstr("unsigned")));
  EXPECT_THAT(left_out("16@(%rax)"), ElementsAre(HasSubstr("8 bytes")));
  EXPECT_THAT(left_out("4@(%eax)"), ElementsAre(HasSubstr("no address")));
}

TEST(UsdtArguments, NonsenseIsLeftOut) {
  for (const char* text :
       {"@", "4@", "x@%eax", "4@%", "4@()", "4@(", "4@8(", "4@$", "4@$x", "-@%eax", "0@%eax",
        "4@8(rax)", "4@(%rax", "99999999999999999999@%eax"}) {
    EXPECT_THAT(taken(text), IsEmpty()) << text;
    EXPECT_EQ(left_out(text).size(), 1u) << text;
  }
  EXPECT_THAT(taken("   "), IsEmpty());
}

}  // namespace
}  // namespace strata::kernel
