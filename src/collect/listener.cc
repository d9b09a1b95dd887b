// SPDX-License-Identifier: Apache-2.0
#include "collect/listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "collect/descriptor_message.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// A program sends its greeting with connecting. Of those that do not, the oldest go.
constexpr size_t kMostSilent = 64;

// Reads the greeting, which has come, or the end of the connection.
bool greets(Asking& asking) {
  const std::optional<ReceivedMessage> message = receive_message(asking.connection.get(), 0);
  if (!message) return false;
  if (message->bytes.size() == sizeof(SessionHello)) {
    SessionHello& hello = asking.session.emplace();
    std::memcpy(&hello, message->bytes.data(), sizeof hello);
    return hello.magic == kSessionMagic && hello.version == abi::kVersion;
  }
  abi::Hello hello;
  if (message->bytes.size() != sizeof hello) return false;
  std::memcpy(&hello, message->bytes.data(), sizeof hello);
  return hello.magic == abi::kMagic && hello.version == abi::kVersion;
}

// False: the path is too long.
bool make_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  path.copy(address.sun_path, path.size());
  return true;
}

void answer(int connection, std::span<const int> memory) {
  const abi::Welcome welcome{abi::kMagic, abi::kVersion, memory.empty() ? 0u : 1u};
  (void)send_message(connection, std::as_bytes(std::span(&welcome, 1)), memory);
}

}  // namespace

Result<Listener> Listener::open(const std::string& path, bool for_all) {
  sockaddr_un address;
  if (!make_address(path, address)) return Error{path, {}, "the path is too long for a socket"};
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error(path, "cannot make a socket", errno);
  const auto bind_it = [&] {
    return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  // What is there may be a socket without anybody behind it, or another file, which stays.
  bool bound = bind_it();
  struct stat status;
  if (!bound && errno == EADDRINUSE && lstat(path.c_str(), &status) == 0 &&
      S_ISSOCK(status.st_mode) && !is_listened_at(path)) {
    unlink(path.c_str());
    bound = bind_it();
  }
  if (!bound) return system_error(path, "cannot listen there", errno);
  Listener listener(path, std::move(socket));
  if (chmod(path.c_str(), for_all ? 0666 : 0600) != 0 || listen(listener.socket(), 128) != 0)
    return system_error(path, "cannot listen there", errno);
  if (Status watched = listener.watch(listener.socket()); !watched)
    return std::move(watched).error();
  return listener;
}

Result<Listener> Listener::take(std::string path, FileDescriptor socket) {
  Listener listener(std::move(path), std::move(socket));
  if (Status status = listener.watch(listener.socket()); !status) return std::move(status).error();
  return listener;
}

Listener::~Listener() {
  if (socket_ && !path_.empty()) unlink(path_.c_str());
}

bool is_listened_at(const std::string& path) {
  sockaddr_un address;
  if (!make_address(path, address)) return false;
  const FileDescriptor attempt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect(attempt.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno == EAGAIN;
}

Status Listener::watch(int descriptor) {
  if (!arrivals_) arrivals_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  epoll_event readable{EPOLLIN, {.fd = descriptor}};
  if (!arrivals_ || epoll_ctl(arrivals_.get(), EPOLL_CTL_ADD, descriptor, &readable) != 0)
    return system_error(path_, "cannot wait for programs there", errno);
  return {};
}

void Listener::accept_next() {
  Asking asking;
  asking.connection =
      FileDescriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer;
  socklen_t size = sizeof peer;
  if (!asking.connection ||
      getsockopt(asking.connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      !watch(asking.connection.get()))
    return;
  asking.pid = peer.pid;
  asking.user = peer.uid;
  if (silent_.size() == kMostSilent) silent_.erase(silent_.begin());
  silent_.push_back(std::move(asking));
}

std::optional<Asking> Listener::next() {
  // Who has just connected has mostly spoken, too: then the second turn finds it.
  for (int turn = 0; turn < 2; ++turn) {
    epoll_event ready[2];
    const int count = epoll_wait(arrivals_.get(), ready, 2, 0);
    if (count <= 0) break;
    for (int i = 0; i < count; ++i) {
      const auto speaks = std::ranges::find_if(silent_, [&](const Asking& asking) {
        return asking.connection.get() == ready[i].data.fd;
      });
      if (speaks == silent_.end()) continue;
      Asking asking = std::move(*speaks);
      silent_.erase(speaks);
      epoll_ctl(arrivals_.get(), EPOLL_CTL_DEL, asking.connection.get(), nullptr);
      if (!greets(asking)) return std::nullopt;
      return asking;
    }
    accept_next();
  }
  return std::nullopt;
}

void give_rings(const Asking& program, const RingMemory& memory) {
  const Result<FileDescriptor> file = memory.reopen();
  if (!file) return refuse(program);
  const int descriptor = file->get();
  answer(program.connection.get(), std::span(&descriptor, 1));
}

void refuse(const Asking& program) { answer(program.connection.get(), {}); }

}  // namespace strata::collect
