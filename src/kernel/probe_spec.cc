// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe_spec.h"

#include <charconv>

namespace strata::kernel {
namespace {

constexpr std::string_view kReturn = "%return";

Error fail(size_t column, std::string cause) { return Error{"", column, std::move(cause)}; }

// What compilers and assemblers put into names.
bool is_symbol(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

// "function+0x10" or "function%return", which begins in this column.
Status parse_function(std::string_view text, size_t column, ProbeSpec& spec) {
  size_t end = 0;
  while (end < text.size() && is_symbol(text[end])) ++end;
  spec.symbol = text.substr(0, end);
  if (spec.symbol.empty()) return fail(column, "expected the name of a function");
  if (spec.symbol[0] >= '0' && spec.symbol[0] <= '9')
    return fail(column, "a function is given by its name, not by a number");
  std::string_view rest = text.substr(end);
  column += end;
  if (rest.starts_with('+')) {
    int base = 10;
    size_t skip = 1;
    if (rest.substr(1).starts_with("0x")) {
      base = 16;
      skip = 3;
    }
    const char* stop = rest.data() + rest.size();
    const auto [stopped, problem] = std::from_chars(rest.data() + skip, stop, spec.offset, base);
    if (problem != std::errc()) return fail(column + 1, "expected a number of bytes");
    column += static_cast<size_t>(stopped - rest.data());
    rest.remove_prefix(static_cast<size_t>(stopped - rest.data()));
  }
  if (rest == kReturn) {
    if (spec.offset != 0)
      return fail(column, "a function returns as a whole: '%return' does not go with an offset");
    spec.at_return = true;
    return {};
  }
  if (!rest.empty())
    return fail(column, "expected '+' and a number of bytes, '%return', or the end");
  return {};
}

}  // namespace

std::string ProbeSpec::text() const {
  std::string place = symbol;
  if (offset != 0) place += "+" + std::to_string(offset);
  if (at_return) place += kReturn;
  if (kind == Kind::KernelFunction) return place;
  if (kind == Kind::Usdt) place = provider + ":" + place;
  return binary + ":" + place;
}

Result<ProbeSpec> parse_uprobe(std::string_view place) {
  ProbeSpec spec;
  // Paths may have colons in them, functions have not.
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos)
    return fail(place.size(), "expected ':' and a function's name, as in BINARY:FUNCTION");
  if (colon == 0) return fail(0, "expected the path or name of a program or library before ':'");
  spec.binary = place.substr(0, colon);
  if (Status status = parse_function(place.substr(colon + 1), colon + 1, spec); !status)
    return std::move(status).error();
  return spec;
}

Result<ProbeSpec> parse_usdt(std::string_view place) {
  ProbeSpec spec;
  spec.kind = ProbeSpec::Kind::Usdt;
  const size_t second = place.rfind(':');
  const size_t first =
      second == std::string_view::npos || second == 0 ? second : place.rfind(':', second - 1);
  if (second == std::string_view::npos || first == std::string_view::npos || first == second)
    return fail(place.size(), "expected BINARY:PROVIDER:NAME");
  if (first == 0) return fail(0, "expected the path or name of a program or library before ':'");
  if (second == first + 1) return fail(second, "expected the name of a provider before ':'");
  if (second + 1 == place.size()) return fail(place.size(), "expected the name of a probe");
  spec.binary = place.substr(0, first);
  spec.provider = place.substr(first + 1, second - first - 1);
  spec.symbol = place.substr(second + 1);
  return spec;
}

Result<ProbeSpec> parse_kprobe(std::string_view place) {
  ProbeSpec spec;
  spec.kind = ProbeSpec::Kind::KernelFunction;
  if (Status status = parse_function(place, 0, spec); !status) return std::move(status).error();
  return spec;
}

Status add_arguments(ProbeSpec& spec, std::string_view text) {
  if (spec.kind == ProbeSpec::Kind::Usdt) {
    const size_t column = text.find_first_not_of(" \t");
    if (column == std::string_view::npos) return {};
    return fail(column, "the arguments of a USDT probe stand in the program: none are given here");
  }
  Result<std::vector<ProbeArgument>> arguments = parse_probe_arguments(text, spec.view());
  if (!arguments) return std::move(arguments).error();
  spec.arguments = *std::move(arguments);
  return {};
}

}  // namespace strata::kernel
