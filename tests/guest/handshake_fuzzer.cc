// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what somebody says who has not the key: it is never taken for a proof.
#include <cstdlib>

#include "guest/handshake.h"
#include "guest/message_buffer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  using namespace strata::guest;
  if (size == 0) return 0;
  static const Key key({std::byte{1}, std::byte{2}});
  const Role own = (data[0] & 1) != 0 ? Role::Host : Role::Guest;
  Handshake handshake(own, key);
  (void)handshake.begin();
  MessageBuffer buffer(other(own));
  Bytes left(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  while (!left.empty()) {
    const std::span<std::byte> room = buffer.room();
    const Bytes some = left.first(std::min(left.size(), room.size()));
    std::ranges::copy(some, room.begin());
    buffer.filled(some.size());
    left = left.subspan(some.size());
    for (;;) {
      const Result<std::optional<Message>> message = buffer.next();
      if (!message) return 0;
      if (!*message) break;
      const bool goes_on = static_cast<bool>(handshake.receive(**message, "unix"));
      if (handshake.done()) abort();
      if (!goes_on) {
        (void)handshake.refusal();
        return 0;
      }
    }
  }
  return 0;
}
