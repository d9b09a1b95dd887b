// SPDX-License-Identifier: Apache-2.0
#include "collect/listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// A program sends its greeting with connecting; whoever lets us wait for it is none of ours.
constexpr int kGreetingMs = 20;

bool greets(int connection) {
  pollfd readable{connection, POLLIN, 0};
  if (poll(&readable, 1, kGreetingMs) != 1) return false;
  abi::Hello hello{};
  return recv(connection, &hello, sizeof hello, MSG_DONTWAIT) == sizeof hello &&
         hello.magic == abi::kMagic && hello.version == abi::kVersion;
}

// Whether a collector listens there.
bool answers(const sockaddr_un& address) {
  const FileDescriptor attempt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect(attempt.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno == EAGAIN;
}

void answer(int connection, bool accepted, int memory) {
  abi::Welcome welcome{abi::kMagic, abi::kVersion, accepted ? 1u : 0u};
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof memory)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (accepted) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof memory);
    std::memcpy(CMSG_DATA(item), &memory, sizeof memory);
  }
  sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Result<Listener> Listener::open(const std::string& path, bool for_all) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{path, {}, "the path is too long for a socket"};
  path.copy(address.sun_path, path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error(path, "cannot make a socket", errno);
  const auto bind_it = [&] {
    return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  // What is there may be a socket without anybody behind it, or another file, which stays.
  bool bound = bind_it();
  struct stat status;
  if (!bound && errno == EADDRINUSE && lstat(path.c_str(), &status) == 0 &&
      S_ISSOCK(status.st_mode) && !answers(address)) {
    unlink(path.c_str());
    bound = bind_it();
  }
  if (!bound) return system_error(path, "cannot listen there", errno);
  Listener listener(path, std::move(socket));
  if (chmod(path.c_str(), for_all ? 0666 : 0600) != 0 || listen(listener.descriptor(), 128) != 0)
    return system_error(path, "cannot listen there", errno);
  return listener;
}

Listener::~Listener() {
  if (socket_) unlink(path_.c_str());
}

std::optional<Asking> Listener::next() {
  Asking program;
  program.connection =
      FileDescriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!program.connection) return std::nullopt;
  ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(program.connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      !greets(program.connection.get()))
    return std::nullopt;
  program.pid = peer.pid;
  program.user = peer.uid;
  return program;
}

void give_rings(const Asking& program, const RingMemory& memory) {
  answer(program.connection.get(), true, memory.descriptor());
}

void refuse(const Asking& program) { answer(program.connection.get(), false, -1); }

}  // namespace strata::collect
