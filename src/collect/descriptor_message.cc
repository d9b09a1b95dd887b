// SPDX-License-Identifier: Apache-2.0
#include "collect/descriptor_message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace strata::collect {

bool send_message(int socket, Bytes bytes, std::span<const int> descriptors) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const size_t size = std::min(descriptors.size(), kMostDescriptors) * sizeof(int);
  if (size > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(item), descriptors.data(), size);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

std::optional<ReceivedMessage> receive_message(int socket, int milliseconds) {
  pollfd readable{socket, POLLIN, 0};
  if (poll(&readable, 1, milliseconds) != 1) return std::nullopt;
  ReceivedMessage received;
  received.bytes.resize(kLongestMessage);
  iovec part{received.bytes.data(), received.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size <= 0) return std::nullopt;
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr;
       item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(item) + i * sizeof descriptor, sizeof descriptor);
      received.descriptors.emplace_back(descriptor);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  received.bytes.resize(static_cast<size_t>(size));
  return received;
}

}  // namespace strata::collect
