// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "guest/address.h"
#include "guest/channel.h"
#include "guest/connection.h"
#include "guest/key.h"
#include "guest/messages.h"

namespace strata::guest {

// The host's end: it calls, the guest's agent listens (listener.h).

// A channel to there; nothing has been said yet.
Result<std::unique_ptr<Channel>> open_channel(const Address& address, const Key& key,
                                              Deadline deadline);

// A control connection on which both have proved that they have the key. The guest's Description is
// the first message on it.
struct Dialed {
  Connection connection;
  uint16_t version = 0;
};
Result<Dialed> dial(const Address& address, const Key& key, Deadline deadline,
                    Versions versions = kVersions);

// A channel for one stream of a recording that was started, over which pages come now. `address` is
// that of the control connection; for virtio-serial the stream has a port of its own beside it.
struct DataChannel {
  std::unique_ptr<Channel> channel;
  std::vector<std::byte> received;  // already; they come first
};
Result<DataChannel> attach(const Address& address, const Key& key, const Attach& attach,
                           Deadline deadline);

}  // namespace strata::guest
