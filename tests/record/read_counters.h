// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::record {

// One reading of the counters as strata reads it back from a host-counters/ folder.
struct Reading {
  uint32_t cpu = 0;
  uint64_t time = 0;  // of CLOCK_MONOTONIC_RAW
  int64_t epoch_ns = 0;
  std::string name;  // "counters_sched_switch"
  pid_t tid = 0;
  std::map<std::string, int64_t> fields;
};

struct Readings {
  std::vector<Reading> all;  // CPU by CPU, each in order
  uint64_t lost = 0;
  std::string problem;
};

Readings read_counters(const std::string& folder);

// Whether the switches of a CPU follow each other without a gap, from the last one before `begin`
// to the first one after `end`.
bool is_whole(const Readings& readings, uint32_t cpu, uint64_t begin, uint64_t end);

// How much `counter` went on while `thread` ran, in the time slices that reach into begin..end.
int64_t change_in_slices(const Readings& readings, pid_t thread, const std::string& counter,
                         uint64_t begin, uint64_t end);

}  // namespace strata::record
