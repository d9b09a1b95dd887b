// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "guest/address.h"
#include "guest/agent_recording.h"
#include "guest/key.h"
#include "guest/listener.h"

namespace strata::guest {

// What runs in a guest and records it for hosts that prove that they have the key. It does nothing
// else for them: there is no command that it executes and no path that it writes to. How many
// hosts and recordings there are at once is bounded.
class Agent {
 public:
  struct Options {
    std::vector<Address> addresses;
    size_t most_hosts = 64;
    size_t most_recordings = 16;
    // Of which nothing is heard for so long is taken for gone: hosts say something every second.
    std::chrono::seconds patience{30};
    std::function<void(const std::string&)> log;
  };

  static Result<std::unique_ptr<Agent>> create(const Key& key, Options options);
  ~Agent();

  // Where it listens.
  std::vector<Address> addresses() const { return listener_->addresses(); }
  // Until it is over, which is asked when this descriptor is readable. Recordings that are going on
  // end then.
  void run(int file, const std::function<bool()>& is_over);

 private:
  struct Host;

  explicit Agent(Options options);
  bool awaits(const Attach& attach) const;
  void greet(Arrival arrival);
  void attach(Arrival arrival);
  void serve(Host& host);
  Status listen_to(Host& host);
  Status answer(Host& host, const Message& message);
  Status start(Host& host, const Message& message);
  void wait(int file);
  void drop_the_dead();
  void end_all();
  size_t recordings() const;
  void log(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  Options options_;
  std::string folder_;  // of recordings that are going on
  Description description_;
  std::unique_ptr<Listener> listener_;
  std::list<Host> hosts_;
  uint64_t next_session_ = 1;
};

}  // namespace strata::guest
