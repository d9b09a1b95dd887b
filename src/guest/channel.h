// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::guest {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline within(std::chrono::steady_clock::duration time) {
  return std::chrono::steady_clock::now() + time;
}

// What became of one attempt to send or to receive.
struct Transfer {
  size_t size = 0;     // 0: not now
  bool ended = false;  // the other end has closed; nothing more comes
};

// A stream of bytes in both directions between a host and a guest. Nothing in it waits: what has to
// be waited for is told, for poll(). Errors name the peer. The program ignores SIGPIPE
// (handle_signals()).
class Channel {
 public:
  virtual ~Channel() = default;

  virtual Result<Transfer> send(Bytes bytes) = 0;
  virtual Result<Transfer> receive(std::span<std::byte> room) = 0;
  // For what to wait before the next attempt, after one that did nothing, and only then: what was
  // received and not yet taken is nothing that poll() sees.
  virtual pollfd to_send() const = 0;
  virtual pollfd to_receive() const = 0;
  // Nothing more is sent; the other end sees it where this kind of channel has an end.
  virtual void end_sending() {}

  // Whether what goes through the descriptors is what is sent, so that splice() may do it: pages
  // need not be copied. Otherwise there is a cipher.
  virtual bool is_plain() const = 0;
  // What both ends know of this channel, and nobody else makes another of which it is true: a proof
  // of the key is bound to it. Of a cipher's channel it is known when something was received.
  virtual std::string binding() const = 0;

  // Something that lasts until the channel is closed.
  void hold(std::shared_ptr<void> held) { held_ = std::move(held); }

  // For people: "vsock 3", "192.0.2.1:40312".
  const std::string& peer() const { return peer_; }

 protected:
  explicit Channel(std::string peer) : peer_(std::move(peer)) {}
  Error error(std::string cause) const { return {peer_, std::nullopt, std::move(cause)}; }
  Error error(std::string what, int number) const {
    return system_error(peer_, std::move(what), number);
  }

 private:
  std::string peer_;
  std::shared_ptr<void> held_;
};

// Sockets, devices of virtio-serial, and pairs of FIFOs, as they are.
class PlainChannel : public Channel {
 public:
  // Both ways through one file.
  PlainChannel(FileDescriptor file, std::string peer, std::string binding);
  // One for each way.
  PlainChannel(FileDescriptor in, FileDescriptor out, std::string peer, std::string binding);

  Result<Transfer> send(Bytes bytes) override;
  Result<Transfer> receive(std::span<std::byte> room) override;
  pollfd to_send() const override { return {output(), POLLOUT, 0}; }
  pollfd to_receive() const override { return {in_.get(), POLLIN, 0}; }
  void end_sending() override;
  bool is_plain() const override { return true; }
  std::string binding() const override { return binding_; }

 private:
  int output() const { return out_ ? out_.get() : in_.get(); }

  FileDescriptor in_;
  FileDescriptor out_;  // none: the same
  std::string binding_;
};

// Two ends that are connected: for tests, and between threads.
Result<std::pair<std::unique_ptr<Channel>, std::unique_ptr<Channel>>> channel_pair();

// Waits for one of them; false: not until then. Interrupted by a signal, it goes on.
bool wait_for(std::span<pollfd> files, Deadline deadline);

// All of it, or an error; the time being over is one.
Status send_all(Channel& channel, Bytes bytes, Deadline deadline);

}  // namespace strata::guest
