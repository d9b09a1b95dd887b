// SPDX-License-Identifier: Apache-2.0
#include "history/records.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "support/temporary_folder.h"

namespace strata::history {
namespace {

constexpr uint64_t kSource = 7;
constexpr uint8_t kKind = 1;
constexpr size_t kValues = 3;

bool comes_before(const Record& a, const Record& b) {
  return std::tie(a.begin, a.end, a.values) < std::tie(b.begin, b.end, b.values);
}

class RecordsTest : public testing::Test {
 protected:
  RecordWriter make_writer() {
    Result<RecordWriter> writer = RecordWriter::create(path_, kSource);
    EXPECT_TRUE(writer) << writer.error().text();
    return std::move(*writer);
  }
  Records open() {
    Result<Records> records = Records::open(path_, kSource);
    EXPECT_TRUE(records) << records.error().text();
    return std::move(*records);
  }
  static std::vector<Record> all_of(Records& records, int64_t begin = INT64_MIN,
                                    int64_t end = INT64_MAX,
                                    std::optional<int64_t> subject = std::nullopt,
                                    uint8_t kind = kKind) {
    std::vector<Record> all;
    Records::Walk walk(records, kind, begin, end, subject);
    for (Result<const Record*> next = walk.next(); next && *next != nullptr; next = walk.next())
      all.push_back(**next);
    std::ranges::sort(all, comes_before);
    return all;
  }
  // Those that have a part in the range; short and long ones, in the order of their ends.
  static std::vector<Record> make_records(std::mt19937_64& random, size_t count, int64_t from) {
    std::vector<Record> records;
    int64_t now = from;
    for (size_t i = 0; i < count; ++i) {
      now += static_cast<int64_t>(random() % 1000);
      const auto length = static_cast<int64_t>(random() % (uint64_t{1} << random() % 40));
      records.push_back({now - length,
                         now,
                         {static_cast<int64_t>(random() % 50), -static_cast<int64_t>(random() % 9),
                          static_cast<int64_t>(random())}});
    }
    return records;
  }
  static std::vector<Record> within(const std::vector<Record>& records, int64_t begin,
                                    int64_t end) {
    std::vector<Record> found;
    std::ranges::copy_if(records, std::back_inserter(found), [&](const Record& record) {
      return record.end >= begin && record.begin <= end;
    });
    std::ranges::sort(found, comes_before);
    return found;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("records");
};

TEST_F(RecordsTest, ComeBackByRangeAndSubject) {
  std::mt19937_64 random(1);
  const std::vector<Record> told = make_records(random, 6'000, 5'000'000);
  RecordWriter writer = make_writer();
  for (const Record& record : told) writer.add(kKind, kValues, record);
  ASSERT_TRUE(writer.finish(told.back().end));
  Records records = open();
  EXPECT_TRUE(records.is_complete());
  EXPECT_EQ(records.count(), told.size());
  EXPECT_EQ(all_of(records), within(told, INT64_MIN, INT64_MAX));
  EXPECT_TRUE(all_of(records, INT64_MIN, INT64_MAX, std::nullopt, 0).empty());
  for (int i = 0; i < 30; ++i) {
    const Record& a = told[random() % told.size()];
    const int64_t end = a.end + static_cast<int64_t>(random() % 100'000);
    EXPECT_EQ(all_of(records, a.end, end), within(told, a.end, end));
  }
  std::vector<Record> of_seven = all_of(records, INT64_MIN, INT64_MAX, 7);
  std::erase_if(of_seven, [](const Record& record) { return record.values[0] != 7; });
  std::vector<Record> expected = within(told, INT64_MIN, INT64_MAX);
  std::erase_if(expected, [](const Record& record) { return record.values[0] != 7; });
  EXPECT_EQ(of_seven, expected);
}

TEST_F(RecordsTest, EveryNumberAndTimeIsKept) {
  constexpr int64_t kLeast = INT64_MIN;
  constexpr int64_t kMost = INT64_MAX;
  const std::vector<Record> told = {
      {kLeast, kMost, {kLeast, kMost, 0}}, {0, 0, {0, -1, 1}}, {kMost, kMost, {1, 2, 3}}};
  RecordWriter writer = make_writer();
  for (const Record& record : told) writer.add(kKind, kValues, record);
  ASSERT_TRUE(writer.finish(0));
  Records records = open();
  EXPECT_EQ(all_of(records), within(told, kLeast, kMost));
}

TEST_F(RecordsTest, ACheckpointShowsWhatCameAndWhatIsOpenThen) {
  std::mt19937_64 random(2);
  RecordWriter writer = make_writer();
  std::vector<Record> told;
  for (int64_t checkpoint = 1; checkpoint <= 20; ++checkpoint) {
    for (const Record& record : make_records(random, random() % 300, checkpoint * 1'000'000)) {
      writer.add(kKind, kValues, record);
      told.push_back(record);
    }
    const Record still_open{checkpoint, checkpoint * 1'000'000, {1, 2, 3}};
    writer.add_open(kKind, kValues, still_open);
    ASSERT_TRUE(writer.checkpoint(checkpoint * 1'000'000));
    Records records = open();
    EXPECT_FALSE(records.is_complete());
    EXPECT_EQ(records.end(), checkpoint * 1'000'000);
    std::vector<Record> expected = told;
    expected.push_back(still_open);
    EXPECT_EQ(all_of(records), within(expected, INT64_MIN, INT64_MAX));
  }
}

TEST_F(RecordsTest, AFileThatIsCutEndsWithItsLastCheckpoint) {
  RecordWriter writer = make_writer();
  const Record one{1, 2, {1, 2, 3}};
  writer.add(kKind, kValues, one);
  ASSERT_TRUE(writer.checkpoint(10));
  const auto first = std::filesystem::file_size(path_);
  writer.add(kKind, kValues, {3, 4, {4, 5, 6}});
  ASSERT_TRUE(writer.finish(20));
  const auto whole = std::filesystem::file_size(path_);
  for (auto size = whole - 1; size >= first; --size) {
    std::filesystem::resize_file(path_, size);
    Records records = open();
    EXPECT_EQ(records.end(), 10);
    EXPECT_EQ(all_of(records), std::vector{one});
  }
  for (auto size = first; size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    EXPECT_FALSE(Records::open(path_, kSource));
  }
}

TEST_F(RecordsTest, OneOfSomethingElseIsRefused) {
  RecordWriter writer = make_writer();
  ASSERT_TRUE(writer.finish(10));
  EXPECT_TRUE(Records::open(path_, kSource));
  EXPECT_FALSE(Records::open(path_, kSource + 1));
}

// A block of short records spans little time, whatever long ones end in between.
TEST_F(RecordsTest, LongRecordsDoNotMakeANarrowRangeWide) {
  RecordWriter writer = make_writer();
  for (int64_t i = 1; i <= 100'000; ++i) {
    writer.add(kKind, kValues, {i * 100, i * 100 + 50, {i, 0, 0}});
    if (i % 100 == 0) writer.add(kKind, kValues, {0, i * 100 + 60, {0, 0, 0}});
  }
  ASSERT_TRUE(writer.finish(10'000'100));
  Records records = open();
  Records::Walk walk(records, kKind, 5'000'000, 5'000'100);
  size_t given = 0;
  for (Result<const Record*> next = walk.next(); *next != nullptr; next = walk.next()) ++given;
  EXPECT_EQ(given, 2u + 501u);
  EXPECT_LE(walk.blocks_read(), 4u) << "one of 98 of short ones, two of long ones, or an edge";
}

}  // namespace
}  // namespace strata::history
