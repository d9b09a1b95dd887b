// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guest/request.h"

namespace strata::guest {

// What an agent tells the process in which it has something recorded: see run_recorder().
struct RecorderOrder {
  std::string session;         // its name, among those of this machine
  std::string folder;          // for everything but pages; is made
  std::vector<pid_t> threads;  // of the agent, that hand things on: they are not recorded
  struct Pages {
    uint32_t cpu = 0;
    int descriptor = -1;  // in that process

    bool operator==(const Pages&) const = default;
  };
  std::vector<Pages> pages;  // where each CPU's go
  Request request;

  bool operator==(const RecorderOrder&) const = default;
};

// In one line.
std::string to_json(const RecorderOrder& order);
Result<RecorderOrder> parse_recorder_order(std::string_view json);

// What that process tells of itself, each a line of JSON.
struct RecorderNews {
  enum class What : uint8_t {
    Started,    // events are being recorded
    Explained,  // and the folder has all that explains them
    Status,     // so much so far
    Warning,
    Ended,   // all is in the folder and in the pipes
    Failed,  // nothing was recorded
  };
  What what = What::Status;
  std::string text;    // of a warning; why it failed
  std::string clock;   // of what was started
  uint64_t begin = 0;  // its reading before the first event
  uint32_t page_size = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t lost = 0;
  double fill = 0;

  bool operator==(const RecorderNews&) const = default;
};

std::string to_json(const RecorderNews& news);
Result<RecorderNews> parse_recorder_news(std::string_view json);

}  // namespace strata::guest
