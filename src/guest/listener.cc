// SPDX-License-Identifier: Apache-2.0
#include "guest/listener.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "guest/sockets.h"

namespace strata::guest {
namespace {

using namespace std::chrono_literals;

// How often a port is looked at that has no host at its other end, or is in use: neither gives a
// sign when that changes.
constexpr auto kPortInterval = 250ms;
constexpr int kMostAtOnce = 64;

Deadline now() { return std::chrono::steady_clock::now(); }

}  // namespace

struct Listener::Door {
  Address address;
  FileDescriptor socket = {};        // none: a port
  Deadline next_look = {};           // of a port
  std::weak_ptr<void> channel = {};  // of a port: lasts as long as there is one through it

  bool is_port() const { return address.transport == Transport::Virtio; }
};

struct Listener::Caller {
  Door& door;
  Connection connection;
  Handshake handshake;
  Deadline
      due;  // by when it has to have proved itself; a port says nothing for as long as it likes
  std::optional<Attach> attach = {};
  short watched = 0;  // the events for which the epoll waits

  int file() const { return connection.channel().to_receive().fd; }
  bool is_ready() const { return (attach || handshake.done()) && connection.unsent() == 0; }
};

Result<std::unique_ptr<Listener>> Listener::create(const Key& key, Options options) {
  Result<TlsContext> tls = TlsContext::create(Role::Guest, key);
  if (!tls) return std::move(tls).error();
  std::unique_ptr<Listener> listener(new Listener(key, std::move(options), *std::move(tls)));
  if (!listener->ready_) return system_error("", "cannot make an epoll", errno);
  return listener;
}

Listener::Listener(const Key& key, Options options, TlsContext tls)
    : key_(key),
      options_(std::move(options)),
      tls_(std::move(tls)),
      ready_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!options_.log) options_.log = [](const std::string&) {};
}

Listener::~Listener() {
  for (const Door& door : doors_) {
    if (door.address.transport == Transport::Unix) unlink(door.address.path.c_str());
  }
}

Status Listener::listen(const Address& address) {
  Door door{.address = address};
  if (!door.is_port()) {
    Result<FileDescriptor> socket = listen_at(address);
    if (!socket) return std::move(socket).error();
    door.socket = *std::move(socket);
    door.address = listened_at(door.socket.get(), address);
    epoll_event event{.events = EPOLLIN, .data = {.fd = door.socket.get()}};
    if (epoll_ctl(ready_.get(), EPOLL_CTL_ADD, door.socket.get(), &event) != 0)
      return system_error(address.text(), "cannot be waited for", errno);
  }
  doors_.push_back(std::move(door));
  if (address.transport == Transport::Virtio) {
    add_port(stream_port(address, kClockStream));
    for (uint32_t cpu = 0; cpu < kMaxCpus && add_port(stream_port(address, cpu)); ++cpu) {
    }
  }
  return {};
}

// False: there is none.
bool Listener::add_port(const Result<Address>& address) {
  if (!address || !has_virtio(address->path)) return false;
  doors_.push_back({.address = *address});
  return true;
}

std::vector<Address> Listener::addresses() const {
  std::vector<Address> all;
  for (const Door& door : doors_) all.push_back(door.address);
  return all;
}

Deadline Listener::next_due() const {
  Deadline next = Deadline::max();
  for (const Caller& caller : callers_) next = std::min(next, caller.due);
  for (const Door& door : doors_) {
    if (door.is_port()) next = std::min(next, door.next_look);
  }
  return next;
}

std::vector<Arrival> Listener::serve() {
  std::vector<Arrival> arrivals;
  epoll_event events[kMostAtOnce];
  const int count = epoll_wait(ready_.get(), events, kMostAtOnce, 0);
  for (int i = 0; i < count; ++i) {
    const int file = events[i].data.fd;
    const auto door = std::ranges::find(doors_, file, [](const Door& d) { return d.socket.get(); });
    const auto caller = std::ranges::find(callers_, file, &Caller::file);
    if (door != doors_.end()) let_in(*door);
    if (caller != callers_.end()) hear(*caller, arrivals);
  }
  for (Door& door : doors_) {
    if (door.is_port() && now() >= door.next_look) open_port(door);
  }
  drop_late_ones();
  return arrivals;
}

void Listener::let_in(Door& door) {
  for (int i = 0; i < kMostAtOnce; ++i) {
    FileDescriptor socket(
        accept4(door.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE) && !callers_.empty())
      turn_away(callers_.front(), "no file is left for another caller");
    if (!socket) return;
    const Peer peer = peer_of(socket.get(), door.address.transport);
    if (!peer.is_allowed) {
      options_.log(peer.text + ": turned away: is not the host");
      continue;
    }
    if (door.address.transport != Transport::Tcp) {
      add_caller(door, std::make_unique<PlainChannel>(std::move(socket), peer.text, peer.binding));
      continue;
    }
    Result<std::unique_ptr<Channel>> channel = tls_.wrap(std::move(socket), peer.text);
    if (channel)
      add_caller(door, *std::move(channel));
    else
      options_.log(channel.error().text());
  }
}

void Listener::open_port(Door& door) {
  door.next_look = now() + kPortInterval;
  if (!door.channel.expired()) return;
  // Not there yet, or in use by somebody else: no reason for a line each time.
  Result<std::unique_ptr<Channel>> channel = open_virtio(door.address.path, now());
  if (!channel) return;
  pollfd file = (*channel)->to_receive();
  const bool has_host = poll(&file, 1, 0) == 0 || (file.revents & POLLHUP) == 0;
  if (!has_host) return;
  const auto open = std::make_shared<int>();
  (*channel)->hold(open);
  door.channel = open;
  add_caller(door, *std::move(channel));
}

void Listener::add_caller(Door& door, std::unique_ptr<Channel> channel) {
  const auto unproved =
      std::ranges::count_if(callers_, [](const Caller& caller) { return !caller.door.is_port(); });
  if (!door.is_port() && static_cast<size_t>(unproved) >= options_.most_unproved)
    turn_away(*std::ranges::find_if(callers_, [](const Caller& c) { return !c.door.is_port(); }),
              "others came before it had proved anything");
  callers_.push_back({.door = door,
                      .connection = Connection(std::move(channel), Role::Guest),
                      .handshake = Handshake(Role::Guest, key_, options_.versions),
                      .due = door.is_port() ? Deadline::max() : now() + options_.patience});
  Caller& caller = callers_.back();
  if (door.is_port()) caller.connection.reset();
  watch(caller);
}

void Listener::watch(Caller& caller) {
  const Channel& channel = caller.connection.channel();
  short events = channel.to_receive().events;
  if (caller.connection.unsent() > 0) events |= channel.to_send().events;
  if (events == caller.watched) return;
  epoll_event event{.events = static_cast<uint32_t>(events), .data = {.fd = caller.file()}};
  epoll_ctl(ready_.get(), caller.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, caller.file(),
            &event);
  caller.watched = events;
}

void Listener::hear(Caller& caller, std::vector<Arrival>& arrivals) {
  while (!caller.attach && !caller.handshake.done()) {
    const Result<std::optional<Message>> message = caller.connection.receive();
    if (!message) return turn_away(caller, message.error().cause);
    if (!*message) break;
    if (caller.door.is_port()) caller.due = now() + options_.patience;
    if (Status status = answer(caller, **message); !status)
      return turn_away(caller, status.error().cause);
  }
  if (Status status = caller.connection.flush(); !status)
    return turn_away(caller, status.error().cause);
  if (!caller.is_ready()) return watch(caller);

  epoll_ctl(ready_.get(), EPOLL_CTL_DEL, caller.file(), nullptr);
  caller.connection.key_is_proved();
  arrivals.push_back({std::move(caller.connection), caller.handshake.version(), caller.attach});
  callers_.remove_if([&](const Caller& each) { return &each == &caller; });
}

Status Listener::answer(Caller& caller, const Message& message) {
  Connection& connection = caller.connection;
  // On a port another host follows without a sign.
  if (caller.door.is_port() && caller.handshake.is_from_another(message))
    caller.handshake = Handshake(Role::Guest, key_, options_.versions);
  if (message.kind != Kind::Attach) {
    const Result<std::vector<std::byte>> answer =
        caller.handshake.receive(message, connection.channel().binding());
    if (answer) return connection.send_bytes(*answer);
    (void)static_cast<bool>(connection.send_bytes(caller.handshake.refusal()));
    return answer.error();
  }
  const Result<Attach> attach = decode<Attach>(message);
  if (!attach) return attach.error();
  if (Status status = connection.send_bytes(as_bytes(kPreamble)); !status) return status;
  if (!options_.awaits || !options_.awaits(*attach)) {
    (void)static_cast<bool>(
        connection.send(Refused{Reason::NotFound, "no recording awaits this stream"}));
    return Error{"", std::nullopt, "asks for a stream of a recording that there is not"};
  }
  caller.attach = *attach;
  return connection.send(Attached{attach->token});
}

void Listener::turn_away(Caller& caller, const std::string& why) {
  const bool is_port = caller.door.is_port();
  if (!is_port || !caller.connection.closed())
    options_.log(caller.connection.channel().peer() + ": turned away: " + why);
  // What comes after a port's host has gone, or said what nobody understands, is looked through for
  // a hello, by a connection that knows nothing of this one.
  if (is_port && !caller.connection.closed()) {
    caller.connection.reset();
    caller.handshake = Handshake(Role::Guest, key_, options_.versions);
    caller.due = Deadline::max();
    caller.attach.reset();
    return;
  }
  epoll_ctl(ready_.get(), EPOLL_CTL_DEL, caller.file(), nullptr);
  callers_.remove_if([&](const Caller& each) { return &each == &caller; });
}

void Listener::drop_late_ones() {
  for (auto next = callers_.begin(); next != callers_.end();) {
    Caller& caller = *next++;
    if (now() >= caller.due) turn_away(caller, "has not proved the key in time");
  }
}

}  // namespace strata::guest
