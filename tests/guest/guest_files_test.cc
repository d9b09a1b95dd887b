// SPDX-License-Identifier: Apache-2.0
#include "guest/guest_files.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/small_file.h"
#include "support/temporary_folder.h"

namespace strata::guest {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class GuestFilesTest : public testing::Test {
 protected:
  std::string text_of(const std::string& name) {
    const Result<std::string> text = read_small_file(folder_.path() + "/" + name);
    return text ? *text : "there is none";
  }

  TemporaryFolder folder_;
  Quota quota_{1000};
  GuestFiles files_{folder_.path(), "web1", quota_};
};

TEST_F(GuestFilesTest, WhatComesLiesWhereItsKindSays) {
  ASSERT_TRUE(files_.begin({1, FileKind::State, "", "metadata"}));
  ASSERT_TRUE(files_.begin({2, FileKind::App, "my shop", "index/ring0.idx"}));
  ASSERT_TRUE(files_.take({1, 0, bytes_of("abc")}));
  ASSERT_TRUE(files_.take({1, 3, bytes_of("def")}));
  ASSERT_TRUE(files_.take({1, 1, bytes_of("X")}));
  ASSERT_TRUE(files_.take({2, 0, bytes_of("idx")}));
  EXPECT_EQ(text_of("guest-web1-state/metadata"), "aXcdef");
  EXPECT_EQ(text_of("guest-web1-app-my%20shop/index/ring0.idx"), "idx");
  ASSERT_EQ(files_.parts().size(), 2u);
  EXPECT_EQ(files_.parts()[0].what, "state");
  EXPECT_EQ(files_.parts()[1].file, "guest-web1-app-my%20shop");
}

TEST_F(GuestFilesTest, AFileThatComesAnewTakesTheOldOnesPlace) {
  ASSERT_TRUE(files_.begin({1, FileKind::State, "", "metadata"}));
  ASSERT_TRUE(files_.take({1, 0, bytes_of("long and old")}));
  ASSERT_TRUE(files_.begin({2, FileKind::State, "", "metadata"}));
  ASSERT_TRUE(files_.take({2, 0, bytes_of("new")}));
  EXPECT_EQ(text_of("guest-web1-state/metadata"), "new");
  EXPECT_EQ(files_.parts().size(), 1u);
}

TEST_F(GuestFilesTest, NoNameLeadsOutOfTheGuestsOwnFolders) {
  uint32_t number = 1;
  for (const std::string part : {"../up", "/etc", ".", "..", "a/b", "\x01"})
    ASSERT_TRUE(files_.begin({number++, FileKind::App, part, "metadata"})) << part;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_TRUE(entry.path().filename().string().starts_with("guest-web1-app-"));
}

TEST_F(GuestFilesTest, ALinkIsNotFollowed) {
  ASSERT_TRUE(files_.begin({1, FileKind::State, "", "metadata"}));
  const std::string path = folder_.path() + "/guest-web1-state/stream";
  std::filesystem::create_symlink(folder_.path() + "/elsewhere", path);
  EXPECT_FALSE(files_.begin({2, FileKind::State, "", "stream"}));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/elsewhere"));
}

TEST_F(GuestFilesTest, PiecesLieOneBehindTheOther) {
  ASSERT_TRUE(files_.begin({1, FileKind::State, "", "stream"}));
  EXPECT_THAT(files_.take({1, 5, bytes_of("x")}).error().text(), HasSubstr("behind a file's end"));
  EXPECT_THAT(files_.take({7, 0, bytes_of("x")}).error().text(), HasSubstr("no file"));
  EXPECT_FALSE(files_.begin({1, FileKind::State, "", "other"}));
}

TEST_F(GuestFilesTest, TheQuotaCountsWhatFilesGrowBy) {
  ASSERT_TRUE(files_.begin({1, FileKind::State, "", "stream"}));
  const std::string half(500, 'x');
  ASSERT_TRUE(files_.take({1, 0, bytes_of(half)}));
  ASSERT_TRUE(files_.take({1, 0, bytes_of(half)}));
  EXPECT_EQ(quota_.left(), 500u);
  ASSERT_TRUE(files_.take({1, 500, bytes_of(half)}));
  EXPECT_THAT(files_.take({1, 1000, bytes_of("x")}).error().text(), HasSubstr("quota"));
  EXPECT_EQ(text_of("guest-web1-state/stream").size(), 1000u);
}

TEST_F(GuestFilesTest, ARecordingJsonCountsWhenItIsWhole) {
  ASSERT_TRUE(files_.begin({1, FileKind::Description, "", "recording.json"}));
  recording::Description told;
  told.machines.push_back({"inside", "host", "", ""});
  const std::string json = recording::to_json(told);
  ASSERT_TRUE(files_.take({1, 0, bytes_of(json.substr(0, 20))}));
  EXPECT_FALSE(files_.take_description());
  ASSERT_TRUE(files_.take({1, 20, bytes_of(json.substr(20))}));
  const auto description = files_.take_description();
  ASSERT_TRUE(description);
  EXPECT_EQ(description->machines.front().name, "inside");
  EXPECT_FALSE(files_.take_description());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(GuestFilesTest, AHeadThatIsNoneIsAnError) {
  ASSERT_TRUE(files_.begin({1, FileKind::Head, "", "host.dat"}));
  ASSERT_TRUE(files_.take({1, 0, bytes_of("no trace")}));
  EXPECT_FALSE(files_.write_head({0, 1}, 4096));
  EXPECT_FALSE(files_.has_head());
}

TEST(PlainName, OddCharactersArePercentEncoded) {
  EXPECT_EQ(plain_name("web-1.example_x"), "web-1.example_x");
  EXPECT_EQ(plain_name("../x y"), "%2E.%2Fx%20y");
  EXPECT_EQ(plain_name("\xc3\xa4%"), "%C3%A4%25");
}

}  // namespace
}  // namespace strata::guest
