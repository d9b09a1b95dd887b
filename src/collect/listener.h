// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/ring_memory.h"
#include "collect/session_link.h"

namespace strata::collect {

// A program that asks for rings, or a session that asks for those of all programs. Who it is, the
// kernel says.
struct Asking {
  FileDescriptor connection;
  pid_t pid = 0;
  uid_t user = 0;
  std::optional<SessionHello> session = {};
};

// The socket at which they ask.
class Listener {
 public:
  // Makes the socket. It is for its owner alone, or for everybody where `for_all` is set: then who
  // asks decides what is given. A socket that a killed collector left is replaced.
  static Result<Listener> open(const std::string& path, bool for_all = false);
  // One that was made by somebody else, who is gone: who waits there is served now.
  static Result<Listener> take(std::string path, FileDescriptor socket);
  Listener(Listener&& other) noexcept = default;
  Listener& operator=(Listener&& other) noexcept = default;
  ~Listener();

  // To wait for, with others: readable when next() has something to do.
  int descriptor() const { return arrivals_.get(); }
  // The socket itself, for others to have.
  int socket() const { return socket_.get(); }
  // Others have it too: it stays when this one ends.
  void leave_to_others() { path_.clear(); }
  // The next one; nothing where nobody asks, or what asks does not speak as one of ours. Whoever
  // has connected and not spoken yet, since it was interrupted, say, keeps nobody else waiting.
  std::optional<Asking> next();

 private:
  Listener(std::string path, FileDescriptor socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}
  Status watch(int descriptor);
  void accept_next();

  std::string path_;
  FileDescriptor socket_;
  FileDescriptor arrivals_;     // an epoll, of the socket and of those that are silent
  std::vector<Asking> silent_;  // that have not spoken yet, the newest last
};

// Whether anybody has a socket there that takes connections.
bool is_listened_at(const std::string& path);

// The answers to programs. That it died meanwhile is no error: there is nobody to tell.
void give_rings(const Asking& program, const RingMemory& memory);
void refuse(const Asking& program);

}  // namespace strata::collect
