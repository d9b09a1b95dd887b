// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "guest/protocol.h"

namespace strata::guest {

// Bytes as they come from the other end, and the messages in them. No I/O of its own.
//
// It holds no more than the message that is being received: how long that may be is known from its
// head, which is looked at before its body is waited for or any memory is taken for it. Messages
// of kinds that this version does not know are passed over.
class MessageBuffer {
 public:
  // `from`: who is at the other end; what only the other one may send is an error.
  explicit MessageBuffer(Role from) : from_(from) {}

  // Room for what comes next, and how much of it was filled. Only after next() has given none.
  std::span<std::byte> room();
  void filled(size_t size) { end_ += size; }

  // None: more bytes are needed. An error: what comes is not this protocol, and there is no way on
  // but reset(). The message is valid until the next call of anything.
  Result<std::optional<Message>> next();

  // Until this is called, only greetings are taken.
  void key_is_proved() { proved_ = true; }
  // As at the beginning, but for what has been received: it is looked through for a preamble. For
  // channels on which one conversation follows another without a sign between them.
  void reset();

  // What was received beyond the messages that were given.
  Bytes unread() const { return Bytes(bytes_).subspan(begin_, end_ - begin_); }

 private:
  Result<bool> take_preamble();
  bool begins_anew() const;
  void skip_to_preamble();
  Result<std::optional<Head>> head() const;

  Role from_;
  bool proved_ = false;
  bool begun_ = false;      // the preamble has come
  bool searching_ = false;  // for one, among anything
  std::vector<std::byte> bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace strata::guest
