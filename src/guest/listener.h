// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/address.h"
#include "guest/connection.h"
#include "guest/handshake.h"
#include "guest/key.h"
#include "guest/tls.h"

namespace strata::guest {

// A host that has called, and has proved that it may.
struct Arrival {
  Connection connection;
  uint16_t version = 0;
  // A channel for this stream of a recording; the host waits for pages, Attached has been sent.
  // Otherwise a control connection, on which the Description is awaited.
  std::optional<Attach> attach = {};
};

// The guest's end: whoever calls is heard, and given on when it has proved that it has the key.
//
// Until then nobody can do harm. What a caller may send is short and must come soon; of those who
// have proved nothing only a number are listened to at once, and when one more comes the oldest
// has to go. On vsock only the host itself is let in. Each that is turned away is a line for the
// log.
//
// Ports of virtio-serial have neither callers nor ends: such a port is opened, and whatever is read
// from it is thrown away until somebody says hello in earnest. Once the arrival's channel is
// closed, the port is opened anew.
class Listener {
 public:
  struct Options {
    Versions versions = kVersions;
    // Whether such a stream is awaited (see equal_secrets()); none is without it.
    std::function<bool(const Attach&)> awaits;
    std::function<void(const std::string&)> log;
    size_t most_unproved = 64;
    std::chrono::milliseconds patience{5000};
  };

  static Result<std::unique_ptr<Listener>> create(const Key& key, Options options);
  ~Listener();

  // As often as there are addresses. With a control port of virtio-serial goes a port for each
  // stream, as far as there are such ports.
  Status listen(const Address& address);
  // Where it listens, with the port that the kernel chose for port 0.
  std::vector<Address> addresses() const;

  // Readable when there is something to serve; besides, at next_due().
  int file() const { return ready_.get(); }
  Deadline next_due() const;
  // Does what can be done without waiting.
  std::vector<Arrival> serve();

 private:
  struct Door;    // where callers come in
  struct Caller;  // who has proved nothing so far

  Listener(const Key& key, Options options, TlsContext tls);
  bool add_port(const Result<Address>& address);
  void let_in(Door& door);
  void open_port(Door& door);
  void add_caller(Door& door, std::unique_ptr<Channel> channel);
  void hear(Caller& caller, std::vector<Arrival>& arrivals);
  Status answer(Caller& caller, const Message& message);
  void turn_away(Caller& caller, const std::string& why);
  void drop_late_ones();
  void watch(Caller& caller);

  Key key_;
  Options options_;
  TlsContext tls_;
  FileDescriptor ready_;  // an epoll
  std::list<Door> doors_;
  std::list<Caller> callers_;  // the oldest first
};

}  // namespace strata::guest
