// SPDX-License-Identifier: Apache-2.0
#include "kernel/event_catalog.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "catalog_names.h"
#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

EventCatalog small_catalog() {
  return made_up(
      "sched:sched_waking sched:sched_switch block:block_rq_issue irq:softirq_raise "
      "sched:sched_wakeup power:cpu_idle");
}

std::vector<std::string> selected(const EventCatalog& catalog,
                                  const std::vector<std::string>& patterns) {
  const Result<std::vector<EventChoice>> choices = catalog.select(patterns);
  return choices ? names_of(*choices) : std::vector<std::string>{choices.error().text()};
}

TEST(EventCatalog, IsSortedBySystemThenName) {
  const EventCatalog catalog = small_catalog();
  EXPECT_THAT(names_of(catalog.choices(EventCatalog::Marks(6, true))),
              ElementsAre("block:block_rq_issue", "irq:softirq_raise", "power:cpu_idle",
                          "sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking"));
  ASSERT_NE(catalog.find("power", "cpu_idle"), nullptr);
  EXPECT_EQ(catalog.find("power", "cpu_idle")->name, "cpu_idle");
  EXPECT_EQ(catalog.find("power", "cpu"), nullptr);
  EXPECT_EQ(catalog.find("zzz", ""), nullptr);
}

TEST(EventCatalog, LinesThatAreNoEventsAreNone) {
  EXPECT_EQ(EventCatalog("sched\n\n\na:b\na:b\n", "", "").events().size(), 1u);
  EXPECT_TRUE(EventCatalog("", "", "").events().empty());
}

TEST(EventCatalog, ABareWordIsASystemOrAnEvent) {
  const EventCatalog catalog = small_catalog();
  EXPECT_THAT(selected(catalog, {"irq"}), ElementsAre("irq:softirq_raise"));
  EXPECT_THAT(selected(catalog, {"cpu_idle"}), ElementsAre("power:cpu_idle"));
  EXPECT_THAT(selected(catalog, {"sched:sched_wak*"}),
              ElementsAre("sched:sched_wakeup", "sched:sched_waking"));
}

TEST(EventCatalog, SeveralPatternsChooseEachEventOnceInOrder) {
  EXPECT_THAT(selected(small_catalog(), {"sched_w*", "sched:sched_waking", "block:"}),
              ElementsAre("block:block_rq_issue", "sched:sched_wakeup", "sched:sched_waking"));
}

TEST(EventCatalog, APatternThatMatchesNothingIsNamedWithWhatMayHaveBeenMeant) {
  const EventCatalog catalog = small_catalog();
  EXPECT_THAT(selected(catalog, {"sched", "sched_swtich"}),
              ElementsAre("no event of this kernel matches 'sched_swtich' "
                          "(did you mean 'sched_switch'?)"));
  EXPECT_THAT(selected(catalog, {"sched:sched_weking"}), ElementsAre(HasSubstr("'sched_waking'")));
  EXPECT_THAT(selected(catalog, {"schd:sched_switch"}),
              ElementsAre("no event of this kernel matches 'schd:sched_switch': it has no system "
                          "'schd' (did you mean 'sched'?)"));
  EXPECT_THAT(selected(catalog, {"net:*"}), ElementsAre(HasSubstr("it has no system 'net'")));
}

TEST(EventCatalog, KnowsProbesThatSomebodyMade) {
  const EventCatalog catalog =
      made_up("probes:open uprobes:main synthetic:wait user_events:mine sched:open",
              "p:probes/open do_sys_open\nr16:uprobes/main /bin/true:0x1234\n"
              "s:wait u64 delay\nu:mine u32 number\n");
  for (const EventCatalog::Event& event : catalog.events())
    EXPECT_EQ(event.dynamic, event.system != "sched") << event.system;
}

TEST(EventCatalog, ReadsAFormatWhenAsked) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("sched/good"));
  std::filesystem::create_directories(folder.file("sched/bad"));
  const std::string text =
      "name: good\nID: 77\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
      "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n\n"
      "print fmt: \"number=%d\", REC->number\n";
  std::ofstream(folder.file("sched/good/format")) << text;
  std::ofstream(folder.file("sched/bad/format")) << "nothing of the kind";
  const EventCatalog catalog("sched:good\nsched:bad\nsched:gone\n", "", folder.path());

  const Result<std::string> read = catalog.format_text("sched", "good");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, text);
  const Result<trace::EventType> type = catalog.type("sched", "good");
  ASSERT_TRUE(type) << type.error().text();
  EXPECT_EQ(type->id, 77u);
  EXPECT_EQ(type->system, "sched");
  EXPECT_EQ(type->fields.size(), 2u);

  EXPECT_EQ(catalog.type("sched", "bad").error().file, folder.file("sched/bad/format"));
  EXPECT_EQ(catalog.type("sched", "gone").error().file, folder.file("sched/gone/format"));
  EXPECT_THAT(catalog.type("..", "good").error().text(), HasSubstr("has no event ..:good"));
}

}  // namespace
}  // namespace strata::kernel
