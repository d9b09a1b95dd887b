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
// and then takes what comes for the rest of it. So it is told again.
constexpr auto kAgain = 1s;

Error at(const Address& address, const Error& error) {
  return {address.text(), std::nullopt, error.cause};
}

// Until both are done, or one of them cannot go on. `is_final`: another attempt would be in vain.
Result<uint16_t> shake_hands(Connection& connection, const Key& key, Versions versions,
                             Deadline deadline, bool& is_final) {
  Handshake handshake(Role::Host, key, versions);
  if (Status status = connection.send_bytes(handshake.begin()); !status)
    return std::move(status).error();
  while (!handshake.done()) {
    const Result<Message> message = connection.receive(deadline);
    if (!message) return message.error();
    Result<std::vector<std::byte>> answer =
        handshake.receive(*message, connection.channel().binding());
    if (!answer) {
      is_final = handshake.is_final();
      if (connection.send_bytes(handshake.refusal()))
        (void)static_cast<bool>(connection.flush(deadline));
      return std::move(answer).error();
    }
    if (Status status = connection.send_bytes(*answer); !status) return std::move(status).error();
  }
  connection.key_is_proved();
  return handshake.version();
}

// The answer to it is awaited until then.
Status ask_for_stream(Connection& connection, const Attach& attach, Deadline deadline,
                      bool& is_final) {
  if (Status status = connection.send_bytes(with_preamble(encode(attach))); !status) return status;
  const Result<Message> answer = connection.receive(deadline);
  if (!answer) return answer.error();
  if (answer->kind == Kind::Refused) {
    is_final = true;
    const Result<Refused> refused = decode<Refused>(*answer);
    return Error{"", std::nullopt,
                 refused ? "the guest refuses: " + refused->why : refused.error().cause};
  }
  const Result<Attached> attached = decode<Attached>(*answer);
  if (!attached) return attached.error();
  if (!equal_secrets(attached->token, attach.token))
    return Error{"", std::nullopt, "another stream answers"};
  return {};
}

// Does it once; on a port, where remains of an earlier conversation may come first, again and again
// until the time is over.
template <typename Attempt>
auto repeated(Connection& connection, Transport transport, Deadline deadline, Attempt attempt) {
  bool is_final = false;
  if (transport != Transport::Virtio) return attempt(deadline, is_final);
  for (auto patience = kAgain;; patience *= 2) {
    connection.reset();
    auto outcome = attempt(std::min(deadline, within(patience)), is_final);
    if (outcome || is_final || connection.closed() || std::chrono::steady_clock::now() >= deadline)
      return outcome;
  }
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
  const Result<uint16_t> version =
      repeated(connection, address.transport, deadline, [&](Deadline until, bool& is_final) {
        return shake_hands(connection, key, versions, until, is_final);
      });
  if (!version) return at(address, version.error());
  return Dialed{std::move(connection), *version};
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
  const Status status =
      repeated(connection, address.transport, deadline, [&](Deadline until, bool& is_final) {
        return ask_for_stream(connection, attach, until, is_final);
      });
  if (!status) return at(place, status.error());
  const Bytes more = connection.received_beyond();
  DataChannel data;
  data.received.assign(more.begin(), more.end());
  data.channel = std::move(connection).take_channel();
  return data;
}

}  // namespace strata::guest
