// SPDX-License-Identifier: Apache-2.0
#include "guest/connection.h"

#include <algorithm>
#include <utility>

namespace strata::guest {
namespace {

// Of messages that wait because the other end does not read.
constexpr size_t kMostUnsent = 16 << 20;

}  // namespace

Connection::Connection(std::unique_ptr<Channel> channel, Role own)
    : channel_(std::move(channel)), received_(other(own)) {}

Result<std::optional<Message>> Connection::receive() {
  for (;;) {
    Result<std::optional<Message>> message = received_.next();
    if (!message) return Error{channel_->peer(), std::nullopt, message.error().cause};
    if (*message) return message;
    const Result<Transfer> transfer = channel_->receive(received_.room());
    if (!transfer) return transfer.error();
    closed_ = transfer->ended;
    if (closed_) return Error{channel_->peer(), std::nullopt, "has closed the connection"};
    if (transfer->size == 0) return message;
    received_.filled(transfer->size);
  }
}

Result<Message> Connection::receive(Deadline deadline) {
  for (;;) {
    Result<std::optional<Message>> message = receive();
    if (!message) return std::move(message).error();
    if (*message) return **message;
    if (Status status = flush(); !status) return std::move(status).error();
    pollfd files[] = {channel_->to_receive(), channel_->to_send()};
    if (!wait_for(std::span(files).first(unsent() > 0 ? 2 : 1), deadline))
      return Error{channel_->peer(), std::nullopt, "does not answer"};
  }
}

Status Connection::send_bytes(Bytes bytes) {
  if (Status status = flush(); !status) return status;
  if (unsent() == 0) {
    const Result<Transfer> sent = channel_->send(bytes);
    if (!sent) return sent.error();
    bytes = bytes.subspan(sent->size);
  }
  if (bytes.size() > kMostUnsent - std::min(kMostUnsent, unsent()))
    return Error{channel_->peer(), std::nullopt, "does not read what it is sent"};
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  return {};
}

Status Connection::flush() {
  while (unsent() > 0) {
    const Result<Transfer> sent = channel_->send(Bytes(waiting_).subspan(sent_));
    if (!sent) return sent.error();
    sent_ += sent->size;
    if (sent->size > 0) continue;
    // Not each time: what is left would be moved by little again and again.
    if (sent_ > waiting_.size() / 2) {
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(sent_));
      sent_ = 0;
    }
    return {};
  }
  waiting_.clear();
  sent_ = 0;
  return {};
}

Status Connection::flush(Deadline deadline) {
  const Status status = send_all(*channel_, Bytes(waiting_).subspan(sent_), deadline);
  waiting_.clear();
  sent_ = 0;
  return status;
}

void Connection::reset() {
  received_.reset();
  waiting_.clear();
  sent_ = 0;
}

}  // namespace strata::guest
