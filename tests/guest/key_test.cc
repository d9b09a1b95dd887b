// SPDX-License-Identifier: Apache-2.0
#include "guest/key.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "support/temporary_folder.h"

namespace strata::guest {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::array<std::byte, 32> array_of(std::string_view hex) {
  std::array<std::byte, 32> array{};
  std::ranges::copy(bytes_of(hex), array.begin());
  return array;
}

std::string write_key(const test::TemporaryFolder& folder, std::string_view text, mode_t mode) {
  const std::string path = folder.write("key", text);
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

constexpr std::string_view kHex =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eFF";

// RFC 4231, test cases 2 and 3.
TEST(Key, HmacIsThatOfTheStandard) {
  EXPECT_EQ(hmac(as_bytes("Jefe"), as_bytes("what do ya want for nothing?")),
            array_of("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
  EXPECT_EQ(hmac(std::vector(20, std::byte{0xaa}), std::vector(50, std::byte{0xdd})),
            array_of("773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"));
}

// RFC 5869, the first 32 bytes of test case 1.
TEST(Key, WhatIsDerivedIsThatOfTheStandard) {
  const Key key(array_of("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
  EXPECT_EQ(key.derive("\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9"),
            array_of("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"));
}

TEST(Key, AFileOfHexadecimalDigitsIsAKey) {
  const test::TemporaryFolder folder;
  for (const std::string_view end : {"", "\n", "\r\n"}) {
    const Result<Key> key =
        Key::read(write_key(folder, std::string(kHex) + std::string(end), 0600));
    ASSERT_TRUE(key) << key.error().text();
    EXPECT_EQ(key->derive("x"), Key(array_of(kHex)).derive("x"));
  }
}

TEST(Key, WhatOthersCanReadIsNoSecret) {
  const test::TemporaryFolder folder;
  for (const mode_t mode : {0644u, 0640u, 0604u, 0620u, 0602u}) {
    const Result<Key> key = Key::read(write_key(folder, kHex, mode));
    ASSERT_FALSE(key) << mode;
    EXPECT_THAT(key.error().text(), HasSubstr("a key needs mode 0600"));
  }
  EXPECT_TRUE(Key::read(write_key(folder, kHex, 0400)));
}

TEST(Key, WhatIsNoKeyIsSaidToBeNone) {
  const test::TemporaryFolder folder;
  const std::string hex(kHex);
  for (const std::string& text : {std::string(), hex.substr(1), hex + "0", "x" + hex.substr(1),
                                  hex + "\nmore", std::string(100'000, '0')}) {
    const Result<Key> key = Key::read(write_key(folder, text, 0600));
    ASSERT_FALSE(key) << text.size();
    EXPECT_THAT(key.error().text(), HasSubstr("64 hexadecimal digits"));
    EXPECT_THAT(key.error().text(), ::testing::Not(HasSubstr("0102")));
  }
  EXPECT_THAT(Key::read(folder.path()).error().text(), HasSubstr("no regular file"));
  EXPECT_THAT(Key::read(folder.file("none")).error().text(), HasSubstr("No such file"));
}

TEST(Key, ANewOneIsRandomPrivateAndReplacesNone) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("strata/key");
  const Result<Key> made = Key::make(path);
  ASSERT_TRUE(made) << made.error().text();
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  const Result<Key> read = Key::read(path);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->derive("x"), made->derive("x"));
  EXPECT_THAT(Key::make(path).error().text(), HasSubstr("File exists"));
  const Result<Key> other = Key::make(folder.file("other"));
  ASSERT_TRUE(other);
  EXPECT_NE(other->derive("x"), made->derive("x"));
}

TEST(Key, InAGuestItIsLookedForWhereItCanBeBrought) {
  setenv("CREDENTIALS_DIRECTORY", "/run/credentials/strata-agent", 1);
  EXPECT_THAT(Key::places(),
              ::testing::ElementsAre("/etc/strata/key", "/run/credentials/strata-agent/strata-key",
                                     "/sys/firmware/qemu_fw_cfg/by_name/opt/strata/key/raw"));
  unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_EQ(Key::places().size(), 2u);
}

}  // namespace
}  // namespace strata::guest
