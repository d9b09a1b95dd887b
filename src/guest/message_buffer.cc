// SPDX-License-Identifier: Apache-2.0
#include "guest/message_buffer.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace strata::guest {
namespace {

constexpr size_t kRoomForGreetings = 4096;
constexpr size_t kRoom = 32 << 10;

Error garbled(std::string cause) { return {"", std::nullopt, std::move(cause)}; }

// "File (9)", and the bare number of what is not in the table.
std::string text_of(Kind kind) {
  const KindInfo* info = info_of(kind);
  const std::string number = std::to_string(static_cast<uint16_t>(kind));
  return info ? std::string(info->name) + " (" + number + ")" : "of kind " + number;
}

}  // namespace

std::span<std::byte> MessageBuffer::room() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  size_t wanted = proved_ ? kRoom : kRoomForGreetings;
  if (const Result<std::optional<Head>> next = head(); begun_ && next && *next)
    wanted = std::max(wanted, kHeadSize + (*next)->size);
  if (bytes_.size() < wanted) bytes_.resize(wanted);
  return std::span(bytes_).subspan(end_);
}

Result<std::optional<Message>> MessageBuffer::next() {
  if (searching_) skip_to_preamble();
  if (!begun_) {
    const Result<bool> begun = take_preamble();
    if (!begun) return begun.error();
    if (!*begun) return std::optional<Message>();
  }
  for (;;) {
    if (!proved_ && begins_anew()) {
      begin_ += kPreamble.size();
      continue;
    }
    const Result<std::optional<Head>> found = head();
    if (!found) return found.error();
    if (!*found || unread().size() - kHeadSize < (*found)->size) return std::optional<Message>();
    const Head& next = **found;
    const Bytes body = unread().subspan(kHeadSize, next.size);
    begin_ += kHeadSize + next.size;
    if (info_of(next.kind)) return std::optional(Message{next.kind, next.recording, body});
  }
}

// None: not all of it is there. Whatever it says is checked here, before anything relies on it.
Result<std::optional<Head>> MessageBuffer::head() const {
  ByteReader in(unread(), ByteOrder::Little);
  Head head;
  head.size = in.u32();
  head.kind = static_cast<Kind>(in.u16());
  const uint16_t reserved = in.u16();
  head.recording = in.u32();
  if (!in.ok() || (!proved_ && kPreamble.starts_with(as_text(unread()))))
    return std::optional<Head>();
  const KindInfo* info = info_of(head.kind);
  if (reserved != 0) return garbled("what comes is no message");
  if (!proved_ && (!info || !is_greeting(head.kind)))
    return garbled("a message " + text_of(head.kind) + " before the key was proved");
  const uint32_t most =
      std::min(info ? info->most : kMaxUnknown, proved_ ? UINT32_MAX : kMaxGreeting);
  if (head.size > most)
    return garbled("a message " + text_of(head.kind) + " of " + std::to_string(head.size) +
                   " bytes, of which it may have " + std::to_string(most));
  if (info && !may_send(from_, info->sender))
    return garbled("a message " + text_of(head.kind) + " that a " + std::string(name_of(from_)) +
                   " does not send");
  return std::optional(head);
}

Result<bool> MessageBuffer::take_preamble() {
  const std::string_view there = as_text(unread()).substr(0, kPreamble.size());
  if (!kPreamble.starts_with(there)) return garbled("something else than this protocol is spoken");
  if (there.size() < kPreamble.size()) return false;
  begin_ += kPreamble.size();
  begun_ = true;
  return true;
}

// Who got no answer greets again. As a head it would be one of a size that there is not.
bool MessageBuffer::begins_anew() const { return as_text(unread()).starts_with(kPreamble); }

void MessageBuffer::skip_to_preamble() {
  const std::string_view there = as_text(unread());
  const size_t at = there.find(kPreamble);
  if (at != std::string_view::npos) {
    begin_ += at;
    searching_ = false;
    return;
  }
  // Its beginning may be at the end.
  size_t kept = std::min(there.size(), kPreamble.size() - 1);
  while (!kPreamble.starts_with(there.substr(there.size() - kept))) --kept;
  begin_ = end_ - kept;
}

void MessageBuffer::reset() {
  proved_ = false;
  begun_ = false;
  searching_ = true;
}

}  // namespace strata::guest
