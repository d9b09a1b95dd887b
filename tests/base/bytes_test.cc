// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

#include "base/byte_writer.h"
#include "support/guarded_bytes.h"

namespace strata {
namespace {

std::vector<std::byte> counting(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(i + 1);
  return bytes;
}

TEST(ByteReader, ReadsLittleEndian) {
  const auto bytes = counting(23);
  ByteReader in(bytes, ByteOrder::Little);
  EXPECT_EQ(in.u8(), 0x01u);
  EXPECT_EQ(in.u16(), 0x0302u);
  EXPECT_EQ(in.u32(), 0x07060504u);
  EXPECT_EQ(in.u64(), 0x0f0e0d0c0b0a0908u);
  EXPECT_EQ(in.s64(), 0x1716151413121110);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(ByteReader, ReadsBigEndian) {
  const auto bytes = counting(23);
  ByteReader in(bytes, ByteOrder::Big);
  EXPECT_EQ(in.u8(), 0x01u);
  EXPECT_EQ(in.u16(), 0x0203u);
  EXPECT_EQ(in.u32(), 0x04050607u);
  EXPECT_EQ(in.u64(), 0x08090a0b0c0d0e0fu);
  EXPECT_EQ(in.s64(), 0x1011121314151617);
  EXPECT_TRUE(in.ok());
}

TEST(ByteReader, ReadsNegativeNumbers) {
  const std::vector<std::byte> bytes(8, std::byte{0xff});
  EXPECT_EQ(ByteReader(bytes, ByteOrder::Little).s64(), -1);
}

TEST(ByteReader, NeverReadsPastTheEnd) {
  const auto all = counting(32);
  test::GuardedBytes guarded(all);
  for (size_t size = 0; size <= 16; ++size) {
    guarded.assign(Bytes(all).first(size));
    for (size_t before = 0; before <= size; ++before) {
      auto reader = [&] {
        ByteReader in(guarded.bytes(), ByteOrder::Big);
        in.skip(before);
        return in;
      };
      const size_t left = size - before;
      auto in = reader();
      in.u8();
      EXPECT_EQ(in.ok(), left >= 1);
      in = reader();
      in.u16();
      EXPECT_EQ(in.ok(), left >= 2);
      in = reader();
      in.u32();
      EXPECT_EQ(in.ok(), left >= 4);
      in = reader();
      in.u64();
      EXPECT_EQ(in.ok(), left >= 8);
      in = reader();
      EXPECT_EQ(in.string().size(), 0u) << "there is no NUL anywhere";
      EXPECT_FALSE(in.ok());
      in = reader();
      EXPECT_EQ(in.take(left).size(), left);
      EXPECT_TRUE(in.ok());
      in = reader();
      EXPECT_TRUE(in.take(left + 1).empty());
      EXPECT_FALSE(in.ok());
    }
  }
}

TEST(ByteReader, AHugeLengthDoesNotWrapAround) {
  const auto bytes = counting(8);
  for (uint64_t size : {UINT64_MAX, UINT64_MAX - 1, uint64_t{1} << 63, UINT64_MAX - 7}) {
    ByteReader in(bytes, ByteOrder::Little);
    in.u32();
    EXPECT_TRUE(in.take(size).empty()) << size;
    EXPECT_FALSE(in.ok()) << size;
    ByteReader seeking(bytes, ByteOrder::Little);
    seeking.seek(size);
    EXPECT_FALSE(seeking.ok()) << size;
  }
}

TEST(ByteReader, AfterAFailureEverythingIsZeroOrEmpty) {
  ByteWriter out(ByteOrder::Little);
  out.u32(7);
  out.string("text");
  ByteReader in(out.bytes(), ByteOrder::Little);
  in.u32();
  in.u64();  // five bytes are left
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.u8(), 0u);
  EXPECT_EQ(in.u16(), 0u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), 0u);
  EXPECT_EQ(in.s64(), 0);
  EXPECT_TRUE(in.take(1).empty());
  EXPECT_TRUE(in.string().empty());
  EXPECT_FALSE(in.ok());
}

TEST(ByteReader, AStringEndsAtItsNul) {
  ByteWriter out(ByteOrder::Little);
  out.string("first");
  out.string("");
  out.string("last");
  ByteReader in(out.bytes(), ByteOrder::Little);
  EXPECT_EQ(in.string(), "first");
  EXPECT_EQ(in.string(), "");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.string(), "last");
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(ByteReader, SeeksAnywhereInside) {
  const auto bytes = counting(4);
  ByteReader in(bytes, ByteOrder::Little);
  in.seek(3);
  EXPECT_EQ(in.u8(), 4u);
  in.seek(0);
  EXPECT_EQ(in.u8(), 1u);
  in.seek(4);
  EXPECT_TRUE(in.ok());
  in.seek(5);
  EXPECT_FALSE(in.ok());
}

TEST(ByteReader, ErrorsSayWhereInTheFile) {
  const auto bytes = counting(6);
  ByteReader in(bytes, ByteOrder::Little, 1000);
  in.u32();
  EXPECT_EQ(in.file_offset(), 1004u);
  in.u32();
  ASSERT_FALSE(in.ok());
  const Error error = in.truncated("a.dat", "the list of options");
  EXPECT_EQ(error.file, "a.dat");
  EXPECT_EQ(error.offset, 1004u);
  EXPECT_NE(error.text().find("the list of options"), std::string::npos) << error.text();
}

TEST(ByteReader, NoBytesAtAll) {
  ByteReader in({}, ByteOrder::Little);
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.take(0).empty());
  EXPECT_TRUE(in.ok());
  in.u8();
  EXPECT_FALSE(in.ok());
}

TEST(ByteWriter, PutsNumbersInEitherOrder) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    ByteWriter out(order);
    out.u8(0x01);
    out.u16(0x0203);
    out.u32(0x04050607);
    out.u64(0x08090a0b0c0d0e0f);
    out.text("ab");
    ASSERT_EQ(out.size(), 17u);
    const bool big = order == ByteOrder::Big;
    EXPECT_EQ(out.bytes()[1], std::byte(big ? 0x02 : 0x03));
    EXPECT_EQ(out.bytes()[3], std::byte(big ? 0x04 : 0x07));
    EXPECT_EQ(out.bytes()[7], std::byte(big ? 0x08 : 0x0f));
    EXPECT_EQ(out.bytes()[16], std::byte('b'));
  }
}

TEST(Load, SwapsOnlyWhenAsked) {
  const std::byte bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const uint32_t native = load<uint32_t>(bytes, false);
  EXPECT_EQ(load<uint32_t>(bytes, true), __builtin_bswap32(native));
  EXPECT_EQ(load<uint32_t>(bytes, kNativeOrder != ByteOrder::Big), 0x01020304u);
}

}  // namespace
}  // namespace strata
