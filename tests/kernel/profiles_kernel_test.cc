// SPDX-License-Identifier: Apache-2.0
//
// The running kernel's events, and the built-in profiles on it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/small_file.h"
#include "catalog_names.h"
#include "kernel/profiles.h"

namespace strata::kernel {
namespace {

using testing::Contains;
using testing::Not;

class ThisKernel : public testing::Test {
 protected:
  void SetUp() override {
    Result<Tracefs> found = Tracefs::find();
    if (!found) GTEST_SKIP() << found.error().text();
    tracefs_ = *found;
    Result<EventCatalog> read = EventCatalog::read(*tracefs_);
    ASSERT_TRUE(read) << read.error().text();
    catalog_ = *std::move(read);
  }

  std::vector<EventChoice> events_of(std::string_view profile) const {
    const Result<std::vector<EventChoice>> events =
        choose_events(*catalog_, profiles_, {std::string(profile)}, {});
    EXPECT_TRUE(events) << events.error().text();
    return events ? *events : std::vector<EventChoice>{};
  }

  std::optional<Tracefs> tracefs_;
  std::optional<EventCatalog> catalog_;
  const Profiles profiles_ = Profiles::built_in();
};

TEST_F(ThisKernel, EveryFormatCanBeRead) {
  EXPECT_GT(catalog_->events().size(), 100u);
  for (const EventCatalog::Event& event : catalog_->events()) {
    if (event.dynamic) continue;  // its owner may have removed it by now
    const Result<trace::EventType> type = catalog_->type(event.system, event.name);
    ASSERT_TRUE(type) << type.error().text();
    EXPECT_EQ(type->name, event.name);
  }
}

TEST_F(ThisKernel, EveryBuiltInProfileHasEventsHere) {
  for (const Profile& profile : profiles_.all())
    EXPECT_FALSE(events_of(profile.name).empty()) << profile.name;
  const auto is_probe = [](const EventCatalog::Event& event) { return event.dynamic; };
  const auto probes = std::count_if(catalog_->events().begin(), catalog_->events().end(), is_probe);
  EXPECT_EQ(events_of("all").size() + static_cast<size_t>(probes), catalog_->events().size());
}

TEST_F(ThisKernel, SystemHasTheSchedulerWithoutWhatTellsNothingNew) {
  const std::vector<std::string> names = names_of(events_of("system"));
  EXPECT_THAT(names, Contains("sched:sched_switch"));
  EXPECT_THAT(names, Contains("sched:sched_waking"));
  EXPECT_THAT(names, Not(Contains("sched:sched_wakeup")));
  EXPECT_THAT(names, Not(Contains("sched:sched_stat_runtime")));
  const auto of = [&](std::string_view system) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.starts_with(system); });
  };
  EXPECT_NE(of("syscalls:"), of("raw_syscalls:"));
}

TEST_F(ThisKernel, EachEventOfSystemCanBeEnabled) {
  const std::vector<EventChoice> events = events_of("system");
  std::string path;
  {
    Result<Instance> instance =
        Instance::create(*tracefs_, "profiles-test-" + std::to_string(getpid()));
    if (!instance) GTEST_SKIP() << instance.error().text();
    path = instance->path();
    std::vector<Error> refused;
    instance->enable(events, refused);
    for (const Error& error : refused) ADD_FAILURE() << error.text();
    for (const EventChoice& event : events) {
      const Result<std::string> enabled =
          read_small_file(instance->file("events/" + event.system + "/" + event.name + "/enable"));
      ASSERT_TRUE(enabled) << enabled.error().text();
      EXPECT_EQ(*enabled, "1\n") << event.full_name();
    }
    const Status removed = instance->remove();
    EXPECT_TRUE(removed) << removed.error().text();
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0) << path << " is left";
}

}  // namespace
}  // namespace strata::kernel
