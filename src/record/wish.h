// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/abi.h"
#include "record/event_choice.h"
#include "record/session.h"

namespace strata::record {

// What is to be recorded of a machine, in the words of who asks for it: names, patterns, places.
// What they mean is found out on the machine that records, which need not be the one where they
// were said.
struct Wish {
  std::vector<std::string> profiles;
  std::string profiles_file;         // with more of them: its path, for messages
  std::string profiles_text;         // and what is in it
  std::vector<EventWish> events;     // each with the filters that followed it
  std::vector<std::string> filters;  // of all events
  std::vector<int32_t> processes;    // and what they start; none: all
  std::string cgroup;
  std::string container;
  std::vector<std::string> uprobes;
  std::vector<std::string> usdts;
  std::vector<std::string> kprobes;
  std::vector<std::string> presets;
  std::vector<std::string> counters;
  std::vector<std::string> read_at;
  std::vector<std::string> apps;
  std::vector<std::string> contexts;
  probe::abi::Policy policy = probe::abi::Policy::Discard;  // of programs' rings
  std::chrono::microseconds wait{};                         // Policy::Block: for so long at most
  bool state = true;
  std::string clock;
  uint64_t buffer_bytes = 0;
  std::chrono::milliseconds sync{5000};

  bool operator==(const Wish&) const = default;
};

// What this machine's kernel and programs have of it, as a part of the request. Where nothing in
// particular is wished for, that is the profile "system". What is wished for and cannot be had is
// an error.
Status resolve(const Wish& wish, SessionRequest& request);

}  // namespace strata::record
