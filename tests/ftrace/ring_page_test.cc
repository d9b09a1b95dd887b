// SPDX-License-Identifier: Apache-2.0
#include "ftrace/ring_page.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "support/guarded_bytes.h"
#include "support/ring_page_maker.h"

namespace strata::ftrace {
namespace {

using test::RingPageMaker;

struct Read {
  uint64_t ticks;
  std::string record;
  bool operator==(const Read&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Read& read) {
    return out << read.ticks << " \"" << read.record << '"';
  }
};
using Records = std::vector<Read>;

struct Outcome {
  Records records;
  RingPage::Step last;
};

Outcome read_all(RingPage page) {
  Outcome outcome;
  while ((outcome.last = page.next()) == RingPage::Step::Record) {
    outcome.records.push_back({raw(page.ticks()), std::string(as_text(page.record()))});
    EXPECT_LT(outcome.records.size(), 100'000u);
  }
  EXPECT_EQ(page.next(), outcome.last) << "asked again, it says the same";
  return outcome;
}

// Everything below holds for all four kinds of kernel.
class RingPageTest : public testing::TestWithParam<Target> {
 protected:
  RingPageMaker at(uint64_t time) const {
    return RingPageMaker(time, GetParam().order, GetParam().long_size);
  }
  Records whole(const RingPageMaker& maker) const {
    const auto bytes = maker.page();
    Outcome outcome = read_all(RingPage(bytes, GetParam()));
    EXPECT_EQ(outcome.last, RingPage::Step::End);
    return outcome.records;
  }
  // What is read before the page turns out to be damaged.
  Records damaged(const RingPageMaker& maker) const {
    const auto bytes = maker.page();
    RingPage page(bytes, GetParam());
    Outcome outcome = read_all(page);
    EXPECT_EQ(outcome.last, RingPage::Step::Corrupt);
    while (page.next() == RingPage::Step::Record) {
    }
    EXPECT_NE(page.cause(), nullptr);
    EXPECT_LE(page.position(), bytes.size());
    return outcome.records;
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, RingPageTest,
                         testing::Values(Target{ByteOrder::Little, 8}, Target{ByteOrder::Little, 4},
                                         Target{ByteOrder::Big, 8}, Target{ByteOrder::Big, 4}),
                         [](const auto& kernel) {
                           const bool big = kernel.param.order == ByteOrder::Big;
                           return std::string(big ? "Big" : "Little") +
                                  (kernel.param.long_size == 8 ? "64" : "32");
                         });

TEST_P(RingPageTest, AnEmptyPageEndsAtOnce) {
  EXPECT_EQ(whole(at(5)), Records{});
  const auto bytes = at(5).page();
  EXPECT_EQ(raw(RingPage(bytes, GetParam()).page_ticks()), 5u);
}

TEST_P(RingPageTest, TimesAddUpFromThePages) {
  EXPECT_EQ(whole(at(1000)
                      .data(0, as_bytes("1st!"))
                      .data(5, as_bytes("second!!"))
                      .data((1 << 27) - 1, as_bytes("3rd."))),
            (Records{{1000, "1st!"}, {1005, "second!!"}, {1005 + (1 << 27) - 1, "3rd."}}));
}

TEST_P(RingPageTest, SmallRecordsGoUpTo112Bytes) {
  const std::string largest(112, 'x');
  EXPECT_EQ(whole(at(1).data(0, as_bytes(largest)).data(1, as_bytes("next"))),
            (Records{{1, largest}, {2, "next"}}));
}

TEST_P(RingPageTest, LongRecordsTellTheirLength) {
  const std::string text(300, 'y');
  EXPECT_EQ(whole(at(1).long_data(7, as_bytes(text)).data(1, as_bytes("next"))),
            (Records{{8, text}, {9, "next"}}));
}

TEST_P(RingPageTest, LongRecordsAreRoundedUpToFourBytes) {
  for (size_t size : {113, 114, 115, 116}) {
    const std::string text(size, 'y');
    EXPECT_EQ(whole(at(1).long_data(0, as_bytes(text)).data(1, as_bytes("next"))),
              (Records{{1, text}, {2, "next"}}))
        << size;
  }
}

TEST_P(RingPageTest, TimeExtendBeforeFirstEventMovesTheBase) {
  EXPECT_EQ(whole(at(1000).time_extend(uint64_t{1} << 40).data(3, as_bytes("late"))),
            (Records{{1000 + (uint64_t{1} << 40) + 3, "late"}}));
}

TEST_P(RingPageTest, TimeExtendsAddUp) {
  const uint64_t step = (uint64_t{0xffffffff} << 27) + ((1 << 27) - 1);
  EXPECT_EQ(whole(at(0)
                      .data(1, as_bytes("here"))
                      .time_extend(step)
                      .time_extend(7)
                      .data(1, as_bytes("then"))),
            (Records{{1, "here"}, {1 + step + 7 + 1, "then"}}));
}

TEST_P(RingPageTest, TimeStampsAreAbsolute) {
  EXPECT_EQ(whole(at(1000)
                      .data(500, as_bytes("here"))
                      .time_stamp(0x123456789abcd)
                      .data(2, as_bytes("then"))
                      .time_stamp(77)
                      .data(0, as_bytes("back"))),
            (Records{{1500, "here"}, {0x123456789abcf, "then"}, {77, "back"}}));
}

TEST_P(RingPageTest, TimeStampsTakeTheirTopBitsFromTheTimeBefore) {
  const uint64_t top = uint64_t{0x15} << 59;
  EXPECT_EQ(whole(at(top | 100)
                      .time_stamp((top | 2000) & ((uint64_t{1} << 59) - 1))
                      .data(1, as_bytes("late"))),
            (Records{{(top | 2000) + 1, "late"}}));
}

TEST_P(RingPageTest, TimeStampsThatWrapAroundCarryIntoTheTopBits) {
  // The kernel's rb_fix_abs_ts(): a stamp below the time before has passed 2^59 since.
  const uint64_t before = (uint64_t{3} << 59) - 10;
  EXPECT_EQ(whole(at(before).time_stamp(5).data(0, as_bytes("late"))),
            (Records{{(uint64_t{3} << 59) + 5, "late"}}));
}

TEST_P(RingPageTest, PaddingWithoutTimeEndsThePage) {
  EXPECT_EQ(whole(at(1).data(1, as_bytes("last")).end_of_page().word(0xffffffff).word(0xffffffff)),
            (Records{{2, "last"}}));
  EXPECT_EQ(whole(at(1).data(1, as_bytes("last")).end_of_page()), (Records{{2, "last"}}))
      << "with nothing behind it";
}

TEST_P(RingPageTest, DiscardedRecordsAreSkippedAndTheirTimeCounts) {
  EXPECT_EQ(whole(at(10).data(1, as_bytes("here")).discarded(100, 16).data(1, as_bytes("next"))),
            (Records{{11, "here"}, {112, "next"}}));
}

TEST_P(RingPageTest, TheOneThatStandsForNoTimeDoesNotCount) {
  // The delta of a discarded record may not be 0, so the kernel writes 1 instead.
  EXPECT_EQ(whole(at(10).discarded(1, 4).data(1, as_bytes("next"))), (Records{{11, "next"}}));
}

TEST_P(RingPageTest, DiscardedRecordsUpToThePagesEnd) {
  EXPECT_EQ(whole(at(10).data(1, as_bytes("here")).discarded(5, 40)), (Records{{11, "here"}}));
}

TEST_P(RingPageTest, LossesWithoutANumber) {
  const auto bytes = at(1).lost().data(0, as_bytes("next")).page();
  const RingPage page(bytes, GetParam());
  EXPECT_TRUE(page.lost());
  EXPECT_FALSE(page.lost_count_known());
  EXPECT_EQ(read_all(page).records, (Records{{1, "next"}}));
}

TEST_P(RingPageTest, LossesWithANumberBehindTheRecords) {
  const auto bytes = at(1).data(0, as_bytes("next")).lost(123'456).page();
  const RingPage page(bytes, GetParam());
  EXPECT_TRUE(page.lost());
  EXPECT_TRUE(page.lost_count_known());
  EXPECT_EQ(page.lost_count(), 123'456u);
  EXPECT_EQ(read_all(page).records, (Records{{1, "next"}}));
  const unsigned long_size = GetParam().long_size;
  EXPECT_EQ(page.bytes_used(), 8 + long_size + 8 + long_size);
}

TEST_P(RingPageTest, ANumberThatDoesNotFitThePageIsNotRead) {
  // Without the flag's room behind the records there is a loss all the same.
  auto maker = at(1).data(0, as_bytes("next")).lost(5);
  const size_t used = 8 + GetParam().long_size + maker.records_size();
  for (size_t size = used; size < used + GetParam().long_size; ++size) {
    auto bytes = maker.page(size);
    test::GuardedBytes guarded(bytes);
    const RingPage page(guarded.bytes(), GetParam());
    EXPECT_TRUE(page.lost());
    EXPECT_FALSE(page.lost_count_known());
    EXPECT_EQ(read_all(page).records, (Records{{1, "next"}}));
  }
}

TEST_P(RingPageTest, NoLossByDefault) {
  const auto bytes = at(1).data(0, as_bytes("next")).page();
  const RingPage page(bytes, GetParam());
  EXPECT_FALSE(page.lost());
  EXPECT_EQ(page.lost_count(), 0u);
  EXPECT_EQ(page.bytes_used(), 8u + GetParam().long_size + 8);
}

TEST_P(RingPageTest, OtherBitsOfTheCommitDoNotCount) {
  // 0x7ffffff of it are the size; the rest is flags, some of which may yet be given a meaning.
  auto maker = at(1).data(0, as_bytes("next"));
  EXPECT_EQ(whole(maker.commit(maker.records_size() | 1 << 29)), (Records{{1, "next"}}));
}

TEST_P(RingPageTest, MoreThanThePageCanHoldIsCorrupt) {
  EXPECT_EQ(damaged(at(1).data(0, as_bytes("next")).commit(4097)), Records{});
  EXPECT_EQ(damaged(at(1).data(0, as_bytes("next")).commit(0x7ffffff)), Records{});
}

TEST_P(RingPageTest, RecordsBeyondTheCommitAreCorrupt) {
  EXPECT_EQ(damaged(at(1).data(1, as_bytes("good")).head(2, 0).word(0)), (Records{{2, "good"}}));
  EXPECT_EQ(damaged(at(1).data(1, as_bytes("good")).head(0, 0).word(0xffffffff)),
            (Records{{2, "good"}}));
  EXPECT_EQ(damaged(at(1).data(1, as_bytes("good")).head(0, 0).word(3)), (Records{{2, "good"}}));
  EXPECT_EQ(damaged(at(1).data(1, as_bytes("good")).head(29, 5).word(0xfffffff0)),
            (Records{{2, "good"}}));
  for (uint32_t cut_off : {0u, 29u, 30u, 31u})
    EXPECT_EQ(damaged(at(1).data(1, as_bytes("good")).head(cut_off, 5)), (Records{{2, "good"}}))
        << cut_off;
}

TEST_P(RingPageTest, ADiscardedRecordThatGoesNowhereDoesNotHang) {
  damaged(at(1).head(29, 5).word(0));
  damaged(at(1).head(29, 5).word(0xfffffffc).head(29, 5).word(0));
}

TEST_P(RingPageTest, CutOffAtAnyByteItIsReadNoFurther) {
  const std::string text(200, 'z');
  const auto maker = at(1)
                         .data(1, as_bytes("1st!"))
                         .time_extend(1000)
                         .long_data(1, as_bytes(text))
                         .discarded(5, 12)
                         .time_stamp(5000)
                         .data(1, as_bytes("last"))
                         .lost(9);
  const size_t used = 8 + 2 * GetParam().long_size + maker.records_size();
  const auto whole_page = maker.page(used);
  const Records all = read_all(RingPage(whole_page, GetParam())).records;
  ASSERT_EQ(all.size(), 3u);
  test::GuardedBytes guarded(whole_page);
  for (size_t size = 0; size <= used; ++size) {
    guarded.assign(Bytes(whole_page).first(size));
    read_all(RingPage(guarded.bytes(), GetParam()));
    // Where that is known, what is whole is given.
    const Outcome known = read_all(RingPage(guarded.bytes(), GetParam(), true));
    ASSERT_LE(known.records.size(), all.size());
    for (size_t i = 0; i < known.records.size(); ++i) EXPECT_EQ(known.records[i], all[i]);
    EXPECT_TRUE(size < used || known.records.size() == all.size());

    // And with a header that admits it: what is read is a prefix of the whole.
    const size_t header = 8 + GetParam().long_size;
    if (size < header) continue;
    auto shorter = maker;
    guarded.assign(Bytes(shorter.commit(size - header).page(used)).first(size));
    const Outcome outcome = read_all(RingPage(guarded.bytes(), GetParam()));
    ASSERT_LE(outcome.records.size(), all.size());
    for (size_t i = 0; i < outcome.records.size(); ++i) EXPECT_EQ(outcome.records[i], all[i]);
  }
}

TEST_P(RingPageTest, CutOffItGivesTheRecordsThatAreWhole) {
  const auto maker = at(1).data(1, as_bytes("1st!")).data(1, as_bytes("2nd!"));
  const auto whole_page = maker.page(8 + GetParam().long_size + maker.records_size());
  const Outcome outcome =
      read_all(RingPage(Bytes(whole_page).first(whole_page.size() - 1), GetParam(), true));
  EXPECT_EQ(outcome.records, (Records{{2, "1st!"}}));
}

TEST_P(RingPageTest, AnyBitMayFlip) {
  const std::string text(120, 'z');
  const auto maker = at(1)
                         .data(1, as_bytes("1st!"))
                         .time_extend(1000)
                         .long_data(1, as_bytes(text))
                         .discarded(5, 12)
                         .time_stamp(5000)
                         .data(1, as_bytes("last"))
                         .lost(9);
  auto bytes = maker.page(8 + 2 * GetParam().long_size + maker.records_size());
  test::GuardedBytes guarded(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    guarded.assign(bytes);
    read_all(RingPage(guarded.bytes(), GetParam()));
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

}  // namespace
}  // namespace strata::ftrace
