// SPDX-License-Identifier: Apache-2.0
#include "kernel/ring_stats.h"

#include <algorithm>
#include <charconv>

namespace strata::kernel {
namespace {

// " 3012.747746" seconds, or "16677517057070" of whatever the clock counts.
std::optional<Ticks> parse_time(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const char* end = text.data() + text.size();
  uint64_t whole = 0;
  const auto [point, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc()) return std::nullopt;
  if (point == end) return Ticks{whole};
  uint64_t microseconds = 0;
  if (*point != '.' || end - point != 7 || std::from_chars(point + 1, end, microseconds).ptr != end)
    return std::nullopt;
  return Ticks{whole * 1'000'000'000 + microseconds * 1000};
}

}  // namespace

RingStats& RingStats::operator+=(const RingStats& other) {
  entries += other.entries;
  read += other.read;
  overrun += other.overrun;
  dropped += other.dropped;
  commit_overrun += other.commit_overrun;
  bytes += other.bytes;
  return *this;
}

RingStats parse_ring_stats(std::string_view text) {
  RingStats stats;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    if (line.starts_with("oldest event ts:")) stats.oldest = parse_time(line.substr(colon + 2));
    uint64_t value = 0;
    const char* last = line.data() + line.size();
    if (std::from_chars(line.data() + colon + 2, last, value).ec != std::errc()) continue;
    const std::string_view name = line.substr(0, colon);
    if (name == "entries") stats.entries = value;
    if (name == "read events") stats.read = value;
    if (name == "overrun") stats.overrun = value;
    if (name == "dropped events") stats.dropped = value;
    if (name == "commit overrun") stats.commit_overrun = value;
    if (name == "bytes") stats.bytes = value;
  }
  return stats;
}

}  // namespace strata::kernel
