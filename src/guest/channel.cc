// SPDX-License-Identifier: Apache-2.0
#include "guest/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace strata::guest {

PlainChannel::PlainChannel(FileDescriptor file, std::string peer, std::string binding)
    : PlainChannel(std::move(file), FileDescriptor(), std::move(peer), std::move(binding)) {}

PlainChannel::PlainChannel(FileDescriptor in, FileDescriptor out, std::string peer,
                           std::string binding)
    : Channel(std::move(peer)),
      in_(std::move(in)),
      out_(std::move(out)),
      binding_(std::move(binding)) {
  for (const int file : {in_.get(), output()}) fcntl(file, F_SETFL, O_NONBLOCK);
}

Result<Transfer> PlainChannel::send(Bytes bytes) {
  for (;;) {
    const ssize_t size = write(output(), bytes.data(), bytes.size());
    if (size >= 0) return Transfer{.size = static_cast<size_t>(size)};
    if (errno == EAGAIN) return Transfer{};
    if (errno != EINTR) return error("cannot send", errno);
  }
}

Result<Transfer> PlainChannel::receive(std::span<std::byte> room) {
  for (;;) {
    const ssize_t size = read(in_.get(), room.data(), room.size());
    if (size > 0) return Transfer{.size = static_cast<size_t>(size)};
    if (size == 0) return Transfer{.ended = true};
    if (errno == EAGAIN) return Transfer{};
    if (errno != EINTR) return error("cannot receive", errno);
  }
}

void PlainChannel::end_sending() {
  if (out_)
    out_.reset();
  else
    shutdown(in_.get(), SHUT_WR);  // of what is no socket nothing happens
}

Result<std::pair<std::unique_ptr<Channel>, std::unique_ptr<Channel>>> channel_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("", "cannot make a pair of sockets", errno);
  const auto channel = [](int end) {
    return std::make_unique<PlainChannel>(FileDescriptor(end), "the other end", "unix");
  };
  return std::pair<std::unique_ptr<Channel>, std::unique_ptr<Channel>>(channel(ends[0]),
                                                                       channel(ends[1]));
}

bool wait_for(std::span<pollfd> files, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready = poll(files.data(), files.size(),
                           static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT32_MAX)));
    if (ready > 0) return true;
    if (ready == 0 && left.count() <= INT32_MAX) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Status send_all(Channel& channel, Bytes bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const Result<Transfer> sent = channel.send(bytes);
    if (!sent) return sent.error();
    bytes = bytes.subspan(sent->size);
    if (sent->size > 0) continue;
    pollfd file = channel.to_send();
    if (!wait_for({&file, 1}, deadline))
      return Error{channel.peer(), std::nullopt, "takes nothing more"};
  }
  return {};
}

}  // namespace strata::guest
