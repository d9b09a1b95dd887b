// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/metadata.h"

#include <gtest/gtest.h>

namespace strata::ctf {
namespace {

struct Packet {
  std::string text;
  uint32_t padding = 0;
  uint8_t compression = 0;
  uint8_t major = 1, minor = 8;
  char uuid = 'u';
};

std::string packed(const Packet& packet, bool big = false) {
  std::string bytes;
  const auto number = [&](uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * (big ? 3 - i : i)));
  };
  const auto size = static_cast<uint32_t>(37 + packet.text.size());
  number(0x75D11D57);
  bytes += std::string(16, packet.uuid);
  number(0);
  number(size * 8);
  number((size + packet.padding) * 8);
  for (uint8_t byte : {packet.compression, uint8_t{0}, uint8_t{0}, packet.major, packet.minor})
    bytes += static_cast<char>(byte);
  return bytes + packet.text + std::string(packet.padding, '\0');
}

std::string unpacked(const std::string& file) {
  Result<MetadataText> metadata = unpack_metadata(as_bytes(file), "metadata");
  return metadata ? metadata->text : metadata.error().text();
}

TEST(MetadataPackets, AreJoinedInEitherByteOrder) {
  for (bool big : {false, true}) {
    const std::string file = packed({"trace {", 20}, big) + packed({" };", 0}, big);
    Result<MetadataText> metadata = unpack_metadata(as_bytes(file), "metadata");
    ASSERT_TRUE(metadata) << metadata.error().text();
    EXPECT_EQ(metadata->text, "trace { };");
    EXPECT_EQ(metadata->order, big ? ByteOrder::Big : ByteOrder::Little);
  }
}

TEST(MetadataPackets, MayBeOfCtf2) {
  EXPECT_EQ(unpacked(packed({"\x1e{}", 0, 0, 2, 0})), "\x1e{}");
}

TEST(MetadataPackets, ThatLackPaddingOrHaveAFewBytesBehindThemAreRead) {
  const std::string file = packed({"text", 20});
  EXPECT_EQ(unpacked(file.substr(0, file.size() - 15)), "text");
  EXPECT_EQ(unpacked(file + '\0'), "text");
}

TEST(MetadataPackets, ThatAreWrongAreRefusedWithTheirPlace) {
  const std::string good = packed({"text"});
  EXPECT_EQ(unpacked(good + packed({"text", 0, 0, 1, 8, 'x'})),
            "metadata: at byte 41: metadata packet: another UUID than the first one's");
  EXPECT_EQ(unpacked(good + packed({"text", 0, 0, 3, 1})),
            "metadata: at byte 41: metadata packet: version 3.1, where 1.8 or 2.0 is known");
  EXPECT_EQ(
      unpacked(packed({"text", 0, 1})),
      "metadata: at byte 0: metadata packet: compressed, encrypted or with a checksum, which no "
      "reader knows");
  EXPECT_EQ(unpacked(good + std::string(40, 'x')),
            "metadata: at byte 41: metadata packet: no magic number");
  std::string bad = good;
  bad[28] = 1;
  EXPECT_EQ(unpacked(bad), "metadata: at byte 0: metadata packet: its sizes are not whole bytes");
  EXPECT_NE(unpacked(good.substr(0, 39)).find("metadata: at byte 37"), std::string::npos);
}

TEST(Metadata, TextNeedsNoPackets) {
  EXPECT_EQ(unpacked("/* CTF 1.8 */ trace { };"), "/* CTF 1.8 */ trace { };");
  EXPECT_EQ(unpacked(std::string("trace { };\0\0", 12)), "trace { };");
  EXPECT_EQ(unpacked(""), "metadata: there are no metadata");
}

TEST(Metadata, TheFirstCharacterTellsTheLanguage) {
  Result<Description> it = parse_metadata({"trace { byte_order = le; };", {}}, "metadata");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->version, 1u);
  it = parse_metadata(
      {"\x1e{\"type\": \"preamble\", \"version\": 2}\x1e{\"type\": \"data-stream-class\"}", {}},
      "metadata");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->version, 2u);
}

}  // namespace
}  // namespace strata::ctf
