// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/address.h"
#include "guest/channel.h"

namespace strata::guest {

// The sockets and devices behind addresses. None of them waits.

// Connected to there.
Result<FileDescriptor> connect_to(const Address& address, Deadline deadline);
// That takes connections there.
Result<FileDescriptor> listen_at(const Address& address);
// Where a socket listens, with the port that the kernel chose.
Address listened_at(int socket, const Address& asked);

// One that was accepted: who is there, in words, and what binds a proof to it (see Channel).
struct Peer {
  std::string text;
  std::string binding;
  bool is_allowed = true;  // false: on vsock, not the host itself
};
Peer peer_of(int socket, Transport transport);

// Of the host's machines, the one that calls a guest's agent; the guest's own users are CID 1.
bool is_host(const sockaddr_storage& vsock_address);

// What binds a proof to a channel to this guest: both ends know it.
std::string vsock_binding(uint32_t guest_cid, uint32_t port);
inline constexpr const char* kVirtioBinding = "virtio-serial";
inline constexpr const char* kUnixBinding = "unix";

// A port of virtio-serial: on the host QEMU's socket or its pair of FIFOs PATH.in and PATH.out; in
// the guest a device, or a port by its name.
Result<std::unique_ptr<Channel>> open_virtio(const std::string& path, Deadline deadline);
// Whether there is one, free or not.
bool has_virtio(const std::string& path);

}  // namespace strata::guest
