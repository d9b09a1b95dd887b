// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::record {

// How other processes talk to a running session: a socket beside its entry in the registry.
//
// One packet asks, one answers; both are JSON objects. A question says what to do in "do"; an
// answer that has an "error" tells why it was not done. Only the session's own user and root are
// heard.
class ControlSocket {
 public:
  using Json = nlohmann::ordered_json;
  using Answer = std::function<Json(const Json& question)>;

  // `path` is made, for its owner alone, and removed with this object.
  static Result<ControlSocket> listen(const std::string& path);
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // Readable when somebody asks.
  int file() const { return ready_.get(); }
  // Answers what has been asked so far; does not wait.
  void serve(const Answer& answer);

 private:
  ControlSocket() = default;
  void accept_all();
  // False: there will be no more from this one.
  bool serve(int connection, const Answer& answer);

  std::string path_;
  FileDescriptor ready_;  // an epoll of the others
  FileDescriptor listener_;
  std::vector<FileDescriptor> connections_;
};

// The other end.
class ControlConnection {
 public:
  using Json = ControlSocket::Json;

  static Result<ControlConnection> open(const std::string& path);
  // Waits for the answer; one that tells an error is an error.
  Result<Json> ask(const Json& question);

 private:
  ControlConnection(std::string path, FileDescriptor socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}

  std::string path_;
  FileDescriptor socket_;
};

}  // namespace strata::record
