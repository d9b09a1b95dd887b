// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace strata {
namespace {

// 2026-11-15 13:00:00 UTC, from date(1).
constexpr int64_t kBegin = 1'794'747'600'000'000'000;
constexpr int64_t kMinute = 60'000'000'000;

class TimeTextTest : public testing::Test {
 protected:
  TimeTextTest() {
    setenv("TZ", "UTC-1", 1);  // an hour ahead: 14:00 local
    tzset();
  }
  ~TimeTextTest() override {
    unsetenv("TZ");
    tzset();
  }
  TimeFrame frame{{kBegin}, {kBegin + 30 * kMinute}, true, {kBegin + 60 * kMinute}};
  TimeFrame boot{{2'084'021'443'000}, {2'099'000'000'000}, false, {kBegin}};

  int64_t at(std::string_view text, Side side = Side::Begin) { return at(text, frame, side); }
  static int64_t at(std::string_view text, const TimeFrame& in, Side side = Side::Begin) {
    Result<Nanoseconds> time = resolve_time(text, in, side);
    EXPECT_TRUE(time) << text << ": " << (time ? "" : time.error().text());
    return time ? time->count : -1;
  }
  std::string why(std::string_view text) { return why(text, frame); }
  static std::string why(std::string_view text, const TimeFrame& in) {
    Result<Nanoseconds> time = resolve_time(text, in, Side::Begin);
    EXPECT_FALSE(time) << text;
    return time ? "" : time.error().text();
  }
};

TEST_F(TimeTextTest, FromTheStartAndTheEnd) {
  EXPECT_EQ(at("+30s"), kBegin + 30'000'000'000);
  EXPECT_EQ(at("+1m30s"), kBegin + 90'000'000'000);
  EXPECT_EQ(at("+1.5ms"), kBegin + 1'500'000);
  EXPECT_EQ(at("-10s"), frame.end.count - 10'000'000'000);
  EXPECT_EQ(at("-0s"), frame.end.count);
}

TEST_F(TimeTextTest, TimeOfDay) {
  EXPECT_EQ(at("@14:10"), kBegin + 10 * kMinute);
  EXPECT_EQ(at("@14:10:05.25"), kBegin + 10 * kMinute + 5'250'000'000);
  EXPECT_EQ(at("@2026-11-15 14:10:05"), kBegin + 10 * kMinute + 5'000'000'000);
  EXPECT_EQ(at("@2026-11-15T14:10:05"), kBegin + 10 * kMinute + 5'000'000'000);
  EXPECT_EQ(at("@2026-11-15"), kBegin - 14 * 60 * kMinute);
}

TEST_F(TimeTextTest, TimeOfDayPastMidnight) {
  TimeFrame night{{kBegin + 590 * kMinute}, {kBegin + 620 * kMinute}, true, {0}};  // 23:50 to 0:20
  EXPECT_EQ(at("@23:55", night), kBegin + 595 * kMinute);
  EXPECT_EQ(at("@00:10", night), kBegin + 610 * kMinute);
}

TEST_F(TimeTextTest, Ago) { EXPECT_EQ(at("3m ago"), frame.now.count - 3 * kMinute); }

TEST_F(TimeTextTest, Raw) {
  EXPECT_EQ(at("2084021443000", boot), 2'084'021'443'000);
  // What is printed as 2084.021443 may have been up to half a microsecond away.
  EXPECT_EQ(at("2084.021443", boot, Side::Begin), 2'084'021'442'500);
  EXPECT_EQ(at("2084.021443", boot, Side::End), 2'084'021'443'499);
  EXPECT_EQ(at("2084.021443123", boot), 2'084'021'443'123);
}

TEST_F(TimeTextTest, SaysWhyNot) {
  EXPECT_NE(why("30s").find("+30s"), std::string::npos);
  EXPECT_NE(why("+30").find("unit"), std::string::npos);
  EXPECT_NE(why("").find("not a time"), std::string::npos);
  EXPECT_NE(why("@14:10", boot).find("does not tell the time of day"), std::string::npos);
  EXPECT_NE(why("3m ago", boot).find("does not tell the time of day"), std::string::npos);
  EXPECT_NE(why("@25:00").find("14:30"), std::string::npos);
  EXPECT_NE(why("@2026-13-01").find("2026-11-15"), std::string::npos);
  EXPECT_NE(why("99999999999999999999999").find("not a time"), std::string::npos);
  EXPECT_NE(why("+9999999999999h").find("out of range"), std::string::npos);
  EXPECT_NE(why("+9223372036854775807ns").find("out of range"), std::string::npos);
}

TEST_F(TimeTextTest, Durations) {
  EXPECT_EQ(parse_duration("1d2h3m4s5ms6us7ns")->count, 93'784'005'006'007);
  EXPECT_EQ(parse_duration("0.5us")->count, 500);
  EXPECT_FALSE(parse_duration("1"));
  EXPECT_FALSE(parse_duration("1 fortnight"));
  EXPECT_EQ(duration_text({1'500'000'000}), "1.500 s");
  EXPECT_EQ(duration_text({250'000}), "250.0 us");
  EXPECT_EQ(duration_text({17}), "17 ns");
}

TEST_F(TimeTextTest, RawTimesAreRoundedAsTraceCmdDoes) {
  EXPECT_EQ(raw_time_text({2'084'021'443'499}), "2084.021443");
  EXPECT_EQ(raw_time_text({2'084'021'443'500}), "2084.021444");
  EXPECT_EQ(raw_time_text({999'999'999}), "1.000000");
}

TEST_F(TimeTextTest, WallTimes) {
  EXPECT_EQ(WallClock(false).text({kBegin + 5'000'000'007}), "14:00:05.000000007");
  WallClock dated(true);
  EXPECT_EQ(dated.text({kBegin + 5'000'000'007}), "2026-11-15 14:00:05.000000007");
  EXPECT_EQ(dated.text({kBegin + 5'999'999'999}), "2026-11-15 14:00:05.999999999");
  EXPECT_EQ(dated.text({kBegin + 6'000'000'000}), "2026-11-15 14:00:06.000000000");
  EXPECT_EQ(dated.text({-1}), "1970-01-01 00:59:59.999999999");
  EXPECT_FALSE(WallClock::needs_date({kBegin}, {kBegin}, {kBegin}));
  EXPECT_TRUE(WallClock::needs_date({kBegin - 15 * 60 * kMinute}, {kBegin}, {kBegin}));
}

}  // namespace
}  // namespace strata
