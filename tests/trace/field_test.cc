// SPDX-License-Identifier: Apache-2.0
#include "trace/field.h"

#include <gtest/gtest.h>

#include "base/byte_writer.h"
#include "support/guarded_bytes.h"

namespace strata::trace {
namespace {

FieldRef integer(uint32_t offset, uint32_t size, bool is_signed = false,
                 ByteOrder order = ByteOrder::Little) {
  return {Field{"x", "int", offset, size, size, Location::InPlace, ValueKind::Integer, is_signed},
          order};
}
FieldRef text(uint32_t offset, uint32_t size, Location location = Location::InPlace,
              ByteOrder order = ByteOrder::Little) {
  return {Field{"x", "char[]", offset, size, 1, location, ValueKind::Text, false}, order};
}

TEST(ReadInteger, OfEverySizeInBothOrders) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    ByteWriter out(order);
    out.u8(0x81);
    out.u16(0x8283);
    out.u32(0x84858687);
    out.u64(0x88898a8b8c8d8e8f);
    const Bytes record = out.bytes();
    EXPECT_EQ(read_integer(record, integer(0, 1, false, order)), 0x81);
    EXPECT_EQ(read_integer(record, integer(1, 2, false, order)), 0x8283);
    EXPECT_EQ(read_integer(record, integer(3, 4, false, order)), 0x84858687);
    EXPECT_EQ(read_integer(record, integer(7, 8, false, order)),
              static_cast<int64_t>(0x88898a8b8c8d8e8f));
    EXPECT_EQ(read_integer(record, integer(0, 1, true, order)), int8_t(0x81));
    EXPECT_EQ(read_integer(record, integer(1, 2, true, order)), int16_t(0x8283));
    EXPECT_EQ(read_integer(record, integer(3, 4, true, order)), int32_t(0x84858687));
  }
}

TEST(ReadInteger, NothingWhereTheRecordIsTooShort) {
  const std::vector<std::byte> zeros(16);
  test::GuardedBytes record(zeros);
  for (size_t length = 0; length <= 16; ++length) {
    record.assign(Bytes(zeros).first(length));
    for (uint32_t size : {1u, 2u, 4u, 8u})
      for (uint32_t offset = 0; offset <= 17; ++offset)
        EXPECT_EQ(read_integer(record.bytes(), integer(offset, size)).has_value(),
                  offset + size <= length);
  }
  EXPECT_FALSE(read_integer(zeros, integer(UINT32_MAX, 4)));
  EXPECT_FALSE(read_integer(zeros, integer(UINT32_MAX - 3, 8)));
}

TEST(ReadInteger, NothingFromAFieldThatIsNotThere) {
  EXPECT_FALSE(read_integer(std::vector<std::byte>(16), FieldRef{}));
  EXPECT_FALSE(FieldRef{});
}

TEST(ReadInteger, NothingFromASizeThatNoIntegerHas) {
  const std::vector<std::byte> zeros(32);
  for (uint32_t size : {3u, 5u, 6u, 7u, 9u, 16u})
    EXPECT_FALSE(read_integer(zeros, integer(0, size)));
}

TEST(ReadText, EndsAtItsNulOrAtTheFieldsEnd) {
  const Bytes record = as_bytes(std::string_view("....sh\0bashAFTER", 16));
  EXPECT_EQ(read_text(record, text(4, 7)), "sh");
  EXPECT_EQ(read_text(record, text(7, 4)), "bash");
  EXPECT_EQ(read_text(record, text(6, 4)), "");
  EXPECT_EQ(read_text(record, text(12, 5)), "") << "the record is too short";
  EXPECT_EQ(read_text(record, FieldRef{}), "");
}

// "len << 16 | offset" at 8, the value anywhere.
std::vector<std::byte> located(uint32_t locator, std::string_view value, ByteOrder order) {
  ByteWriter out(order);
  out.u64(0);
  out.u32(locator);
  out.u32(0);
  out.text(value);
  return std::move(out).bytes();
}

TEST(ReadText, FollowsALocatorFromTheRecordsStart) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    const auto record = located(6u << 16 | 16, std::string_view("/etc/\0....", 10), order);
    EXPECT_EQ(read_text(record, text(8, 4, Location::DataLoc, order)), "/etc/");
    EXPECT_EQ(read_bytes(record, text(8, 4, Location::DataLoc, order)).size(), 6u);
  }
}

TEST(ReadText, FollowsARelativeLocatorFromItsEnd) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    const auto record = located(6u << 16 | 4, std::string_view("/etc/\0....", 10), order);
    EXPECT_EQ(read_text(record, text(8, 4, Location::RelLoc, order)), "/etc/");
  }
}

TEST(ReadBytes, NothingWhereALocatorPointsOutOfTheRecord) {
  const std::string_view value("0123456789");
  struct {
    uint32_t locator;
    size_t size;
  } cases[] = {
      {10u << 16 | 16, 10}, {11u << 16 | 16, 0},    {1u << 16 | 25, 1},
      {1u << 16 | 26, 0},   {1u << 16 | 0xffff, 0}, {0xffffu << 16 | 0, 0},
      {0xffffffff, 0},      {0u << 16 | 26, 0},     {26u << 16 | 0, 26},
  };
  test::GuardedBytes record(std::vector<std::byte>(26));
  for (const auto& c : cases) {
    record.assign(located(c.locator, value, ByteOrder::Little));
    EXPECT_EQ(read_bytes(record.bytes(), text(8, 4, Location::DataLoc)).size(), c.size)
        << std::hex << c.locator;
    read_text(record.bytes(), text(8, 4, Location::RelLoc));
  }
}

TEST(ReadBytes, NothingWhereTheLocatorItselfIsCutOff) {
  const auto whole = located(4u << 16 | 0, "", ByteOrder::Little);
  test::GuardedBytes record(whole);
  for (size_t length = 0; length < 12; ++length) {
    record.assign(Bytes(whole).first(length));
    EXPECT_TRUE(read_bytes(record.bytes(), text(8, 4, Location::DataLoc)).empty());
    EXPECT_TRUE(read_bytes(record.bytes(), text(8, 4, Location::RelLoc)).empty());
  }
}

TEST(ReadBytes, AnArrayInPlace) {
  const std::vector<std::byte> record(20);
  const FieldRef array(
      Field{"args", "long[2]", 4, 16, 8, Location::InPlace, ValueKind::Array, false},
      ByteOrder::Little);
  EXPECT_EQ(read_bytes(record, array).size(), 16u);
  EXPECT_EQ(read_bytes(record, array).data(), record.data() + 4);
  EXPECT_TRUE(read_bytes(Bytes(record).first(19), array).empty());
}

}  // namespace
}  // namespace strata::trace
