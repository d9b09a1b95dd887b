// SPDX-License-Identifier: Apache-2.0
//
// Probes in a program that does a known number of things, on the running kernel.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "base/file_descriptor.h"
#include "base/small_file.h"
#include "elf/elf_file.h"
#include "elf/usdt.h"
#include "kernel/dynamic_probes.h"
#include "probed_instance.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using test::field;
using testing::HasSubstr;
using testing::Not;

constexpr int kCalls = 1000;

constexpr std::string_view kProgram = R"(
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

unsigned short shop_sold_semaphore __attribute__((section(".probes")));
unsigned short shop_stock_semaphore __attribute__((section(".probes")));
static int stock;

__attribute__((noinline)) long sell(long item, int price, const char* name, long* more) {
  __asm__ volatile("" ::: "memory");
  return item * price + name[0] + more[1];
}

static inline __attribute__((always_inline)) void sold(long item, signed char change,
                                                       unsigned short till) {
  STAP_PROBE4(shop, sold, item, change, till, 77);
}

int main(int argc, char** argv) {
  const int calls = atoi(argv[1]);
  int watched = 0;
  long total = 0;
  for (int i = 0; i < calls; ++i) {
    long more[2] = {0, i * 3};
    total += sell(i, -i, i % 2 ? "tea" : "coffee", more);
    stock = i;
    if (shop_sold_semaphore) {
      ++watched;
      if (i % 2)
        sold(i, (signed char)-i, (unsigned short)(i * 2));
      else
        sold(i + 1000000, 1, 9);
    }
    if (shop_stock_semaphore) STAP_PROBE1(shop, stock, stock);
  }
  printf("%d %ld\n", watched, total);
  return 0;
}
)";

class DynamicProbesOnThisKernel : public testing::Test {
 protected:
  void SetUp() override {
    Result<Tracefs> tracefs = Tracefs::find();
    if (!tracefs) GTEST_SKIP() << tracefs.error().text();
    if (!tracefs->has("uprobe_events")) GTEST_SKIP() << "this kernel has no uprobes";
    tracefs_.emplace(*std::move(tracefs));
  }
  void TearDown() override {
    if (!tracefs_) return;
    EXPECT_THAT(listed(), Not(HasSubstr(probe_group(session_) + "/")));
  }
  std::string listed() const {
    std::string all;
    for (const char* name : {"uprobe_events", "kprobe_events"}) {
      if (!tracefs_->has(name)) continue;
      Result<std::string> text = read_small_file(tracefs_->file(name));
      all += text ? *text : text.error().text();
    }
    return all;
  }

  std::optional<Tracefs> tracefs_;
  std::string session_ = "probe-test-" + std::to_string(getpid());
};

class ProbesInAProgram : public DynamicProbesOnThisKernel {
 protected:
  void SetUp() override {
    DynamicProbesOnThisKernel::SetUp();
    if (IsSkipped()) return;
    program_ = build("shop");
    if (program_.empty()) GTEST_SKIP() << "no C compiler with <sys/sdt.h> here";
  }

  std::string build(const std::string& name) const {
    std::string path = folder_.file(name);
    const std::string source = folder_.write("shop.c", kProgram);
    const auto compiler = test::run({"cc", "-O2", "-g", "-o", path, source});
    return compiler.status == 0 ? path : "";
  }
  test::CommandResult run_program(int calls = kCalls) const {
    return test::run({program_, std::to_string(calls)});
  }
  ProbeSpec function(const std::string& place, std::string_view arguments) const {
    Result<ProbeSpec> spec = parse_uprobe(program_ + ":" + place);
    EXPECT_TRUE(spec) << spec.error().text();
    const Status status = add_arguments(*spec, arguments);
    EXPECT_TRUE(status) << status.error().text();
    return *spec;
  }

  test::TemporaryFolder folder_;
  std::string program_;
};

TEST_F(ProbesInAProgram, AFunctionGivesAnEventForEachCallWithItsArguments) {
  DynamicProbes probes(*tracefs_, session_);
  Status status = probes.add(
      function("sell", "item=arg1:s64 price=arg2:s32 name=arg3:string more=+8(arg4):s64 %rdx %dh"));
  ASSERT_TRUE(status) << status.error().text();
  status = probes.add(function("sell%return", "retval:s64"));
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(probes.events().size(), 2u);
  EXPECT_EQ(probes.events()[0].full_name(), probe_group(session_) + ":sell");
  EXPECT_EQ(probes.events()[1].full_name(), probe_group(session_) + ":sell_return");

  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes.events());
  EXPECT_EQ(run_program().status, 0);
  EXPECT_EQ(instance.lost(), 0u);

  const std::vector<std::string> calls = instance.events("sell");
  ASSERT_EQ(calls.size(), static_cast<size_t>(kCalls));
  for (long i = 0; i < kCalls; ++i) {
    const std::string& event = calls[static_cast<size_t>(i)];
    EXPECT_EQ(field(event, "item"), std::to_string(i));
    EXPECT_EQ(field(event, "price"), std::to_string(-i));
    EXPECT_EQ(field(event, "name"), i % 2 ? "\"tea\"" : "\"coffee\"");
    EXPECT_EQ(field(event, "more"), std::to_string(i * 3));
    const auto pointer = std::stoull(field(event, "rdx"), nullptr, 16);
    EXPECT_EQ(std::stoull(field(event, "dh"), nullptr, 0), pointer >> 8 & 0xff);
  }
  const std::vector<std::string> returns = instance.events("sell_return");
  ASSERT_EQ(returns.size(), static_cast<size_t>(kCalls));
  for (long i = 0; i < kCalls; ++i)
    EXPECT_EQ(field(returns[static_cast<size_t>(i)], "retval"),
              std::to_string(-i * i + (i % 2 ? 't' : 'c') + i * 3));

  status = probes.remove();
  EXPECT_TRUE(status) << status.error().text();
}

TEST_F(ProbesInAProgram, AUsdtProbeGivesAnEventForEachHitOfEachSite) {
  Result<elf::ElfFile> file = elf::ElfFile::open(program_);
  ASSERT_TRUE(file) << file.error().text();
  Result<std::vector<elf::UsdtSite>> sites = elf::usdt_sites(*file);
  ASSERT_TRUE(sites) << sites.error().text();
  ASSERT_EQ(sites->size(), 3u);

  EXPECT_THAT(run_program().output, HasSubstr("0 ")) << "nobody watches yet";
  DynamicProbes probes(*tracefs_, session_);
  Result<ProbeSpec> spec = parse_usdt(program_ + ":shop:sold");
  ASSERT_TRUE(spec);
  Status status = probes.add(*spec);
  ASSERT_TRUE(status) << status.error().text();
  spec = parse_usdt(program_ + ":shop:stock");
  ASSERT_TRUE(spec);
  status = probes.add(*spec);
  ASSERT_TRUE(status) << status.error().text();
  for (const std::string& remark : probes.remarks()) ADD_FAILURE() << remark;

  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes.events());
  EXPECT_THAT(run_program().output, testing::StartsWith(std::to_string(kCalls) + " "))
      << "the semaphore is raised";
  EXPECT_EQ(instance.lost(), 0u);

  // Of one name, or of two where the compiler put the arguments of the two sites into places of
  // different sizes.
  std::map<long, std::string> by_item;
  std::vector<std::string> stocks;
  for (const std::string& event : instance.events()) {
    if (event.starts_with("shop_stock"))
      stocks.push_back(field(event, "arg1"));
    else
      by_item[std::stol(field(event, "arg1"))] = event;
  }
  ASSERT_EQ(by_item.size(), static_cast<size_t>(kCalls));
  for (long i = 0; i < kCalls; ++i) {
    const std::string& event = by_item[i % 2 ? i : i + 1000000];
    EXPECT_EQ(field(event, "arg2"), std::to_string(i % 2 ? static_cast<int8_t>(-i) : 1));
    EXPECT_EQ(field(event, "arg3"), std::to_string(i % 2 ? i * 2 : 9));
    EXPECT_EQ(field(event, "arg4"), "77");
  }
  ASSERT_EQ(stocks.size(), static_cast<size_t>(kCalls));
  for (long i = 0; i < kCalls; ++i) EXPECT_EQ(stocks[static_cast<size_t>(i)], std::to_string(i));

  status = probes.remove();
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_THAT(run_program().output, testing::StartsWith("0 ")) << "the semaphore is back";
}

TEST_F(ProbesInAProgram, AVariableOfTheProgramIsRead) {
  // The assembly that GCC writes where a probe's argument is a variable that is in no register.
  const std::string source = folder_.write("variable.c", R"(
#include <sys/sdt.h>
#include <stdlib.h>
int counter;
int main(int argc, char** argv) {
  for (counter = 0; counter < atoi(argv[1]); ++counter)
    __asm__ volatile(
        "990: nop\n"
        ".pushsection .note.stapsdt,\"\",\"note\"\n"
        ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n"
        "991: .asciz \"stapsdt\"\n 992: .balign 4\n"
        "993: .8byte 990b\n .8byte _.stapsdt.base\n .8byte 0\n"
        ".asciz \"shop\"\n .asciz \"count\"\n .asciz \"-4@counter(%%rip) 8f@%%xmm0 1@$3\"\n"
        "994: .balign 4\n .popsection\n" ::: "memory");
  STAP_PROBE(shop, end);
  return 0;
}
)");
  const std::string program = folder_.file("variable");
  ASSERT_EQ(test::run({"cc", "-O2", "-o", program, source}).status, 0);
  DynamicProbes probes(*tracefs_, session_);
  Result<ProbeSpec> spec = parse_usdt(program + ":shop:count");
  ASSERT_TRUE(spec);
  const Status status = probes.add(*spec);
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(probes.remarks().size(), 1u);
  EXPECT_THAT(probes.remarks()[0], HasSubstr("left out arg2 (8f@%xmm0)"));
  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes.events());
  EXPECT_EQ(test::run({program, "20"}).status, 0);
  const std::vector<std::string> events = instance.events("shop_count");
  ASSERT_EQ(events.size(), 20u);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(field(events[i], "arg1"), std::to_string(i));
    EXPECT_EQ(field(events[i], "arg3"), "3");
  }
}

TEST_F(ProbesInAProgram, NamesAreUniqueAndOthersProbesStay) {
  const std::string foreign = "foreign_probe_test_" + std::to_string(getpid());
  const std::string uprobes = tracefs_->file("uprobe_events");
  ASSERT_TRUE(append_small_file(uprobes, "p:" + foreign + "/mine " + program_ + ":0x100"));
  {
    DynamicProbes probes(*tracefs_, session_);
    for (int i = 0; i < 3; ++i) {
      const Status status = probes.add(function("sell", "arg1"));
      ASSERT_TRUE(status) << status.error().text();
    }
    std::vector<std::string> names;
    for (const EventChoice& event : probes.events()) names.push_back(event.name);
    EXPECT_THAT(names, testing::ElementsAre("sell", "sell_2", "sell_3"));
    Result<std::vector<std::string>> groups = probe_groups(*tracefs_);
    ASSERT_TRUE(groups) << groups.error().text();
    EXPECT_THAT(*groups, testing::Contains(probe_group(session_)));
    EXPECT_THAT(*groups, Not(testing::Contains(foreign)));
  }
  EXPECT_THAT(listed(), HasSubstr(foreign));
  EXPECT_TRUE(append_small_file(uprobes, "-:" + foreign + "/mine"));
}

TEST_F(ProbesInAProgram, PathsMayHaveBlanksAndOtherOddities) {
  program_ = build("a shop # (odd:name)");
  ASSERT_FALSE(program_.empty());
  DynamicProbes probes(*tracefs_, session_);
  const Status status = probes.add(function("sell", "arg1"));
  ASSERT_TRUE(status) << status.error().text();
  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes.events());
  EXPECT_EQ(run_program(10).status, 0);
  EXPECT_EQ(instance.events("sell").size(), 10u);
}

TEST_F(ProbesInAProgram, AKilledRecordersProbesAreRemovedByAnother) {
  test::ProbedInstance instance(*tracefs_);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    DynamicProbes probes(*tracefs_, session_);
    const bool fine = static_cast<bool>(probes.add(function("sell", "arg1")));
    instance.enable(probes.events());
    if (write(ready[1], fine ? "y" : "n", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_THAT(listed(), HasSubstr(probe_group(session_) + "/sell"));
  const Status status = remove_probes(*tracefs_, probe_group(session_));
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_THAT(listed(), Not(HasSubstr(probe_group(session_))));
  EXPECT_TRUE(remove_probes(*tracefs_, probe_group(session_))) << "nothing left to do";
}

TEST_F(ProbesInAProgram, WhatTheKernelRefusesIsToldInItsWords) {
  DynamicProbes probes(*tracefs_, session_);
  const Status status = probes.add(function("sell", "common_pid=arg1"));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("the kernel refused 'p:"));
  EXPECT_TRUE(probes.events().empty());
}

TEST_F(DynamicProbesOnThisKernel, AFunctionOfTheKernelGivesAnEventForEachCall) {
  const std::string ours = "common_pid == " + std::to_string(gettid());
  DynamicProbes probes(*tracefs_, session_);
  Result<ProbeSpec> spec = parse_kprobe("vfs_read");
  ASSERT_TRUE(spec);
  ASSERT_TRUE(add_arguments(*spec, "count=arg3:u64"));
  spec->filter = ours + " && count == 123";
  Status status = probes.add(*spec);
  if (!tracefs_->has("kprobe_events")) {
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().text(), HasSubstr("CONFIG_KPROBE_EVENTS"));
    GTEST_SKIP() << "this kernel has no kprobes";
  }
  ASSERT_TRUE(status) << status.error().text();
  spec = parse_kprobe("vfs_read%return");
  ASSERT_TRUE(spec);
  ASSERT_TRUE(add_arguments(*spec, "retval:s64"));
  spec->filter = ours + " && retval == 123";
  status = probes.add(*spec);
  ASSERT_TRUE(status) << status.error().text();

  const FileDescriptor zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(zero);
  test::ProbedInstance instance(*tracefs_);
  instance.enable(probes.events());
  char buffer[123];
  for (int i = 0; i < kCalls; ++i) ASSERT_EQ(read(zero.get(), buffer, sizeof buffer), 123);
  EXPECT_EQ(instance.events("vfs_read").size(), static_cast<size_t>(kCalls));
  EXPECT_EQ(instance.events("vfs_read_return").size(), static_cast<size_t>(kCalls));

  spec = parse_kprobe("no_such_function_of_the_kernel");
  ASSERT_TRUE(spec);
  EXPECT_FALSE(probes.add(*spec));
}

}  // namespace
}  // namespace strata::kernel
