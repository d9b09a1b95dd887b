// SPDX-License-Identifier: Apache-2.0
#include "record/registry.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "support/temporary_folder.h"

namespace strata::record {
namespace {

TEST(SessionName, IsFineInAPath) {
  for (const std::string name : {"nightly", "a", "strata-20261115-143005", "x.y_z"})
    EXPECT_TRUE(is_session_name(name)) << name;
  for (const std::string name : {"", ".hidden", "-o", "a/b", "a b", "..", "\n"})
    EXPECT_FALSE(is_session_name(name)) << name;
  EXPECT_FALSE(is_session_name(std::string(65, 'a')));
}

class Registry : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1); }

  static std::string own_name(const char* what) { return what + std::to_string(getpid()); }
  static const SessionEntry* find(const std::vector<SessionEntry>& all, const std::string& name) {
    const auto it = std::ranges::find(all, name, &SessionEntry::name);
    return it == all.end() ? nullptr : &*it;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Registry, ASessionIsThereWhileItsOwnerKeepsIt) {
  const std::string name = own_name("kept-");
  {
    const Result<Registration> kept =
        Registration::add({name, getpid(), getuid(), "me", "/x/y", 5, false});
    ASSERT_TRUE(kept) << kept.error().text();
    const std::vector<SessionEntry> all = list_sessions();
    const SessionEntry* entry = find(all, name);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->folder, "/x/y");
    EXPECT_EQ(entry->process, getpid());
  }
  EXPECT_EQ(find(list_sessions(), name), nullptr);
}

TEST_F(Registry, TwoOfOneNameCannotBe) {
  const std::string name = own_name("twice-");
  const Result<Registration> first = Registration::add({name, 1, 0, "", "", 0, false});
  ASSERT_TRUE(first);
  EXPECT_FALSE(Registration::add({name, 1, 0, "", "", 0, false}));
}

TEST_F(Registry, AKilledOwnersSessionIsDead) {
  const std::string name = own_name("killed-");
  const pid_t child = fork();
  if (child == 0) {
    const Result<Registration> held = Registration::add({name, getpid(), 0, "", "", 0, false});
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::vector<SessionEntry> all = list_sessions();
  const SessionEntry* entry = find(all, name);
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->is_alive);
  forget_session(name, getuid());
  EXPECT_EQ(find(list_sessions(), name), nullptr);
}

}  // namespace
}  // namespace strata::record
