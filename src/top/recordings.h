// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "top/recorder.h"

namespace strata::top {

// The events of this machine, recorded beside the view of it: all of them into a folder, from one
// key to the next; or a flight recorder that keeps the last ones in memory until they are wished
// for.
class Recordings {
 public:
  Recordings() = default;
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;
  // Finishes what is being recorded, however long that takes.
  ~Recordings();

  // Begins to record into a new folder where the program was started, or to end that. What there is
  // to say about it.
  Result<std::string> toggle();
  // Starts the flight recorder.
  Status fly();
  // Saves what it holds, as a recording, into this folder.
  Result<std::string> save_flight(const std::string& folder);

  // What has come of them since it was asked last, if anything.
  std::optional<Result<std::string>> news();

  bool is_recording() const { return recorder_.has_value(); }
  bool is_flying() const { return flight_.has_value(); }
  // CPU time that they took since this was asked last.
  uint64_t take_cost_ns();

 private:
  std::optional<Recorder> recorder_;
  bool is_ending_ = false;
  std::optional<Recorder> flight_;
  std::chrono::nanoseconds told_cost_{};
};

}  // namespace strata::top
