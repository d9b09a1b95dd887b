// SPDX-License-Identifier: Apache-2.0
#include "collect/session_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "collect/descriptor_message.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

constexpr int kPatienceMs = 1000;
constexpr size_t kLongestName = 64;
constexpr size_t kLongestPath = 4096;

// How a memory's message begins; the name and the program follow, without an end of their own.
struct MessageHead {
  uint64_t magic;
  uint32_t version;
  int32_t process;
  uint32_t slot;  // kNoSlot: none
  uint32_t name_size;
};
constexpr uint32_t kNoSlot = UINT32_MAX;

// Only root and the user itself may say whose rings are whose.
bool is_trusted(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == geteuid());
}

}  // namespace

std::string memory_message(const SharedMemory& memory) {
  const TracedProcess& process = memory.process;
  const std::string name = process.name.substr(0, kLongestName);
  const MessageHead head{kSessionMagic, abi::kVersion, process.pid, memory.slot.value_or(kNoSlot),
                         static_cast<uint32_t>(name.size())};
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message += name;
  message += process.program.substr(0, kLongestPath);
  return message;
}

std::optional<SharedMemory> read_memory_message(Bytes message) {
  MessageHead head;
  if (message.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, message.data(), sizeof head);
  const std::string_view text = as_text(message.subspan(sizeof head));
  if (head.magic != kSessionMagic || head.version != abi::kVersion || head.process < 0 ||
      head.name_size > kLongestName || head.name_size > text.size() ||
      (head.slot != kNoSlot && head.slot >= abi::kMaxReaders))
    return std::nullopt;
  SharedMemory memory;
  memory.process.pid = head.process;
  memory.process.name = text.substr(0, head.name_size);
  memory.process.program = text.substr(head.name_size);
  if (head.slot != kNoSlot) memory.slot = head.slot;
  return memory;
}

std::optional<FollowedOwner> follow(const std::string& path, const SessionHello& hello,
                                    Refusal& refusal) {
  refusal = Refusal::None;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  path.copy(address.sun_path, path.size());
  FileDescriptor owner(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(owner.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      !is_trusted(owner.get()) || !send_message(owner.get(), std::as_bytes(std::span(&hello, 1))))
    return std::nullopt;
  std::optional<ReceivedMessage> answer = receive_message(owner.get(), kPatienceMs);
  SessionWelcome welcome;
  if (!answer || answer->bytes.size() != sizeof welcome) return std::nullopt;
  std::memcpy(&welcome, answer->bytes.data(), sizeof welcome);
  if (welcome.magic != kSessionMagic || welcome.version != abi::kVersion) return std::nullopt;
  refusal = welcome.refusal;
  if (refusal != Refusal::None || answer->descriptors.size() != 1) return std::nullopt;
  return FollowedOwner{std::move(owner), std::move(answer->descriptors[0])};
}

std::string why(Refusal refusal) {
  switch (refusal) {
    case Refusal::None:
      break;
    case Refusal::Rights:
      return "another user's session collects probes there";
    case Refusal::Clock:
      return "a session on another clock collects probes there";
    case Refusal::Number:
      return "too many sessions collect probes there";
    case Refusal::Policy:
      return "the session that collects probes there does not know what to do when rings are full";
  }
  return "the session that collects probes there does not answer";
}

bool send_memory(int follower, const SharedMemory& memory, std::span<const int> descriptors) {
  const std::string message = memory_message(memory);
  while (!send_message(follower, as_bytes(message), descriptors)) {
    if (errno == EINTR) continue;
    pollfd writable{follower, POLLOUT, 0};
    if (errno != EAGAIN || poll(&writable, 1, kPatienceMs) != 1 ||
        (writable.revents & POLLOUT) == 0)
      return false;
  }
  return true;
}

}  // namespace strata::collect
