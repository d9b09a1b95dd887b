// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "clock/causal_fit.h"
#include "trace/trace.h"

namespace strata::clock {

// Whatever a guest's CPU does, it does between an entry into the guest and the exit after it, on
// the host's thread that is this CPU.
struct VmWindow {
  int64_t entry = 0;
  int64_t exit = 0;
};

// What a host's traces tell of its guests, a bounded part of long ones.
struct HostWindows {
  std::map<Tid, std::vector<VmWindow>> vcpus;
  std::vector<int64_t> injections;  // when a guest was given an interrupt
  std::vector<Error> problems;
};
HostWindows read_host(std::span<const std::unique_ptr<trace::Trace>> host);

// When the CPUs of a guest did anything that its traces tell.
struct GuestMoments {
  std::map<CpuId, std::vector<int64_t>> cpus;
  std::vector<int64_t> awakenings;  // when one did after a while in which it did nothing
  std::vector<Error> problems;
};
GuestMoments read_guest(std::span<const std::unique_ptr<trace::Trace>> guest);

// Whether these are of a host that tells of its guests' entries and exits.
bool tells_windows(std::span<const std::unique_ptr<trace::Trace>> traces);

// Which way a fit leads.
enum class Towards : uint8_t { Host, Guest };

struct WindowFit {
  uint64_t pairs = 0;  // an entry or an exit of the host and an event of the guest
  std::vector<Stretch> stretches;
};

// How the times of the two lead to each other, if they belong together.
//
// By how much the clocks are apart is found by voting: a guest's CPU that did nothing is woken up
// by an interrupt, so of the times between all injections and all awakenings one comes about again
// and again. It is believed where nearly all of the guest's events then lie within a window, and
// with no other far fewer do. From there on the two are followed along: each event is in one of the
// windows that are near enough, so it came after the first one's entry and before the last one's
// exit. Where it lies between two of them all the same, the clocks did not go straight: the bound
// is larger by as much.
Result<WindowFit> match_windows(const HostWindows& host, const GuestMoments& guest,
                                Towards towards);

}  // namespace strata::clock
