// SPDX-License-Identifier: Apache-2.0
#include "ftrace/number_text.h"

#include <algorithm>

namespace strata::ftrace {
namespace {

constexpr size_t kMaxDigits = 24;  // 64 bits in octal are 22
constexpr int32_t kMaxWidth = TextProgram::kMaxText;

int32_t width_of(const Conversion& c, int32_t star) {
  return std::max(0, c.star == Conversion::Star::Width ? star : c.width);
}
int32_t precision_of(const Conversion& c, int32_t star) {
  return c.star == Conversion::Star::Precision ? star : c.precision;
}

int32_t take_number(std::string_view& text) {
  int32_t number = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
    number = std::min(number * 10 + (text[0] - '0'), kMaxWidth);
  return number;
}

uint64_t cut(uint64_t value, uint8_t bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << 8 * bytes) - 1);
}

char* write_octal(char* out, uint64_t value) {
  char digits[kMaxDigits];
  char* begin = digits + kMaxDigits;
  do {
    *--begin = static_cast<char>('0' + (value & 7));
    value >>= 3;
  } while (value != 0);
  return std::copy(begin, digits + kMaxDigits, out);
}

}  // namespace

bool read_conversion(std::string_view text, Conversion& c) {
  const auto take = [&](char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
  };
  while (true) {
    if (take('-'))
      c.left = true;
    else if (take('#'))
      c.alternate = true;
    else if (take('0'))
      c.zeros = true;
    else
      break;
  }
  if (take('*'))
    c.star = Conversion::Star::Width;
  else
    c.width = take_number(text);
  if (take('.')) {
    c.precision = 0;
    if (take('*')) {
      if (c.star != Conversion::Star::None) return false;
      c.star = Conversion::Star::Precision;
    } else {
      c.precision = take_number(text);
    }
  }
  int longs = 0;
  while (text.size() > 1) {
    if (take('h'))
      --longs;
    else if (take('l'))
      ++longs;
    else if (take('L'))
      longs = 2;
    else if (take('z') || take('Z'))
      longs = 1;
    else
      return false;
  }
  if (text.size() != 1 || longs < -2 || longs > 2) return false;
  c.letter = text[0] == 'i' ? 'd' : text[0];
  c.bytes = longs == -2 ? 1 : longs == -1 ? 2 : longs == 0 ? 4 : 8;
  return true;
}

size_t integer_room(const Conversion& c, int32_t star) {
  return kMaxDigits + static_cast<size_t>(width_of(c, star)) +
         static_cast<size_t>(std::max(0, precision_of(c, star)));
}

char* write_integer(char* out, const Conversion& c, uint64_t value, int32_t star) {
  const auto width = static_cast<size_t>(width_of(c, star));
  const int32_t precision = precision_of(c, star);
  value = cut(value, c.bytes);
  bool negative = false;
  if (c.letter == 'd' && (value >> (8 * c.bytes - 1) & 1) != 0) {
    negative = true;
    value = cut(0 - value, c.bytes);
  }

  char digits[kMaxDigits];
  char* end = digits;
  if (value != 0 || precision != 0) {
    if (c.letter == 'x' || c.letter == 'X')
      end = write_hex(digits, value);
    else
      end = c.letter == 'o' ? write_octal(digits, value) : write_decimal(digits, value);
  }
  if (c.letter == 'X')
    std::transform(digits, end, digits,
                   [](char d) { return d >= 'a' ? static_cast<char>(d - 'a' + 'A') : d; });

  char prefix[2];
  size_t prefix_size = 0;
  if (negative) prefix[prefix_size++] = '-';
  if (c.alternate && value != 0 && (c.letter == 'x' || c.letter == 'X')) {
    prefix[0] = '0';
    prefix[1] = c.letter;
    prefix_size = 2;
  }
  const auto count = static_cast<size_t>(end - digits);
  size_t zeros = 0;
  if (precision > 0 && static_cast<size_t>(precision) > count)
    zeros = static_cast<size_t>(precision) - count;
  if (c.alternate && c.letter == 'o' && zeros == 0 && (count == 0 || digits[0] != '0')) zeros = 1;
  size_t fill = prefix_size + zeros + count;
  fill = width > fill ? width - fill : 0;
  if (c.zeros && !c.left && precision < 0) zeros += std::exchange(fill, 0);

  if (!c.left) out = std::fill_n(out, fill, ' ');
  out = std::copy_n(prefix, prefix_size, out);
  out = std::fill_n(out, zeros, '0');
  out = std::copy(digits, end, out);
  return c.left ? std::fill_n(out, fill, ' ') : out;
}

}  // namespace strata::ftrace
