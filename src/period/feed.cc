// SPDX-License-Identifier: Apache-2.0
#include "period/feed.h"

#include <algorithm>
#include <array>

namespace strata::period {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Group::Count_)> kNames = {
    "cpu", "calls", "io", "vm", "perf", "latency", "totals"};

}  // namespace

std::string_view name_of(Group group) { return kNames[static_cast<size_t>(group)]; }

Result<Groups> groups_from(std::string_view names) {
  if (names == "all") return Groups::all();
  Groups groups = Groups::least();
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end())
      return Error{{},
                   std::nullopt,
                   "'" + std::string(name) +
                       "' is none of cpu, calls, io, vm, perf, latency, totals, which may be "
                       "several with commas between them, nor all"};
    groups.add(static_cast<Group>(found - kNames.begin()));
    begin = end + 1;
  }
  return groups;
}

}  // namespace strata::period
