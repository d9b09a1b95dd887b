// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/event_choice.h"

namespace strata::guest {

// What an agent may be asked to record: what `strata record` takes on its command line, in the
// same words, since only the guest knows its kernel's events and its programs. There is no command
// in it and no path to write to.
struct Request {
  std::vector<record::EventWish> events;  // -e and the -F behind each
  std::vector<std::string> filters;       // -F before any -e
  std::vector<std::string> profiles;      // --profile
  std::vector<std::string> uprobes;       // --uprobe
  std::vector<std::string> usdts;         // --usdt
  std::vector<std::string> kprobes;       // --kprobe
  std::vector<std::string> presets;       // --preset
  std::vector<std::string> counters;      // --counters
  std::vector<std::string> read_at;       // --read-at
  std::vector<std::string> apps;          // --app
  std::vector<std::string> contexts;      // --context
  std::vector<int32_t> processes;         // -p
  std::string clock;                      // --clock; empty: the best there is
  uint64_t buffer_bytes = 0;              // a CPU; 0: chosen
  bool state = true;                      // the state in which it starts
  uint64_t max_bytes = 0;                 // ends it; 0: no limit of the guest's
  std::chrono::milliseconds sync{5000};   // how old the last page may be
  bool compressed = false;                // --link-compress

  bool operator==(const Request&) const = default;
};

std::string to_json(const Request& request);
// From outside. What it does not know it does not pass over: a recording without something that was
// asked for is refused.
Result<Request> parse_request(std::string_view json);

}  // namespace strata::guest
