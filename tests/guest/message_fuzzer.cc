// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what the other end sends, in pieces of any size: messages or an error, never more
// than their limits, and what was understood is sent as it came.
#include <algorithm>
#include <cstdlib>

#include "guest/codec.h"
#include "guest/message_buffer.h"
#include "guest/messages.h"

namespace {

using namespace strata;
using namespace strata::guest;

template <typename Body>
void read_as(const Message& message) {
  const Result<Body> body = decode<Body>(message);
  if (!body) return;
  const std::vector<std::byte> again = encode(*body, message.recording);
  const Bytes bytes = Bytes(again).subspan(kHeadSize);
  // All but what a later version may have put behind it.
  if (bytes.size() > message.body.size() ||
      !std::ranges::equal(bytes, message.body.first(bytes.size())))
    abort();
}

void read(const Message& message) {
  const KindInfo* info = info_of(message.kind);
  if (info == nullptr || message.body.size() > info->most) abort();
  read_as<Hello>(message);
  read_as<Proof>(message);
  read_as<Attach>(message);
  read_as<Attached>(message);
  read_as<Refused>(message);
  read_as<Description>(message);
  read_as<Record>(message);
  read_as<Started>(message);
  read_as<File>(message);
  read_as<Piece>(message);
  read_as<RecordingStatus>(message);
  read_as<Stop>(message);
  read_as<Done>(message);
  read_as<Problem>(message);
  read_as<KeepAlive>(message);
  read_as<Watch>(message);
  read_as<Table>(message);
  read_as<Open>(message);
  read_as<Opened>(message);
}

}  // namespace

// The first byte: from whom, whether the key is proved, whether it goes on after an error, and by
// how many bytes it comes at once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t how = data[0];
  const bool is_proved = (how & 2) != 0;
  const bool goes_on = (how & 4) != 0;
  const size_t step = size_t{1} << (how >> 3);
  MessageBuffer buffer((how & 1) != 0 ? Role::Host : Role::Guest);
  if (is_proved) buffer.key_is_proved();
  Bytes left(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  while (!left.empty()) {
    const std::span<std::byte> room = buffer.room();
    if (room.empty() || room.size() > (size_t{1} << 20) + kHeadSize) abort();
    const Bytes some = left.first(std::min({left.size(), room.size(), step}));
    std::ranges::copy(some, room.begin());
    buffer.filled(some.size());
    left = left.subspan(some.size());
    for (;;) {
      const Result<std::optional<Message>> message = buffer.next();
      if (!message && !goes_on) return 0;
      if (!message) {
        buffer.reset();
        continue;
      }
      if (!*message) break;
      if (!is_proved && !is_greeting((*message)->kind)) abort();
      read(**message);
    }
  }
  return 0;
}
