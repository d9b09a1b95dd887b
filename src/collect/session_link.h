// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "collect/traced_process.h"
#include "probe/abi.h"

namespace strata::collect {

// What sessions say to each other. One of them owns the socket at which programs ask for rings. The
// others follow it: they connect to the same socket, and get every program's memory, those that
// there are and those that come, to read them by themselves. All of them are root's, or of the same
// user.

// The first message, by the one that follows.
struct SessionHello {
  uint64_t magic;
  uint32_t version;
  probe::abi::Policy policy;  // of the rings that it wants
  probe::abi::Clock clock;
  uint32_t wait_us;  // Policy::Block
};
inline constexpr uint64_t kSessionMagic = 0x31534553'42525053;  // "SPRBSES1" as it lies in memory

enum class Refusal : uint32_t {
  None = 0,
  Rights = 1,  // another user's
  Clock = 2,   // the programs' rings are on another one
  Number = 3,  // too many sessions
  Policy = 4,  // none that is known
};

// The answer. None refused: one descriptor goes with it, the socket at which programs ask, and
// memories follow until the owner ends.
struct SessionWelcome {
  uint64_t magic;
  uint32_t version;
  Refusal refusal;
};

// A memory that is shared. Two descriptors go with the message: the memory, by an open file of the
// receiver's own, and the process.
struct SharedMemory {
  TracedProcess process;  // its number 0: all that were there have been sent
  // The reader's slot that was claimed through that file: nobody has written to the memory yet.
  // None: the receiver has to find one itself.
  std::optional<uint32_t> slot;
};
std::string memory_message(const SharedMemory& memory);
// None: these are not such words.
std::optional<SharedMemory> read_memory_message(Bytes message);
// Where the other side has no room for it, that is waited for, for a second at most.
bool send_memory(int follower, const SharedMemory& memory, std::span<const int> descriptors);

// Who owns the socket, for one that follows.
struct FollowedOwner {
  FileDescriptor connection;
  // The socket itself. It takes connections as long as anybody has it: a program that asks after
  // the owner has ended waits there for the next one.
  FileDescriptor socket;
};
// Connects to the owner of the socket. None: there is none, or it has refused, which `refusal` then
// tells.
std::optional<FollowedOwner> follow(const std::string& socket, const SessionHello& hello,
                                    Refusal& refusal);

// In words.
std::string why(Refusal refusal);

}  // namespace strata::collect
