// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guest/connection.h"
#include "guest/messages.h"

namespace strata::guest {

// Sends a recording's folder while it grows: all but pages of the kernel's rings. Whoever receives
// it has at every moment what opens: metadata go before the packets that they describe, and
// recording.json, which tells of the rest, goes last.
class FolderSender {
 public:
  explicit FolderSender(std::string folder) : folder_(std::move(folder)) {}

  // What the folder holds now, and was not sent yet, is to be sent.
  void look();
  // Sends some of it, as long as the other end takes it. Whether nothing is left.
  Result<bool> send(Connection& to, uint32_t recording);
  // Bytes that wait.
  uint64_t unsent() const;

 private:
  struct Known {
    uint32_t number = 0;  // 0: the other end has not heard of it
    ino_t inode = 0;
    uint64_t sent = 0;
    uint64_t size = 0;
  };

  std::string folder_;
  std::map<std::string, Known> files_;  // by their path in the folder
  std::vector<std::string> waiting_;    // in the order in which they go
  uint32_t next_number_ = 1;
};

}  // namespace strata::guest
