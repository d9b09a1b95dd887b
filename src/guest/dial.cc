// SPDX-License-Identifier: Apache-2.0
#include "guest/dial.h"

#include <algorithm>
#include <utility>

#include "guest/handshake.h"
#include "guest/sockets.h"
#include "guest/tls.h"

namespace strata::guest {
namespace {

using namespace std::chrono_literals;

// On a port of virtio-serial the guest may be in the midst of a message whose sender was killed,
// and then takes what comes for the rest of it. So it is greeted again, later and later.
constexpr auto kAgain = 1s;

Error at(const Address& address, const Error& error) {
  return {address.text(), std::nullopt, error.cause};
}

// Greets, and gives the answers to `hear` until that has all it wants. What fails for good is told
// by `is_final`. On a port remains of an earlier conversation may come first, and what is greeted
// may be lost in one.
template <typename Hear>
Status greet(Connection& connection, Transport transport, Bytes greeting, Deadline deadline,
             Hear hear) {
  const bool is_port = transport == Transport::Virtio;
  std::chrono::steady_clock::duration patience = kAgain;
  if (is_port) connection.reset();
  for (;;) {
    const Deadline again = is_port ? std::min(deadline, within(patience)) : deadline;
    if (Status status = connection.send_bytes(greeting); !status) return status;
    for (;;) {
      const Result<Message> message = connection.receive(again);
      bool is_final = !is_port || connection.closed();
      const Result<bool> has_all = message ? hear(*message, is_final) : message.error();
      if (has_all && *has_all) return {};
      if (has_all) continue;
      const Deadline now = std::chrono::steady_clock::now();
      if (is_final || now >= deadline) return has_all.error();
      if (now >= again) break;
      connection.reset();
    }
    patience *= 2;
  }
}

Status shake_hands(Connection& connection, Handshake& handshake, Transport transport,
                   Deadline deadline) {
  const auto hear = [&](const Message& message, bool& is_final) -> Result<bool> {
    const Result<std::vector<std::byte>> answer =
        handshake.receive(message, connection.channel().binding());
    if (!answer) {
      is_final |= handshake.is_final();
      if (is_final && connection.send_bytes(handshake.refusal()))
        (void)static_cast<bool>(connection.flush(deadline));
      return answer.error();
    }
    if (Status status = connection.send_bytes(*answer); !status) return std::move(status).error();
    return handshake.done();
  };
  return greet(connection, transport, handshake.begin(), deadline, hear);
}

Status ask_for_stream(Connection& connection, const Attach& attach, Transport transport,
                      Deadline deadline) {
  const auto hear = [&](const Message& message, bool& is_final) -> Result<bool> {
    if (message.kind == Kind::Refused) {
      is_final = true;
      const Result<Refused> refused = decode<Refused>(message);
      if (!refused) return refused.error();
      return Error{"", std::nullopt, "the guest refuses: " + refused->why};
    }
    const Result<Attached> attached = decode<Attached>(message);
    if (!attached) return attached.error();
    if (!equal_secrets(attached->token, attach.token))
      return Error{"", std::nullopt, "another stream answers"};
    return true;
  };
  return greet(connection, transport, with_preamble(encode(attach)), deadline, hear);
}

}  // namespace

Result<std::unique_ptr<Channel>> open_channel(const Address& address, const Key& key,
                                              Deadline deadline) {
  if (address.transport == Transport::Virtio) return open_virtio(address.path, deadline);
  Result<FileDescriptor> socket = connect_to(address, deadline);
  if (!socket) return std::move(socket).error();
  if (address.transport == Transport::Tcp) {
    const Result<TlsContext> tls = TlsContext::create(Role::Host, key);
    if (!tls) return tls.error();
    return tls->wrap(*std::move(socket), address.text());
  }
  std::string binding = address.transport == Transport::Vsock
                            ? vsock_binding(address.cid, address.port)
                            : kUnixBinding;
  return std::unique_ptr<Channel>(
      std::make_unique<PlainChannel>(*std::move(socket), address.text(), std::move(binding)));
}

Result<Dialed> dial(const Address& address, const Key& key, Deadline deadline, Versions versions) {
  Result<std::unique_ptr<Channel>> channel = open_channel(address, key, deadline);
  if (!channel) return std::move(channel).error();
  Connection connection(*std::move(channel), Role::Host);
  Handshake handshake(Role::Host, key, versions);
  if (Status status = shake_hands(connection, handshake, address.transport, deadline); !status)
    return at(address, status.error());
  connection.key_is_proved();
  return Dialed{std::move(connection), handshake.version()};
}

Result<DataChannel> attach(const Address& address, const Key& key, const Attach& attach,
                           Deadline deadline) {
  Address place = address;
  if (address.transport == Transport::Virtio) {
    Result<Address> port = stream_port(address, attach.stream);
    if (!port) return std::move(port).error();
    place = *std::move(port);
  }
  Result<std::unique_ptr<Channel>> channel = open_channel(place, key, deadline);
  if (!channel) return std::move(channel).error();
  Connection connection(*std::move(channel), Role::Host);
  if (Status status = ask_for_stream(connection, attach, address.transport, deadline); !status)
    return at(place, status.error());
  const Bytes more = connection.received_beyond();
  DataChannel data;
  data.received.assign(more.begin(), more.end());
  data.channel = std::move(connection).take_channel();
  return data;
}

}  // namespace strata::guest
