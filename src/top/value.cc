// SPDX-License-Identifier: Apache-2.0
#include "top/value.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/number_text.h"

namespace strata::top {
namespace {

// Three digits, however large.
std::string three_digits(double number) {
  if (number < 9.995) return fmt::format("{:.2f}", number);
  if (number < 99.95) return fmt::format("{:.1f}", number);
  return fmt::format("{:.0f}", number);
}

std::string number_text(const Value& value, Shown shown, const Scale& scale) {
  const double amount = amount_of(value, shown, scale).value_or(0);
  switch (shown) {
    case Shown::Share:
      if (scale.in_ns) return grouped(value.number);
      [[fallthrough]];
    case Shown::Percent:
      return value.number == 0 ? "0" : fmt::format("{:.1f}", amount);
    case Shown::Duration:
      return short_duration(value.number);
    case Shown::Ratio:
      return fmt::format("{:.2f}", amount);
    case Shown::Id:
      return fmt::format("{}", value.number);
    default:
      return short_number(amount);
  }
}

}  // namespace

std::optional<double> amount_of(const Value& value, Shown shown, const Scale& scale) {
  if (value.kind != Value::Kind::Number) return std::nullopt;
  const auto number = static_cast<double>(value.number);
  const double length = scale.length_ns == 0 ? 1 : static_cast<double>(scale.length_ns);
  switch (shown) {
    case Shown::Share:
      return number * 100 / length;
    case Shown::PerSecond:
    case Shown::BytesPerSecond:
      return number * 1e9 / length;
    case Shown::Percent:
      return number / 10;
    case Shown::Ratio:
      return number / 1000;
    default:
      return number;
  }
}

std::string text_of(const Value& value, Shown shown, const Scale& scale) {
  switch (value.kind) {
    case Value::Kind::Nothing:
      return {};
    case Value::Kind::Unknown:
      return "?";
    case Value::Kind::Text:
      return value.text;
    case Value::Kind::Number:
      break;
  }
  return (value.is_estimated ? "~" : "") + number_text(value, shown, scale);
}

std::string plain_text_of(const Value& value, Shown shown, const Scale& scale) {
  if (value.kind == Value::Kind::Text) return value.text;
  const std::optional<double> amount = amount_of(value, shown, scale);
  return amount ? fmt::format("{}", *amount) : std::string();
}

unsigned width_of(Shown shown, const Scale& scale) {
  switch (shown) {
    case Shown::Share:
      return scale.in_ns ? 14 : 6;  // "~1,000,000,000", "~100.0"
    case Shown::Id:
      return 7;
    case Shown::Duration:
      return 7;  // "~12.3us"
    default:
      return 6;  // "~12.3M"
  }
}

std::string short_number(double number) {
  constexpr std::string_view kPowers = "kMGTPE";
  if (number < 999.5)
    return number == static_cast<double>(static_cast<uint64_t>(number))
               ? fmt::format("{:.0f}", number)
               : three_digits(number);
  size_t power = 0;
  for (number /= 1000; number >= 999.5 && power + 1 < kPowers.size(); ++power) number /= 1000;
  return three_digits(number) + kPowers[power];
}

std::string short_duration(uint64_t ns) {
  struct Unit {
    double size;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  const auto number = static_cast<double>(ns);
  for (const Unit& unit : kUnits)
    if (number >= unit.size * 0.9995)
      return three_digits(number / unit.size) + std::string(unit.name);
  return fmt::format("{}ns", ns);
}

}  // namespace strata::top
