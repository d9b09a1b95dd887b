// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "recording/description.h"

namespace strata::record {

struct SourceStatus {
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t lost = 0;
  double fill = 0;  // of the fullest ring, from 0 to 1

  SourceStatus& operator+=(const SourceStatus& other) {
    events += other.events;
    bytes += other.bytes;
    lost += other.lost;
    fill = std::max(fill, other.fill);
    return *this;
  }
};

// One thing that a session records into its folder: the kernel's events, its counters, an
// application. Used by one thread.
class Source {
 public:
  virtual ~Source() = default;

  // From here on it records. What fails leaves nothing behind.
  virtual Status start() = 0;
  virtual SourceStatus status() = 0;
  // Nothing more comes, and nothing of it is left in the kernel; its files are on their way to
  // being whole.
  virtual Status stop() = 0;
  // Its files as recording.json tells of them, whether or not they are whole yet.
  virtual std::vector<recording::Part> parts() const = 0;
};

}  // namespace strata::record
