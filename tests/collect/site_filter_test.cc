// SPDX-License-Identifier: Apache-2.0
//
// Filters as the predicates they become, run by the machine that programs run them by.
#include "collect/site_filter.h"

#include <gtest/gtest.h>

#include <limits>

#include "fields_of.h"
#include "probe/predicate.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

class SiteFilter : public testing::Test {
 protected:
  std::vector<std::byte> predicate(const std::string& text) const {
    Result<trace::FilterTree> filter = trace::parse_filter(text);
    EXPECT_TRUE(filter) << text;
    const std::vector<trace::FilterTree> filters = {*std::move(filter)};
    Result<std::vector<std::byte>> made = collect::make_predicate(filters, site_);
    EXPECT_TRUE(made) << text;
    return *std::move(made);
  }
  bool passes(const std::string& text) const {
    const std::vector<std::byte> made = predicate(text);
    return probe::passes({made.data(), made.size()}, {fields_.data(), fields_.size()});
  }

  const collect::Site site_ = order_site();
  std::vector<std::byte> fields_ = order_fields({.size = 4096,
                                                 .change = -5,
                                                 .customer = "mysql-7",
                                                 .total = 1.5F,
                                                 .items = {1, 2},
                                                 .note = "late",
                                                 .big = std::numeric_limits<uint64_t>::max()});
};

TEST_F(SiteFilter, IntegersAsWhatTheyAre) {
  EXPECT_TRUE(passes("size == 4096"));
  EXPECT_FALSE(passes("size > 4096"));
  EXPECT_TRUE(passes("size >= 0x1000"));
  EXPECT_TRUE(passes("change < 0"));
  EXPECT_TRUE(passes("change == -5"));
  EXPECT_FALSE(passes("change > 4000000000"));
  EXPECT_TRUE(passes("size & 0x1001"));
  EXPECT_FALSE(passes("size & 1"));
  EXPECT_FALSE(passes("size ~ 4*"));
}

TEST_F(SiteFilter, NumbersThatTheFieldCannotHaveDecideForAll) {
  EXPECT_TRUE(passes("size > -1"));
  EXPECT_TRUE(passes("size != -1"));
  EXPECT_FALSE(passes("size < -1"));
  EXPECT_TRUE(passes("change < 18446744073709551615"));
  EXPECT_TRUE(collect::drops_everything(predicate("size == -1")));
}

TEST_F(SiteFilter, FieldsBehindWhatVaries) {
  EXPECT_TRUE(passes("total == 1.5"));
  EXPECT_TRUE(passes("big == 18446744073709551615"));
  EXPECT_TRUE(passes("big > 9223372036854775807"));
  EXPECT_TRUE(passes("note == late"));
  // Back to a field before one that was walked to.
  EXPECT_TRUE(passes("note == late and customer == mysql-7 and size == 4096"));
}

TEST_F(SiteFilter, Texts) {
  EXPECT_TRUE(passes("customer == 'mysql-7'"));
  EXPECT_FALSE(passes("customer == mysql"));
  EXPECT_TRUE(passes("customer != mysql"));
  EXPECT_TRUE(passes("customer ~ 'mysql*'"));
  EXPECT_TRUE(passes("customer ~ 'm?sql-[0-9]'"));
  EXPECT_FALSE(passes("customer ~ 'm?sql-[!0-9]'"));
  EXPECT_FALSE(passes("customer > 5"));
  EXPECT_FALSE(passes("customer == 5"));
}

TEST_F(SiteFilter, AndOrNot) {
  EXPECT_TRUE(passes("size == 1 or note == late and change == -5"));
  EXPECT_FALSE(passes("(size == 1 or note == late) and change == 5"));
  EXPECT_TRUE(passes("not (size == 1 and note == late)"));
  EXPECT_FALSE(passes("!(size == 4096 || note == late)"));
}

TEST_F(SiteFilter, SetsOfCpus) {
  EXPECT_TRUE(passes("size & CPUS{1-3,4000-5000}"));
  EXPECT_FALSE(passes("size & CPUS{1-4095}"));
  EXPECT_TRUE(passes("size == CPUS{4096}"));
  EXPECT_TRUE(passes("size != CPUS{4096-4097}"));
}

TEST_F(SiteFilter, NamesOfTheEventAreKnownAtOnce) {
  EXPECT_TRUE(passes("event == order and system == shop"));
  EXPECT_TRUE(collect::drops_everything(predicate("event != order")));
  EXPECT_FALSE(collect::drops_everything(predicate("event == order and size == 1")));
}

TEST_F(SiteFilter, AFieldThatIsNotThereFulfilsNothing) {
  EXPECT_FALSE(passes("other == 1"));
  EXPECT_FALSE(passes("other != 1"));
  EXPECT_TRUE(passes("not other == 1"));
  EXPECT_FALSE(passes("items == 1"));
  EXPECT_FALSE(collect::has_field(site_, "other"));
  EXPECT_TRUE(collect::has_field(site_, "items"));
}

TEST_F(SiteFilter, WhatIsNotANumberIsOnlyUnequal) {
  fields_ = order_fields({.total = std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(passes("total != 1"));
  EXPECT_FALSE(passes("total == 1"));
  EXPECT_FALSE(passes("total <= 1"));
}

TEST_F(SiteFilter, ARecordThatIsCutShortPassesForOthersToJudge) {
  for (size_t size = 0; size < fields_.size(); ++size) {
    const std::vector<std::byte> made = predicate("big == 1");
    EXPECT_TRUE(probe::passes({made.data(), made.size()}, {fields_.data(), size})) << size;
  }
  EXPECT_FALSE(passes("big == 1"));
}

TEST_F(SiteFilter, ASpansFieldsLieBehindItsBegin) {
  collect::Site span = order_site();
  span.kind = abi::SiteKind::Span;
  const std::vector<trace::FilterTree> filters = {*trace::parse_filter("size == 4096")};
  const std::vector<std::byte> made = *collect::make_predicate(filters, span);
  std::vector<std::byte> with_begin(8);
  with_begin.insert(with_begin.end(), fields_.begin(), fields_.end());
  EXPECT_TRUE(probe::passes({made.data(), made.size()}, {with_begin.data(), with_begin.size()}));
  EXPECT_FALSE(probe::passes({made.data(), made.size()}, {fields_.data(), fields_.size()}));
}

TEST_F(SiteFilter, ASpansDurationIsKnownToItsReaderOnly) {
  collect::Site span = order_site();
  span.kind = abi::SiteKind::Span;
  const std::vector<trace::FilterTree> filters = {
      *trace::parse_filter("change == 0 and duration_ns > 1000")};
  const std::vector<std::byte> made = *collect::make_predicate(filters, span);
  std::vector<std::byte> record(64);
  const probe::View fields{record.data(), record.size()};
  const uint64_t is_short = 1000;
  const uint64_t is_long = 1001;
  EXPECT_TRUE(probe::passes({made.data(), made.size()}, fields, &is_long));
  EXPECT_FALSE(probe::passes({made.data(), made.size()}, fields, &is_short));
  EXPECT_TRUE(probe::passes({made.data(), made.size()}, fields)) << "in the program";
  record[12] = std::byte{1};
  EXPECT_FALSE(probe::passes({made.data(), made.size()}, fields)) << "in the program";
  EXPECT_FALSE(collect::has_field(site_, "duration_ns"));
}

TEST_F(SiteFilter, MoreComparisonsThanThereAreNumbersForAreRefused) {
  std::string text = "size == 0";
  for (int i = 1; i < 254; ++i) text += " or size == " + std::to_string(i);
  const auto make = [&] {
    return collect::make_predicate(std::vector<trace::FilterTree>{*trace::parse_filter(text)},
                                   site_);
  };
  EXPECT_TRUE(make());
  EXPECT_TRUE(passes(text + "96") == false);
  text += " or size == 4096";
  EXPECT_FALSE(make());
}

TEST(Predicate, CannotLoop) {
  std::vector<std::byte> bytes(sizeof(abi::Predicate) + 2 * sizeof(abi::Test));
  const abi::Predicate head{1, 2, 0, 0};
  const abi::Test back{abi::Load::U8, abi::kEqual, 1, 1, 0, 0, 0};
  std::memcpy(bytes.data(), &head, sizeof head);
  for (size_t i = 0; i < 2; ++i)
    std::memcpy(bytes.data() + sizeof head + i * sizeof back, &back, sizeof back);
  const std::byte field{0};
  EXPECT_TRUE(probe::passes({bytes.data(), bytes.size()}, {&field, 1}));
}

}  // namespace
}  // namespace strata::test
