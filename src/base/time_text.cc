// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>

#include "base/text_buffer.h"

namespace strata {

const std::string_view kTimeHelp =
    "A TIME is +30s (after the first event), -10s (before the last one), @14:30:05.25 or\n"
    "'@2026-11-15 14:30' (local time), '3m ago', 2084.021443 (seconds, as raw times are shown)\n"
    "or 2084021443000 (nanoseconds). Units are ns us ms s m h d.";

namespace {

__extension__ typedef __int128 Wide;  // -Wpedantic knows no 128-bit integers
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 24 * 3600 * kSecond;

Error fail(std::string_view text, std::string why) {
  return Error{"", std::nullopt, "'" + std::string(text) + "' is not a time: " + std::move(why)};
}

std::optional<Nanoseconds> narrow(Wide value) {
  if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return Nanoseconds{static_cast<int64_t>(value)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number as `whole` plus `fraction` / 10^18 (further digits are dropped). False where
// there is none.
struct Decimal {
  uint64_t whole = 0;
  uint64_t fraction = 0;
  int fraction_digits = 0;  // as written; -1 without a point
};
bool take_decimal(std::string_view& text, Decimal& out) {
  out = Decimal{0, 0, -1};
  size_t at = 0;
  bool any = false;
  for (; at < text.size() && is_digit(text[at]); ++at, any = true)
    if (__builtin_mul_overflow(out.whole, 10u, &out.whole) ||
        __builtin_add_overflow(out.whole, static_cast<uint64_t>(text[at] - '0'), &out.whole))
      return false;
  if (at < text.size() && text[at] == '.') {
    out.fraction_digits = 0;
    uint64_t place = 100'000'000'000'000'000u;
    for (++at; at < text.size() && is_digit(text[at]); ++at, ++out.fraction_digits, any = true) {
      out.fraction += place * static_cast<uint64_t>(text[at] - '0');
      place /= 10;
    }
  }
  if (any) text.remove_prefix(at);
  return any;
}

std::optional<Nanoseconds> scaled(const Decimal& number, int64_t unit) {
  constexpr Wide kFraction = Wide{1'000'000'000} * 1'000'000'000;
  return narrow(Wide{number.whole} * unit + Wide{number.fraction} * unit / kFraction);
}

bool take_number(std::string_view& text, size_t most_digits, int& out) {
  size_t digits = 0;
  out = 0;
  while (digits < most_digits && digits < text.size() && is_digit(text[digits]))
    out = out * 10 + (text[digits++] - '0');
  text.remove_prefix(digits);
  return digits > 0;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::tm local_time(int64_t seconds) {
  std::tm parts{};
  auto at = static_cast<time_t>(seconds);
  localtime_r(&at, &parts);
  return parts;
}

int64_t floor_seconds(Nanoseconds time) {
  int64_t seconds = time.count / kSecond;
  return time.count % kSecond < 0 ? seconds - 1 : seconds;
}

// The instant of a local date and time.
std::optional<Nanoseconds> instant(std::tm parts, uint64_t nanoseconds) {
  parts.tm_isdst = -1;
  time_t seconds = std::mktime(&parts);
  return narrow(Wide{seconds} * kSecond + static_cast<Wide>(nanoseconds));
}

Result<Nanoseconds> resolve_wall(std::string_view whole, const TimeFrame& frame) {
  std::string_view text = whole.substr(1);
  if (!frame.since_epoch)
    return fail(whole, "this trace does not tell the time of day; use +30s, -10s or a raw time");
  std::tm parts = local_time(floor_seconds(frame.begin));
  bool dated = text.size() > 4 && text[4] == '-';
  if (dated) {
    int year = 0;
    if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, parts.tm_mon) ||
        !take(text, '-') || !take_number(text, 2, parts.tm_mday) || parts.tm_mon < 1 ||
        parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31)
      return fail(whole, "a date is written as 2026-11-15");
    parts.tm_year = year - 1900;
    parts.tm_mon -= 1;
    if (!take(text, ' ')) take(text, 'T');
  }
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  Decimal seconds;
  if (!(dated && text.empty())) {
    bool good = take_number(text, 2, parts.tm_hour) && take(text, ':') &&
                take_number(text, 2, parts.tm_min);
    if (good && take(text, ':')) good = take_decimal(text, seconds);
    if (!good || !text.empty() || parts.tm_hour > 24 || parts.tm_min > 59 || seconds.whole > 60)
      return fail(whole, "a time of day is written as 14:30 or 14:30:05.25");
  }
  parts.tm_sec = static_cast<int>(seconds.whole);
  uint64_t nanoseconds = seconds.fraction / 1'000'000'000;

  std::optional<Nanoseconds> time = instant(parts, nanoseconds);
  // A trace that goes past midnight: a time of day before its first event is the next day's, where
  // the trace reaches as far.
  if (time && !dated && *time < frame.begin) {
    ++parts.tm_mday;
    std::optional<Nanoseconds> next = instant(parts, nanoseconds);
    if (next && *next <= frame.end) time = next;
  }
  if (!time) return fail(whole, "it is out of range");
  return *time;
}

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view whole) {
  struct Unit {
    std::string_view name;
    int64_t nanoseconds;
  };
  static constexpr Unit kUnits[] = {{"ns", 1},      {"us", 1000},        {"ms", 1'000'000},
                                    {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3600 * kSecond},
                                    {"d", kDay}};
  auto bad = [&](std::string why) {
    return Error{"", std::nullopt, "'" + std::string(whole) + "' is not a duration: " + why};
  };
  std::string_view text = whole;
  Wide sum = 0;
  if (text.empty()) return bad("a number and a unit are wanted, as in 30s");
  while (!text.empty()) {
    Decimal number;
    if (!take_decimal(text, number)) return bad("a number and a unit are wanted, as in 30s");
    while (take(text, ' ')) {
    }
    size_t length = 0;
    while (length < text.size() && text[length] >= 'a' && text[length] <= 'z') ++length;
    std::string_view name = text.substr(0, length);
    text.remove_prefix(length);
    while (take(text, ' ')) {
    }
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits)
      if (candidate.name == name) unit = &candidate;
    if (!unit) return bad("its unit is to be one of ns us ms s m h d");
    std::optional<Nanoseconds> part = scaled(number, unit->nanoseconds);
    if (!part) return bad("it is out of range");
    sum += part->count;
    if (!narrow(sum)) return bad("it is out of range");
  }
  return *narrow(sum);
}

Result<Nanoseconds> resolve_time(std::string_view text, const TimeFrame& frame, Side side) {
  auto moved = [&](Nanoseconds from, std::string_view by, int sign) -> Result<Nanoseconds> {
    Result<Nanoseconds> duration = parse_duration(by);
    if (!duration) return duration;
    std::optional<Nanoseconds> time = narrow(Wide{from.count} + Wide{sign} * duration->count);
    if (!time) return fail(text, "it is out of range");
    return *time;
  };
  if (text.starts_with('@')) return resolve_wall(text, frame);
  if (text.starts_with('+')) return moved(frame.begin, text.substr(1), 1);
  if (text.starts_with('-')) return moved(frame.end, text.substr(1), -1);
  if (text.ends_with(" ago")) {
    if (!frame.since_epoch)
      return fail(text, "this trace does not tell the time of day; use +30s, -10s or a raw time");
    return moved(frame.now, text.substr(0, text.size() - 4), -1);
  }

  std::string_view rest = text;
  Decimal number;
  if (!take_decimal(rest, number) || !rest.empty()) {
    if (!text.empty() && is_digit(text[0]) && parse_duration(text))
      return fail(text, "say +" + std::string(text) + " (after the first event) or -" +
                            std::string(text) + " (before the last one)");
    return fail(text, "say +30s, -10s, @14:30:05, '3m ago', seconds (2084.021443) or nanoseconds");
  }
  std::optional<Nanoseconds> time = scaled(number, number.fraction_digits < 0 ? 1 : kSecond);
  if (!time) return fail(text, "it is out of range");
  if (number.fraction_digits >= 0 && number.fraction_digits < 9) {
    int64_t half = kSecond / 2;
    for (int i = 0; i < number.fraction_digits; ++i) half /= 10;
    time = narrow(Wide{time->count} + (side == Side::Begin ? -half : half - 1));
    if (!time) return fail(text, "it is out of range");
  }
  return *time;
}

std::string duration_text(Nanoseconds duration) {
  double value = static_cast<double>(duration.count);
  const char* sign = value < 0 ? "-" : "";
  if (value < 0) value = -value;
  struct Unit {
    const char* name;
    double size;
  };
  static constexpr Unit kUnits[] = {{"d", 86400e9}, {"h", 3600e9}, {"min", 60e9},
                                    {"s", 1e9},     {"ms", 1e6},   {"us", 1e3}};
  char out[64];
  for (const Unit& unit : kUnits) {
    if (value < unit.size) continue;
    double scaled_value = value / unit.size;
    int decimals = scaled_value < 10 ? 3 : scaled_value < 100 ? 2 : 1;
    std::snprintf(out, sizeof out, "%s%.*f %s", sign, decimals, scaled_value, unit.name);
    return out;
  }
  std::snprintf(out, sizeof out, "%s%.0f ns", sign, value);
  return out;
}

std::string raw_time_text(Nanoseconds time) {
  const uint64_t microseconds = (static_cast<uint64_t>(time.count) + 500) / 1000;
  char out[48];
  char* end = write_decimal(out, microseconds / 1'000'000);
  *end++ = '.';
  end = write_padded(end, microseconds % 1'000'000, 6);
  return std::string(out, end);
}

char* WallClock::write(char* out, Nanoseconds since_epoch) {
  const int64_t second = floor_seconds(since_epoch);
  if (!valid_ || second != second_) {
    std::tm parts = local_time(second);
    kept_size_ = static_cast<unsigned>(std::strftime(
        kept_, sizeof kept_, with_date_ ? "%Y-%m-%d %H:%M:%S." : "%H:%M:%S.", &parts));
    second_ = second;
    valid_ = true;
  }
  std::memcpy(out, kept_, sizeof kept_);
  return write_padded(out + kept_size_, static_cast<uint64_t>(since_epoch.count - second * kSecond),
                      9);
}

std::string WallClock::text(Nanoseconds since_epoch) {
  char out[40];
  return std::string(out, write(out, since_epoch));
}

bool WallClock::needs_date(Nanoseconds begin, Nanoseconds end, Nanoseconds now) {
  auto day = [](Nanoseconds time) {
    std::tm parts = local_time(floor_seconds(time));
    return std::pair(parts.tm_year, parts.tm_yday);
  };
  return day(begin) != day(now) || day(end) != day(now);
}

Nanoseconds now_since_epoch() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds{now.tv_sec * kSecond + now.tv_nsec};
}

}  // namespace strata
