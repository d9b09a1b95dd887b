// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "format/tracedat/trace_dat.h"

namespace strata::tracedat {

// An event as these tests compare it.
struct Seen {
  uint32_t cpu = 0;
  int64_t time = 0;
  std::string name;
  std::string fields;
  uint64_t lost = 0;
  bool lost_unknown = false;
  std::string buffer = {};

  bool operator==(const Seen&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Seen& seen);
};

struct Everything {
  std::vector<Seen> events;
  std::vector<Error> problems;  // of the file and of its streams

  // The events of one CPU of the main buffer.
  std::vector<Seen> of_cpu(uint32_t cpu) const;
};

// All events of all streams, merged.
Everything read_events(const TraceDat& trace,
                       uint64_t limit = std::numeric_limits<uint64_t>::max());

// Opens it and reads all; a file that does not open is a problem too.
Everything read_file(const std::string& path,
                     uint64_t limit = std::numeric_limits<uint64_t>::max());

}  // namespace strata::tracedat
