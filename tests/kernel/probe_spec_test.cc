// SPDX-License-Identifier: Apache-2.0
//
// What is expected is the kernel's Documentation/trace/uprobetracer.rst and kprobetrace.rst.
#include "kernel/probe_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/dynamic_probes.h"
#include "kernel/probe_plan.h"
#include "kernel/probe_presets.h"
#include "kernel/x86_registers.h"

namespace strata::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const std::vector<ProbeArgument>& arguments) {
  std::vector<std::string> all;
  for (const ProbeArgument& argument : arguments) all.push_back(argument.text());
  return all;
}

std::vector<std::string> parsed(std::string_view text, ProbeView view = {}) {
  Result<std::vector<ProbeArgument>> arguments = parse_probe_arguments(text, view);
  if (!arguments) return {"error: " + arguments.error().text()};
  return texts(*arguments);
}

TEST(ProbeSpec, UprobeIsBinaryAndFunction) {
  Result<ProbeSpec> spec = parse_uprobe("/opt/a:b/prog:main");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->binary, "/opt/a:b/prog");
  EXPECT_EQ(spec->symbol, "main");
  EXPECT_EQ(spec->offset, 0u);
  EXPECT_FALSE(spec->at_return);
  EXPECT_EQ(parse_uprobe("prog:f.cold+0x1f")->offset, 0x1fu);
  EXPECT_EQ(parse_uprobe("prog:f+12")->offset, 12u);
  EXPECT_TRUE(parse_uprobe("prog:f%return")->at_return);
  EXPECT_EQ(parse_uprobe("prog:f%return")->text(), "prog:f%return");
}

TEST(ProbeSpec, UsdtIsBinaryProviderAndName) {
  Result<ProbeSpec> spec = parse_usdt("/opt/a:b/prog:shop:sold");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->binary, "/opt/a:b/prog");
  EXPECT_EQ(spec->provider, "shop");
  EXPECT_EQ(spec->symbol, "sold");
  EXPECT_EQ(spec->text(), "/opt/a:b/prog:shop:sold");
}

TEST(ProbeSpec, ErrorsPointAtTheColumn) {
  const auto column = [](const Result<ProbeSpec>& spec) {
    return spec ? ~uint64_t{0} : spec.error().offset.value_or(~uint64_t{0});
  };
  EXPECT_EQ(column(parse_uprobe("prog")), 4u);
  EXPECT_EQ(column(parse_uprobe(":main")), 0u);
  EXPECT_EQ(column(parse_uprobe("prog:")), 5u);
  EXPECT_EQ(column(parse_uprobe("prog:0x1234")), 5u);
  EXPECT_EQ(column(parse_uprobe("prog:main+")), 10u);
  EXPECT_EQ(column(parse_uprobe("prog:main+4x")), 11u);
  EXPECT_EQ(column(parse_uprobe("prog:main+4%return")), 11u);
  EXPECT_EQ(column(parse_uprobe("prog:main%entry")), 9u);
  EXPECT_EQ(column(parse_usdt("prog:sold")), 9u);
  EXPECT_EQ(column(parse_usdt("prog::sold")), 5u);
  EXPECT_EQ(column(parse_usdt("prog:shop:")), 10u);
  EXPECT_EQ(column(parse_usdt(":shop:sold")), 0u);
  EXPECT_EQ(column(parse_usdt("")), 0u);
  EXPECT_EQ(column(parse_kprobe("vfs_read-4")), 8u);
}

TEST(ProbeArguments, AreTheKernelsFetchArguments) {
  EXPECT_THAT(parsed("arg1 second=arg2:s32, path=arg3:string"),
              ElementsAre("arg1=%di:x64", "second=%si:s32", "path=+0(%dx):string"));
  EXPECT_THAT(parsed("arg6 arg7"), ElementsAre("arg6=%r9:x64", "arg7=$stack1:x64"));
  EXPECT_THAT(
      parsed("%rax %eax %r8d %ah %di"),
      ElementsAre("rax=%ax:x64", "eax=%ax:x32", "r8d=%r8:x32", "ah=%ax:b8@8/16", "di=%di:x64"));
  EXPECT_THAT(parsed("length=+8(arg1):u32 name=+0(+0x10(arg1)):string"),
              ElementsAre("length=+8(%di):u32", "name=+0(+0x10(%di)):string"));
  EXPECT_THAT(parsed("-8(%bp) $stack $stack2 comm a=\\-5 b=@0x1234:u8 c=@+64"),
              ElementsAre("bp_8=-8(%bp):x64", "stack=$stack:x64", "stack2=$stack2:x64",
                          "comm=$comm:string", "a=\\-5:s64", "b=@0x1234:u8", "c=@+64:x64"));
  EXPECT_THAT(parsed("flag=arg1:b1@3/32 head=arg2:x8[16]"),
              ElementsAre("flag=%di:b1@3/32", "head=+0(%si):x8[16]"));
  EXPECT_THAT(parsed("retval:s32", {false, true, false}), ElementsAre("retval=$retval:s32"));
  EXPECT_THAT(parsed("arg1 jiffies=@jiffies_64", {true, false, true}),
              ElementsAre("arg1=$arg1:x64", "jiffies=@jiffies_64:x64"));
  EXPECT_THAT(parsed(" , "), ElementsAre());
}

TEST(ProbeArguments, ErrorsPointAtTheColumn) {
  const auto column = [](std::string_view text, ProbeView view = {}) {
    Result<std::vector<ProbeArgument>> arguments = parse_probe_arguments(text, view);
    return arguments ? ~uint64_t{0} : arguments.error().offset.value_or(~uint64_t{0});
  };
  EXPECT_EQ(column("arg1 retval"), 5u);
  EXPECT_EQ(column("x=arg1", {false, true, false}), 2u);
  EXPECT_EQ(column("x=arg1", {false, false, false}), 2u);
  EXPECT_EQ(column("arg1:u33"), 5u);
  EXPECT_EQ(column("arg1:u8["), 5u);
  EXPECT_EQ(column("arg1:b9@0/8"), 5u);
  EXPECT_EQ(column("arg1 %xmm0"), 5u);
  EXPECT_EQ(column("+8arg1"), 1u);
  EXPECT_EQ(column("+8 (arg1)"), 2u);
  EXPECT_EQ(column("+8(arg1"), 7u);
  EXPECT_EQ(column("arg1 x=arg2 arg1"), 12u);
  EXPECT_EQ(column("1x=arg1"), 0u);
  EXPECT_EQ(column("arg0"), 0u);
  EXPECT_EQ(column("nonsense"), 0u);
  EXPECT_EQ(column("arg1;arg2"), 4u);
  EXPECT_EQ(column("x="), 2u);
  EXPECT_EQ(column("\\five"), 1u);
  EXPECT_EQ(column("@here"), 0u);
}

TEST(ProbeSpec, UsdtArgumentsAreNotGivenByHand) {
  Result<ProbeSpec> spec = parse_usdt("prog:shop:sold");
  ASSERT_TRUE(spec);
  EXPECT_TRUE(add_arguments(*spec, " "));
  EXPECT_FALSE(add_arguments(*spec, "arg1"));
}

TEST(ProbeSite, DefinitionIsTheKernelsLine) {
  ProbeSite site;
  site.path = "/usr/bin/x";
  site.offset = 0x1139;
  site.arguments = {{"a", "%di", "u64"}, {"b", "+8(%si)", "s32"}};
  EXPECT_EQ(site.definition("strata_s", "f", site.path),
            "p:strata_s/f /usr/bin/x:0x1139 a=%di:u64 b=+8(%si):s32");
  site.semaphore = 0x4010;
  site.arguments.clear();
  EXPECT_EQ(site.definition("strata_s", "f", site.path), "p:strata_s/f /usr/bin/x:0x1139(0x4010)");
  ProbeSite back;
  back.in_kernel = back.at_return = true;
  back.kernel_place = "vfs_read";
  back.arguments = {{"retval", "$retval", "s64"}};
  EXPECT_EQ(back.definition("strata_s", "f", ""), "r:strata_s/f vfs_read retval=$retval:s64");
}

TEST(ProbePlan, KernelFunctionsNeedNoFile) {
  ProbePlanner planner;
  Result<ProbeSpec> spec = parse_kprobe("vfs_read+4");
  ASSERT_TRUE(spec);
  Result<ProbePlan> plan = planner.plan(*spec);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->event, "vfs_read_0x4");
  ASSERT_EQ(plan->sites.size(), 1u);
  EXPECT_EQ(plan->sites[0].definition("g", plan->event, ""), "p:g/vfs_read_0x4 vfs_read+4");
}

extern "C" __attribute__((noinline, used)) int strata_probe_plan_target(int number) {
  return number + 1;
}

TEST(ProbePlan, WhatIsMissingIsAnErrorOrARemark) {
  ProbePlanner planner;
  Result<ProbeSpec> spec = parse_uprobe("/proc/self/exe:strata_probe_plan_targe");
  ASSERT_TRUE(spec);
  Result<ProbePlan> plan = planner.plan(*spec);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr("has no function 'strata_probe_plan_targe', but "));
  EXPECT_THAT(plan.error().text(), HasSubstr("strata_probe_plan_target"));
  spec->optional = true;
  plan = planner.plan(*spec);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->sites.empty());
  EXPECT_EQ(plan->remarks.size(), 1u);

  EXPECT_TRUE(planner.plan(*parse_uprobe("/proc/self/exe:strata_probe_plan_target+1")));
  EXPECT_FALSE(planner.plan(*parse_uprobe("/proc/self/exe:strata_probe_plan_target+100000")));
  EXPECT_THAT(planner.plan(*parse_usdt("/proc/self/exe:no:such")).error().text(),
              HasSubstr("USDT"));
  EXPECT_THAT(planner.plan(*parse_uprobe("no-such-program:main")).error().text(),
              HasSubstr("no such program"));
  EXPECT_THAT(planner.plan(*parse_uprobe("/no/such/program:main")).error().text(),
              HasSubstr("No such file"));
}

TEST(ProbeGroup, IsAnotherForEverySession) {
  EXPECT_EQ(probe_group("default"), "strata_default");
  EXPECT_EQ(probe_group("a_b"), "strata_a__b");
  EXPECT_EQ(probe_group("a-b"), "strata_a_2db");
  const std::string first = probe_group(std::string(100, 'x') + "1");
  const std::string second = probe_group(std::string(100, 'x') + "2");
  EXPECT_NE(first, second);
  EXPECT_LE(first.size(), 63u);
}

TEST(X86Registers, EveryWidthOfEveryRegister) {
  const auto bytes = [](std::string_view name) {
    const auto found = x86_register(name);
    return found ? found->kernel_name + std::to_string(found->bytes) : "none";
  };
  EXPECT_EQ(bytes("rax") + bytes("eax") + bytes("ax") + bytes("al"), "ax8ax4ax2ax1");
  EXPECT_EQ(bytes("rsi") + bytes("esi") + bytes("si") + bytes("sil"), "si8si4si2si1");
  EXPECT_EQ(bytes("rbp") + bytes("ebp") + bytes("bp") + bytes("bpl"), "bp8bp4bp2bp1");
  EXPECT_EQ(bytes("r8") + bytes("r8d") + bytes("r8w") + bytes("r8b"), "r88r84r82r81");
  EXPECT_EQ(bytes("r15") + bytes("r15d"), "r158r154");
  EXPECT_EQ(bytes("dh") + bytes("rip"), "dx1ip8");
  EXPECT_TRUE(x86_register("ch")->second_byte);
  for (const char* name : {"", "r", "r7", "r16", "r08", "r8x", "xmm0", "rr", "spx", "ex", "sih"})
    EXPECT_EQ(bytes(name), "none") << name;
}

TEST(ProbePresets, AreAllUnderstood) {
  for (const ProbePreset& preset : probe_presets()) {
    Result<std::vector<ProbeSpec>> specs = preset_specs(preset.name, {"/some/binary"});
    ASSERT_TRUE(specs) << preset.name << ": " << specs.error().text();
    EXPECT_EQ(specs->size(), preset.probes.size());
  }
  EXPECT_THAT(preset_specs("nonsense").error().text(), HasSubstr("there is: qemu"));
}

}  // namespace
}  // namespace strata::kernel
