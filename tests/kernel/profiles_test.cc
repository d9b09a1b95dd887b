// SPDX-License-Identifier: Apache-2.0
#include "kernel/profiles.h"

#include <gmock/gmock.h>

#include "catalog_names.h"
#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// What a profile chooses, or the error.
std::vector<std::string> chosen(const Profiles& profiles, const EventCatalog& catalog,
                                std::string_view name) {
  const Result<Profiles::Chosen> chosen = profiles.choose(catalog, name);
  return chosen ? names_of(catalog.choices(chosen->events))
                : std::vector<std::string>{chosen.error().text()};
}

Profiles of_text(std::string_view text) {
  Profiles profiles;
  const Status added = profiles.add_text(text, "my.profiles");
  EXPECT_TRUE(added) << added.error().text();
  return profiles;
}

std::string error_of(std::string_view text) {
  Profiles profiles = Profiles::built_in();
  const size_t before = profiles.all().size();
  const Status added = profiles.add_text(text, "my.profiles");
  EXPECT_EQ(profiles.all().size() > before, bool(added));
  return added ? "" : added.error().text();
}

TEST(BuiltInProfiles, AreThoseThatArePromised) {
  std::vector<std::string> names;
  const Profiles profiles = Profiles::built_in();
  for (const Profile& profile : profiles.all()) {
    names.push_back(profile.name);
    EXPECT_FALSE(profile.description.empty()) << profile.name;
    EXPECT_TRUE(profile.built_in) << profile.name;
  }
  EXPECT_THAT(names, ElementsAre("system", "sched", "io", "net", "mem", "irq", "power", "lock",
                                 "vm", "all"));
  EXPECT_TRUE(profiles.find(kDefaultProfile));
}

TEST(BuiltInProfiles, SystemHasWhatTellsSomethingNew) {
  const EventCatalog catalog = made_up(
      "sched:sched_switch sched:sched_waking sched:sched_wakeup sched:sched_stat_runtime "
      "sched:sched_process_fork sched:sched_process_exec sched:sched_process_exit "
      "task:task_newtask task:task_rename signal:signal_generate signal:signal_deliver "
      "syscalls:sys_enter_read syscalls:sys_exit_read raw_syscalls:sys_enter raw_syscalls:sys_exit "
      "irq:irq_handler_entry irq:softirq_entry block:block_rq_issue block:block_rq_complete "
      "net:net_dev_xmit net:netif_receive_skb exceptions:page_fault_user power:cpu_idle "
      "kvm:kvm_entry kvm:kvm_exit kvm:kvm_fpu kvm:kvm_emulate_insn ext4:ext4_da_write_begin "
      "kmem:kmalloc");
  std::vector<std::string> system = chosen(Profiles::built_in(), catalog, "system");
  for (const char* out : {"sched:sched_wakeup", "sched:sched_stat_runtime",
                          "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "kvm:kvm_fpu",
                          "kvm:kvm_emulate_insn", "ext4:ext4_da_write_begin", "kmem:kmalloc"})
    EXPECT_THAT(system, Not(Contains(out)));
  EXPECT_EQ(system.size(), catalog.events().size() - 8);
}

TEST(BuiltInProfiles, SystemTakesTheRawSystemCallsWhereThereAreNoOthers) {
  const EventCatalog catalog = made_up("raw_syscalls:sys_enter raw_syscalls:sys_exit");
  EXPECT_THAT(chosen(Profiles::built_in(), catalog, "system"),
              ElementsAre("raw_syscalls:sys_enter", "raw_syscalls:sys_exit"));
}

TEST(BuiltInProfiles, EachHasItsOwn) {
  const EventCatalog catalog = made_up(
      "sched:sched_switch sched:sched_wakeup ext4:ext4_da_write_begin xfs:xfs_read writeback:start "
      "filemap:mm_filemap_fault block:block_rq_issue tcp:tcp_retransmit_skb kmem:kmalloc "
      "irq:softirq_raise power:pstate_sample lock:contention_begin kvm:kvm_inj_virq "
      "kvm:kvm_apic_ipi kvm:kvm_eoi kvm:kvm_mmio kvm:kvm_pio kvm:kvm_msr kvm:kvm_page_fault "
      "kvmmmu:kvm_mmu_get_page btrfs:btrfs_sync_fs");
  const Profiles profiles = Profiles::built_in();
  EXPECT_THAT(chosen(profiles, catalog, "sched"), ElementsAre("sched:sched_switch"));
  EXPECT_THAT(chosen(profiles, catalog, "io"),
              ElementsAre("block:block_rq_issue", "btrfs:btrfs_sync_fs", "ext4:ext4_da_write_begin",
                          "filemap:mm_filemap_fault", "writeback:start", "xfs:xfs_read"));
  EXPECT_THAT(chosen(profiles, catalog, "net"),
              ElementsAre("irq:softirq_raise", "tcp:tcp_retransmit_skb"));
  EXPECT_THAT(chosen(profiles, catalog, "mem"), Contains("kmem:kmalloc"));
  EXPECT_THAT(chosen(profiles, catalog, "irq"), ElementsAre("irq:softirq_raise"));
  EXPECT_THAT(chosen(profiles, catalog, "power"), ElementsAre("power:pstate_sample"));
  EXPECT_THAT(chosen(profiles, catalog, "lock"), Contains("lock:contention_begin"));
  EXPECT_THAT(chosen(profiles, catalog, "vm"),
              ElementsAre("kvm:kvm_apic_ipi", "kvm:kvm_eoi", "kvm:kvm_inj_virq", "kvm:kvm_mmio",
                          "kvm:kvm_msr", "kvm:kvm_page_fault", "kvm:kvm_pio",
                          "kvmmmu:kvm_mmu_get_page", "sched:sched_switch"));
  EXPECT_EQ(chosen(profiles, catalog, "all").size(), catalog.events().size());
}

TEST(Profiles, LeaveOthersProbesAloneUntilTheyAreNamed) {
  const EventCatalog catalog = made_up("probes:open a:b", "p:probes/open do_sys_open\n");
  const Profiles profiles = Profiles::built_in();
  EXPECT_THAT(chosen(profiles, catalog, "all"), ElementsAre("a:b"));
  const auto named = choose_events(catalog, profiles, {"all"}, {"probes"});
  ASSERT_TRUE(named);
  EXPECT_THAT(names_of(*named), ElementsAre("a:b", "probes:open"));
}

TEST(Profiles, WhatIsMissingIsNoErrorAndCanBeAskedFor) {
  const Profiles profiles = of_text(
      "[base]\nevents = x:1 y:*|z:* !nowhere\n[mine]\ninclude = base\nevents = v:* x:1 x:2\n");
  const Result<Profiles::Chosen> chosen = profiles.choose(made_up("x:2 z:3"), "mine");
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->missing, ElementsAre("v:*", "x:1"));
}

TEST(Profiles, LeavingOutIsForTheProfileThatSaysSo) {
  const Profiles profiles = of_text(
      "[a]\nevents = !s:1 s:*\n"
      "[b]\ninclude = a\nevents = s:1 !s:2\n"
      "[c]\ninclude = a b\n");
  const EventCatalog catalog = made_up("s:1 s:2 s:3");
  EXPECT_THAT(chosen(profiles, catalog, "a"), ElementsAre("s:2", "s:3"));
  EXPECT_THAT(chosen(profiles, catalog, "b"), ElementsAre("s:1", "s:3"));
  EXPECT_THAT(chosen(profiles, catalog, "c"), ElementsAre("s:1", "s:2", "s:3"));
}

TEST(Profiles, TheFirstAlternativeThatThisKernelHas) {
  const Profiles profiles = of_text("[a]\nevents = new:*|old:*|older\n");
  EXPECT_THAT(chosen(profiles, made_up("new:1 old:1 older:1"), "a"), ElementsAre("new:1"));
  EXPECT_THAT(chosen(profiles, made_up("old:1 older:1"), "a"), ElementsAre("old:1"));
  EXPECT_THAT(chosen(profiles, made_up("older:1"), "a"), ElementsAre("older:1"));
  EXPECT_THAT(chosen(profiles, made_up("x:1"), "a"), IsEmpty());
}

TEST(Profiles, IncludedAgainAndAgainTheyAreChosenOnce) {
  std::string text = "[p0]\nevents = s:*\n";
  for (int i = 1; i < 200; ++i) {  // 2 to the power of 199, were each way followed
    const std::string before = "p" + std::to_string(i - 1);
    text += "[p" + std::to_string(i) + "]\ninclude = " + before + " " + before + "\n";
  }
  EXPECT_THAT(chosen(of_text(text), made_up("s:1"), "p199"), ElementsAre("s:1"));
}

TEST(ProfileFile, HasCommentsBlanksAndLinesOfWindows) {
  const Profiles profiles = of_text(
      "# mine\r\n\r\n  [ mine-1.x ]  \r\n\tdescription=  a = b # c\t\r\n"
      "events\t=\ts:1   s:2\r\n  # more\r\nevents = s:3");
  ASSERT_EQ(profiles.all().size(), 1u);
  EXPECT_EQ(profiles.all()[0].name, "mine-1.x");
  EXPECT_EQ(profiles.all()[0].description, "a = b # c");
  EXPECT_FALSE(profiles.all()[0].built_in);
  EXPECT_EQ(profiles.all()[0].terms.size(), 3u);
}

TEST(ProfileFile, ErrorsTellFileLineAndColumn) {
  EXPECT_EQ(error_of("\n  events = a\n"),
            "my.profiles: line 2, column 3: expected the name of a profile first, as in [mine]");
  EXPECT_EQ(error_of("[a\n"),
            "my.profiles: line 1, column 3: expected ']' after the profile's name");
  EXPECT_EQ(error_of("[a] b\n"),
            "my.profiles: line 1, column 5: nothing can follow the profile's name");
  EXPECT_THAT(error_of("[a b]\n"), StartsWith("my.profiles: line 1, column 2: a profile's name"));
  EXPECT_THAT(error_of("[]\n"), StartsWith("my.profiles: line 1, column 2: a profile's name"));
  EXPECT_THAT(error_of("[a]\nfrob\n"),
              StartsWith("my.profiles: line 2, column 1: expected [NAME]"));
  EXPECT_EQ(error_of("[a]\n event = x\n"),
            "my.profiles: line 2, column 2: 'event' is no setting (did you mean 'events'?)");
  EXPECT_EQ(error_of("[a]\nevents =  \n"), "my.profiles: line 2, column 9: expected a value");
  EXPECT_THAT(error_of("[a]\nevents = x !\n"), StartsWith("my.profiles: line 2, column 13: "));
  EXPECT_THAT(error_of("[a]\nevents = x||y\n"), StartsWith("my.profiles: line 2, column 12: "));
  EXPECT_THAT(error_of("[a]\nevents = x|\n"), StartsWith("my.profiles: line 2, column 12: "));
  EXPECT_THAT(error_of("[a]\nevents = z !x|y\n"),
              StartsWith("my.profiles: line 2, column 14: what is left out has no alternatives"));
  EXPECT_EQ(error_of("[a]\nevents = x # y\n"),
            "my.profiles: line 2, column 12: a comment needs a line of its own");
  EXPECT_THAT(error_of("[a]\ndescription = x\ndescription = y\nevents = x\n"),
              StartsWith("my.profiles: line 3, column 15: "));
  EXPECT_EQ(error_of(std::string_view("[a]\nevents = x\0\n", 15)),
            "my.profiles: line 2, column 11: this is no text: a control character");
}

TEST(ProfileFile, EveryProfileChoosesSomething) {
  const std::string nothing = "my.profiles: line 2, column 1: profile 'a' chooses no events";
  EXPECT_EQ(error_of("\n[a]\n"), nothing);
  EXPECT_EQ(error_of("\n[a]\ndescription = x\n[b]\nevents = x\n"), nothing);
  EXPECT_EQ(error_of("\n[a]\nevents = !x\n"), nothing);
  EXPECT_EQ(error_of("\n[a]\ninclude = irq\nevents = !x\n"), "");
}

TEST(ProfileFile, NamesAreGivenOnceAndOursAreTaken) {
  EXPECT_EQ(error_of("[a]\nevents = x\n[a]\nevents = y\n"),
            "my.profiles: line 3, column 2: 'a' is the name of a profile already");
  EXPECT_EQ(error_of("[system]\nevents = x\n"),
            "my.profiles: line 1, column 2: 'system' is a built-in profile: choose another name");
}

TEST(ProfileFile, IncludesOursAndWhatStandsAbove) {
  EXPECT_EQ(error_of("[a]\ninclude = sched irq\n[b]\ninclude = a\n"), "");
  EXPECT_EQ(error_of("[a]\ninclude = irq shced\n"),
            "my.profiles: line 2, column 15: 'shced' is neither a built-in profile nor one above "
            "this one (did you mean 'sched'?)");
  EXPECT_THAT(error_of("[a]\ninclude = a\n"), HasSubstr("line 2, column 11: 'a' is neither"));
  EXPECT_THAT(error_of("[a]\ninclude = b\n[b]\nevents = x\n"), HasSubstr("'b' is neither"));
}

TEST(ProfileFile, IsReadFromDisk) {
  const test::TemporaryFolder folder;
  Profiles profiles = Profiles::built_in();
  const std::string path = folder.write("a", std::string_view("[mine]\ninclude = irq\n"));
  ASSERT_TRUE(profiles.add_file(path));
  EXPECT_TRUE(profiles.find("mine"));
  EXPECT_THAT(profiles.add_file(path).error().text(), StartsWith(path + ": line 1, column 2: "));
  EXPECT_THAT(profiles.add_file(folder.file("none")).error().text(),
              StartsWith(folder.file("none") + ": cannot open"));
}

TEST(ChooseEvents, IsTheUnionWithoutDuplicatesSorted) {
  const EventCatalog catalog =
      made_up("sched:sched_switch sched:sched_wakeup irq:softirq_raise power:cpu_idle a:b");
  const Profiles profiles = Profiles::built_in();
  const auto events = choose_events(catalog, profiles, {"sched", "irq"}, {"sched:*", "a"});
  ASSERT_TRUE(events);
  EXPECT_THAT(names_of(*events), ElementsAre("a:b", "irq:softirq_raise", "power:cpu_idle",
                                             "sched:sched_switch", "sched:sched_wakeup"));
  const auto nothing = choose_events(catalog, profiles, {}, {});
  ASSERT_TRUE(nothing);
  EXPECT_THAT(*nothing, IsEmpty());
}

TEST(ChooseEvents, WhatIsNotThereIsNamed) {
  const EventCatalog catalog = made_up("sched:sched_switch");
  const Profiles profiles = Profiles::built_in();
  EXPECT_THAT(choose_events(catalog, profiles, {"shed"}, {}).error().text(),
              StartsWith("there is no profile 'shed' (did you mean 'sched'?)"));
  EXPECT_THAT(choose_events(catalog, profiles, {"sched"}, {"frob"}).error().text(),
              HasSubstr("'frob'"));
}

}  // namespace
}  // namespace strata::kernel
