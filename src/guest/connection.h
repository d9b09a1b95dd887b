// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "guest/channel.h"
#include "guest/codec.h"
#include "guest/message_buffer.h"
#include "guest/messages.h"

namespace strata::guest {

// Messages over a channel, in both directions. Used by one thread.
class Connection {
 public:
  // `own`: which end this is.
  Connection(std::unique_ptr<Channel> channel, Role own);

  // The next message where there is one; does not wait. Its body is valid until the next call. To
  // be called until there is none, before poll() waits for the channel.
  // An error: the other end has closed (closed() tells), or what it sends is no message.
  Result<std::optional<Message>> receive();
  // Waits for it, sending what is left to send meanwhile.
  Result<Message> receive(Deadline deadline);

  // What goes at once goes, the rest waits for flush(). An error where too much waits already: the
  // other end does not read.
  Status send_bytes(Bytes bytes);
  template <typename Body>
  Status send(const Body& body, uint32_t recording = 0) {
    return send_bytes(encode(body, recording));
  }
  Status flush();                   // does not wait
  Status flush(Deadline deadline);  // all of it
  // Bytes that wait. Who sends more than now and then looks at it before making more.
  size_t unsent() const { return waiting_.size() - sent_; }

  bool closed() const { return closed_; }

  void key_is_proved() { received_.key_is_proved(); }
  // See MessageBuffer.
  void reset();

  Channel& channel() { return *channel_; }
  const Channel& channel() const { return *channel_; }
  // The end of messages: what comes now are pages, some of which may have been received already.
  std::unique_ptr<Channel> take_channel() && { return std::move(channel_); }
  Bytes received_beyond() const { return received_.unread(); }

 private:
  std::unique_ptr<Channel> channel_;
  MessageBuffer received_;
  bool closed_ = false;
  std::vector<std::byte> waiting_;
  size_t sent_ = 0;  // of what waits
};

}  // namespace strata::guest
