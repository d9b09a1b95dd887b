// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "state/engine.h"

namespace strata::state {

// What statistics can be told apart by.
enum class StatKey : uint8_t {
  Machine,
  Cpu,
  Pid,
  Tid,
  Comm,
  Vm,
  Vcpu,
  User,
  Container,
  Cgroup,
  Mode,
  Submode,
  Event,
  Count_,
};
constexpr auto kStatKeys = static_cast<size_t>(StatKey::Count_);
std::string_view name_of(StatKey key);
std::optional<StatKey> stat_key(std::string_view name);

// A line of statistics. What it was not told apart by, or is not known, is empty.
struct StatRow {
  std::array<std::string, kStatKeys> keys;
  uint64_t count = 0;          // of events
  uint64_t cpu_ns = 0;         // on top
  uint64_t elapsed_ns = 0;     // from entering to leaving, running or not
  uint64_t cumulative_ns = 0;  // on a CPU, nested modes included
  // Where performance counters were recorded: what they counted, by their names.
  std::map<std::string, uint64_t> counters = {};
  // Of rows that are told apart by nothing finer than tasks: how long these waited for a CPU.
  std::optional<uint64_t> waiting_ns = std::nullopt;
  // Of rows that are told apart by cgroup (and machine): how long that was throttled, where it has
  // a CPU limit. It is the cgroup's own and no sum of its tasks' waiting.
  std::optional<uint64_t> throttled_ns = std::nullopt;

  const std::string& operator[](StatKey key) const { return keys[static_cast<size_t>(key)]; }
  std::string& operator[](StatKey key) { return keys[static_cast<size_t>(key)]; }
};

// The rows of an engine's statistics, told apart by `by` and nothing else, the most CPU time first.
// Told apart by event, rows of events have counts alone, and times are in rows without an event:
// each time and each event is in one row, whatever they are told apart by.
//
// `wanted`: which are counted at all, from rows that have all their keys; null: all.
using StatFilter = std::function<bool(const StatRow&)>;
std::vector<StatRow> stat_rows(const Engine& engine, const std::string& machine,
                               std::span<const StatKey> by, const StatFilter& wanted = nullptr);

}  // namespace strata::state
