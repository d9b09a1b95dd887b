// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/clock_map.h"

namespace strata::recording {

// What recording.json holds: it alone says what is in a recording's folder. Its schema is in
// docs/recording.md.

struct Machine {
  std::string name;
  std::string kind = "host";  // or "guest"
  std::string boot_id;
  std::string kernel;
  // Of a guest: the host's threads that are its CPUs, by number; -1: not known.
  std::vector<int32_t> vcpus = {};
  // Of a guest of which nothing more came before the recording ended: why.
  std::string ended = {};

  bool operator==(const Machine&) const = default;
};

struct NamedClock {
  std::string name;        // "host.tsc", "host.mono_raw", "epoch"
  std::string machine;     // empty: of none in particular
  uint64_t frequency = 0;  // in Hz; 0: not known
  std::string note;        // why it was chosen, or what is wrong with another
  // No counter, but the times that a part tells by itself: open_traces() applies maps from these.
  bool is_timeline = false;

  bool operator==(const NamedClock&) const = default;
};

// A file or a folder of the recording.
struct Part {
  std::string file;
  std::string kind;  // "tracedat" or "ctf"
  std::string what;  // "kernel", "state", "counters", "cgroups", "application"
  std::string machine;
  std::string clock;
  uint32_t segment = 0;
  uint64_t lost = 0;
  uint64_t lost_unknown = 0;
  bool finished = false;

  bool operator==(const Part&) const = default;
};

// A change that was made while the session recorded.
struct Change {
  int64_t at_ns = 0;  // since the epoch
  std::string what;

  bool operator==(const Change&) const = default;
};

// How the change begins that says what a snapshot of a flight was taken for.
constexpr const char* kSnapshotChange = "snapshot: ";

struct Session {
  std::string name;
  std::string user;
  int64_t begin_ns = 0;            // since the epoch
  int64_t end_ns = 0;              // 0: it is still recording, or was killed
  std::vector<std::string> asked;  // the command line
  std::vector<Change> changes;

  bool operator==(const Session&) const = default;
};

// Whether this is a snapshot of a flight.
bool is_snapshot(const Session& session);

struct Description {
  std::vector<Machine> machines;
  std::vector<NamedClock> clocks;
  std::vector<Part> parts;
  std::vector<trace::ClockMap> maps;
  std::vector<Session> sessions;
};

constexpr const char* kDescriptionName = "recording.json";

std::string to_json(const Description& description);
// `file` is named in errors.
Result<Description> parse_description(const std::string& json, const std::string& file);

// In the recording's folder; replaced as a whole, so that it is whole at every moment.
Status write_description(const std::string& folder, const Description& description);
Result<Description> read_description(const std::string& folder);

}  // namespace strata::recording
