// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "period/history.h"

namespace strata::top {

enum class Going : uint8_t {
  Printed,  // one table after the other, and nobody waits
  Live,     // with a running machine
  Played,   // a recording, at some speed
  Paused,   // what is shown stays, until somebody goes on
  Ended,    // a recording, at its last table
};

// What the table on screen is of, and what is being done: told by whoever knows the time.
struct Moment {
  Going going = Going::Printed;
  size_t behind = 0;                         // how many younger tables are there
  double speed = 1;                          // of a recording that is played
  std::vector<std::string> shortfalls = {};  // of the feed
  std::string message = {};                  // for a moment: what a key has led to
  bool is_alarm = false;                     // the message is of something that went wrong
  const period::History* history = nullptr;  // the tables that are kept
  size_t position = 0;                       // of the table on screen in it
};

}  // namespace strata::top
