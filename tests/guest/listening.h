// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "guest/listener.h"

namespace strata::guest {

inline const Key kKey({std::byte{1}, std::byte{2}, std::byte{3}});
inline const Key kOtherKey({std::byte{9}});

// A guest's listener in a thread of its own, as an agent has one. What arrives is kept, and what it
// logs.
class Listening {
 public:
  explicit Listening(std::string_view address, Listener::Options options = {}) {
    signal(SIGPIPE, SIG_IGN);
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
      changed_.notify_all();
    };
    listener_ = *Listener::create(kKey, std::move(options));
    const Status status = listener_->listen(*parse_address(address));
    EXPECT_TRUE(status) << status.error().text();
    address_ = listener_->addresses().front();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  const Address& address() const { return address_; }

  // The next to arrive; waits for it.
  std::optional<Arrival> arrival() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return !arrivals_.empty(); })) return {};
    Arrival first = std::move(arrivals_.front());
    arrivals_.erase(arrivals_.begin());
    return first;
  }

  // Whether a line with this in it is logged sooner or later.
  bool logs(const std::string& text, size_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      return static_cast<size_t>(std::ranges::count_if(lines_, [&](const std::string& line) {
               return line.find(text) != std::string::npos;
             })) >= times;
    });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  static constexpr std::chrono::seconds kPatience{20};

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd file{listener_->file(), POLLIN, 0};
      wait_for({&file, 1}, std::min(listener_->next_due(), within(std::chrono::milliseconds(20))));
      std::vector<Arrival> arrivals = listener_->serve();
      const std::lock_guard lock(mutex_);
      for (Arrival& each : arrivals) arrivals_.push_back(std::move(each));
      if (!arrivals.empty()) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::vector<Arrival> arrivals_;
  std::unique_ptr<Listener> listener_;
  Address address_;
  std::jthread thread_;
};

}  // namespace strata::guest
