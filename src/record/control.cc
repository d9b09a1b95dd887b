// SPDX-License-Identifier: Apache-2.0
#include "record/control.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace strata::record {
namespace {

using Json = ControlSocket::Json;

constexpr size_t kMaxPacket = 128 << 10;
constexpr size_t kMaxConnections = 32;

bool set_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

// The session's own user, or root.
bool may_ask(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == getuid() || peer.uid == 0);
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json refusal(std::string why) { return {{"error", std::move(why)}}; }

// An empty packet is what the other end's closing looks like: nothing is said in one.
Result<std::string> receive(int socket, int flags) {
  std::string packet(kMaxPacket, '\0');
  const ssize_t size = recv(socket, packet.data(), packet.size(), flags | MSG_TRUNC);
  if (size < 0) return system_error("", "cannot receive", errno);
  if (static_cast<size_t>(size) > kMaxPacket) return Error{"", std::nullopt, "is too long"};
  packet.resize(static_cast<size_t>(size));
  return packet;
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(const std::string& path) {
  ControlSocket control;
  sockaddr_un address;
  if (!set_address(path, address)) return Error{path, std::nullopt, "is too long for a socket"};
  control.ready_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  control.listener_ =
      FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!control.ready_ || !control.listener_)
    return system_error(path, "cannot make a socket", errno);
  // Left by a session that was killed: whoever holds the registry's lock owns the name.
  unlink(path.c_str());
  const mode_t before = umask(077);
  const int bound =
      bind(control.listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  umask(before);
  if (bound != 0) return system_error(path, "cannot listen", errno);
  control.path_ = path;
  epoll_event event{.events = EPOLLIN, .data = {.fd = control.listener_.get()}};
  if (::listen(control.listener_.get(), 8) != 0 ||
      epoll_ctl(control.ready_.get(), EPOLL_CTL_ADD, control.listener_.get(), &event) != 0)
    return system_error(path, "cannot listen", errno);
  return control;
}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      ready_(std::move(other.ready_)),
      listener_(std::move(other.listener_)),
      connections_(std::move(other.connections_)) {}

ControlSocket::~ControlSocket() {
  if (!path_.empty()) unlink(path_.c_str());
}

void ControlSocket::accept_all() {
  for (;;) {
    FileDescriptor connection(
        accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;
    if (!may_ask(connection.get()) || connections_.size() >= kMaxConnections) continue;
    epoll_event event{.events = EPOLLIN, .data = {.fd = connection.get()}};
    if (epoll_ctl(ready_.get(), EPOLL_CTL_ADD, connection.get(), &event) == 0)
      connections_.push_back(std::move(connection));
  }
}

bool ControlSocket::serve(int connection, const Answer& answer) {
  const Result<std::string> packet = receive(connection, MSG_DONTWAIT);
  if (!packet || packet->empty()) return false;
  const Json question = Json::parse(*packet, nullptr, false);
  const std::string text =
      to_text(question.is_object() ? answer(question) : refusal("is no JSON object"));
  // Who does not read the answer does not get another.
  return send(connection, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void ControlSocket::serve(const Answer& answer) {
  epoll_event events[8];
  const int count = epoll_wait(ready_.get(), events, 8, 0);
  for (int i = 0; i < count; ++i) {
    const int file = events[i].data.fd;
    if (file == listener_.get()) {
      accept_all();
    } else if (!serve(file, answer)) {
      std::erase_if(connections_, [&](const FileDescriptor& each) { return each.get() == file; });
    }
  }
}

Result<ControlConnection> ControlConnection::open(const std::string& path) {
  sockaddr_un address;
  if (!set_address(path, address)) return Error{path, std::nullopt, "is too long for a socket"};
  FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error(path, "cannot talk to the session", errno);
  return ControlConnection(path, std::move(connection));
}

Result<ControlConnection::Json> ControlConnection::ask(const Json& question) {
  const std::string text = to_text(question);
  if (send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0)
    return system_error(path_, "cannot ask the session", errno);
  Result<std::string> packet = receive(socket_.get(), 0);
  if (!packet) return Error{path_, std::nullopt, packet.error().cause};
  if (packet->empty()) return Error{path_, std::nullopt, "the session has ended"};
  Json answer = Json::parse(*packet, nullptr, false);
  if (!answer.is_object()) return Error{path_, std::nullopt, "gives an answer that is no JSON"};
  if (const auto error = answer.find("error"); error != answer.end())
    return Error{"", std::nullopt,
                 error->is_string() ? error->get<std::string>() : "the session refuses"};
  return answer;
}

}  // namespace strata::record
