// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/channel.h"
#include "guest/key.h"
#include "guest/protocol.h"

struct ssl_ctx_st;
struct ssl_st;

namespace strata::guest {

// How one end does TLS: version 1.3 and nothing else, with a secret made of the key as its
// pre-shared key (RFC 8446, 2.2) beside a fresh Diffie-Hellman exchange. So there are no
// certificates; who has not the key is refused by the handshake itself, and who gets it later
// cannot read what was recorded. Tickets, resumption and early data are off: nothing can be
// replayed.
class TlsContext {
 public:
  static Result<TlsContext> create(Role role, const Key& key);

  // Over a socket that is connected. Nothing is sent yet: the handshake is made by the first
  // attempts to send and receive.
  Result<std::unique_ptr<Channel>> wrap(FileDescriptor socket, std::string peer) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  Role role_ = Role::Host;
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace strata::guest
