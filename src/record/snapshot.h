// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "record/flight.h"
#include "recording/description.h"

namespace strata::record {

struct SnapshotRequest {
  std::string folder;  // is made; must not hold anything yet
  std::string cause;   // who or what asked for it, to be told in the recording
  bool state = true;
  bool compressed = true;
};

struct Snapshot {
  std::string folder;
  uint64_t events = 0;
  uint64_t lost = 0;
  int64_t begin_ns = 0;  // see FlightCopy
  int64_t end_ns = 0;
  FlightWay way = FlightWay::Mapped;
  std::chrono::nanoseconds copying{};
};

nlohmann::ordered_json to_json(const Snapshot& snapshot);

// What one is called that nobody gave a name: its time, local, "20261115-143005.250".
std::string snapshot_name(int64_t end_ns);

// What is recorded, each null where it is not: what explains the rings' contents.
struct SnapshotSources {
  const KernelEvents* kernel = nullptr;
  const AppSource* programs = nullptr;
};

// Makes a recording, whole and finished, of what the rings held. The state in it is that of now, at
// its end. `description` is the session's, without parts. What fails leaves no folder; but a state
// that cannot be had is a warning.
Result<Snapshot> save_snapshot(FlightCopy copy, const SnapshotSources& sources,
                               const HostClock& clock, recording::Description description,
                               const SnapshotRequest& request,
                               const std::function<void(const Error&)>& warn);

}  // namespace strata::record
