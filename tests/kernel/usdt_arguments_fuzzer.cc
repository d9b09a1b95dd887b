// SPDX-License-Identifier: Apache-2.0
//
// Up to the first NUL the arguments of a USDT probe, as a program's note has them; behind it those
// of a probe, as a user gives them. Neither may get more than one line, or another argument, to the
// kernel.
#include <cstdlib>

#include "kernel/probe_argument.h"
#include "kernel/usdt_arguments.h"

namespace {

void expect_one_word(const strata::kernel::ProbeArgument& argument) {
  if (!strata::kernel::is_identifier(argument.name)) abort();
  for (const char c : argument.text())
    if (c <= ' ' || c == '#' || c == 127) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::kernel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t nul = std::min(text.find('\0'), text.size());
  const auto variable = [](std::string_view name) -> std::optional<uint64_t> {
    if (name.size() % 2 == 0) return std::nullopt;
    return name.size() << 12;
  };
  for (const ProbeArgument& argument :
       decode_usdt_arguments(text.substr(0, nul), variable).arguments)
    expect_one_word(argument);

  const std::string_view rest = text.substr(std::min(nul + 1, text.size()));
  for (const ProbeView view :
       {ProbeView{}, ProbeView{true, false, true}, ProbeView{false, true, false}}) {
    const auto arguments = parse_probe_arguments(rest, view);
    if (!arguments) {
      if (arguments.error().cause.empty() || arguments.error().offset.value_or(0) > rest.size())
        abort();
      continue;
    }
    for (const ProbeArgument& argument : *arguments) expect_one_word(argument);
  }
  return 0;
}
