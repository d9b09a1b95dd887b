// SPDX-License-Identifier: Apache-2.0
#include "record/registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

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

TEST_F(Registry, WhatIsNoFileOfTheUsersIsPassedOver) {
  const std::string folder = folder_.path() + "/strata";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  // Neither waits for somebody who writes into a pipe, nor reads what a link leads to.
  ASSERT_EQ(mkfifo((folder + "/pipe.session").c_str(), 0600), 0);
  std::ofstream(folder + "/real") << R"({"name": "linked", "process": 1, "user_name": "",
                                         "folder": "", "begin_ns": 0})";
  ASSERT_EQ(symlink("real", (folder + "/linked.session").c_str()), 0);
  // Nor one that says it is another.
  ASSERT_EQ(link((folder + "/real").c_str(), (folder + "/other.session").c_str()), 0);
  const std::vector<SessionEntry> all = list_sessions();
  EXPECT_EQ(find(all, "linked"), nullptr);
  EXPECT_EQ(find(all, "other"), nullptr);
}

TEST(MachineWideName, TellsWhoseASessionIs) {
  EXPECT_EQ(machine_wide_name("nightly", 0), "nightly");
  EXPECT_EQ(machine_wide_name("nightly", 1000), "nightly@1000");
  EXPECT_FALSE(is_session_name("nightly@1000"));
}

}  // namespace
}  // namespace strata::record
