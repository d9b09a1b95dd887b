// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/program_trace.h"
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
  uint32_t reserved;
};
inline constexpr uint64_t kSessionMagic = 0x31534553'42525053;  // "SPRBSES1" as it lies in memory

enum class Refusal : uint32_t {
  None = 0,
  Rights = 1,  // another user's
  Policy = 2,  // the programs' rings have another one
  Clock = 3,   // or are on another clock
  Number = 4,  // too many sessions
};

// The answer. None refused: memories follow until the owner ends.
struct SessionWelcome {
  uint64_t magic;
  uint32_t version;
  Refusal refusal;
};

// A memory, as it is sent, with two descriptors: the memory, by an open file of its own, and the
// process.
struct SharedMemory {
  TracedProcess process;
  FileDescriptor memory;
  FileDescriptor lives;
  // The reader's slot that is claimed through `memory`: nobody has written there yet. None: it has
  // to find one itself.
  std::optional<uint32_t> slot;
};

// The words of its message; an empty process (0) says that all that were there have been sent.
std::string memory_message(const TracedProcess& process, std::optional<uint32_t> slot);
// None: these are not such words. Its descriptors are not there yet.
std::optional<SharedMemory> read_memory_message(Bytes message);

// Connects to the owner of the socket. None: there is none, or it has refused, which `refusal` then
// tells.
std::optional<FileDescriptor> follow(const std::string& socket, const SessionHello& hello,
                                     Refusal& refusal);

// In words.
std::string why(Refusal refusal);

// Sends one. Where the other side has no room for it, that is waited for, for a second at most.
bool send_to_follower(int follower, std::string_view message, std::span<const int> descriptors);

}  // namespace strata::collect
