// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"

namespace strata::collect {

// A message of a SOCK_SEQPACKET socket, with open files that the other side gets (SCM_RIGHTS).
inline constexpr size_t kMostDescriptors = 2;
inline constexpr size_t kLongestMessage = 8192;

// Without waiting. False: it is not sent, and errno tells why.
bool send_message(int socket, Bytes bytes, std::span<const int> descriptors = {});

struct ReceivedMessage {
  std::vector<std::byte> bytes;
  std::vector<FileDescriptor> descriptors;
};
// Waits for as long at most. None: nothing came, the other side has ended, or sent what is longer.
std::optional<ReceivedMessage> receive_message(int socket, int milliseconds);

}  // namespace strata::collect
