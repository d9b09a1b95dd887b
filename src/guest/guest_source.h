// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "guest/address.h"
#include "guest/dial.h"
#include "guest/guest_clock.h"
#include "guest/guest_files.h"
#include "guest/guest_pages.h"
#include "guest/key.h"
#include "guest/request.h"
#include "record/machine_source.h"

namespace strata::guest {

constexpr uint64_t kDefaultQuota = uint64_t{16} << 30;

// A guest that is to be recorded along.
struct GuestRequest {
  std::string name;  // as the recording calls it; see is_guest_name()
  Address address;
  Request request;
  uint64_t quota = kDefaultQuota;  // bytes on the host's disk
};

// A name that tells it apart in the recording's folder, whatever other guests are called.
bool is_guest_name(const std::string& name);

// A guest as a part of a host's recording, by the agent that runs in it: its pages, files and
// clock. See MachineSource for what becomes of one that is not there, or goes away.
//
// One thread talks to the agent and compares the clocks, another moves pages.
class GuestSource final : public record::MachineSource {
 public:
  GuestSource(GuestRequest wanted, Key key);
  ~GuestSource() override;

  const std::string& name() const override { return wanted_.name; }
  void call(const std::string& folder, const record::HostClock& clock) override;
  std::vector<pid_t> threads() const override;
  Status start() override;
  record::SourceStatus status() override;
  void ask_to_end() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override;
  int file() const override { return news_.get(); }
  recording::Machine machine() const override;
  std::vector<recording::NamedClock> clocks() const override;
  std::vector<trace::ClockMap> maps() const override;
  std::vector<Error> problems() override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : uint8_t { Calling, Recording, Ended };

  void run();
  Status begin();
  Status await_start(Deadline deadline);
  Status attach_streams(Deadline deadline);
  Status talk();
  Status hear_all();
  Status hear(const Message& message);
  Status say_what_is_due(Clock::time_point now);
  Status finish();
  void take_files();
  void forget_trace();
  void watch_silence(Clock::time_point now);
  void tell_news() const;
  void note(std::string problem);
  void end(const std::string& why);
  std::string clock_name(const std::string& own) const;

  const GuestRequest wanted_;
  const Key key_;
  const record::HostClock* host_clock_ = nullptr;
  Quota quota_;
  std::optional<GuestFiles> files_;
  std::optional<GuestPages> pages_;
  std::optional<GuestClock> clock_;
  std::optional<Connection> connection_;
  Clock::time_point heard_{};
  Clock::time_point next_word_{};
  Clock::time_point next_burst_{};
  uint64_t words_ = 0;
  bool is_silent_ = false;
  bool is_done_ = false;  // the agent has said so,
  std::string why_done_;  // and why
  FileDescriptor wake_;   // for the thread
  FileDescriptor news_;   // of it
  std::atomic<bool> asked_to_end_ = false;

  mutable std::mutex mutex_;  // for what follows, of which both threads know
  std::condition_variable changed_;
  Phase phase_ = Phase::Calling;
  recording::Machine machine_;
  Started started_;
  record::SourceStatus status_;
  std::vector<recording::Part> parts_;
  std::vector<recording::NamedClock> own_clocks_;
  std::map<std::string, std::string> part_clocks_;  // by what the part tells
  std::vector<Error> problems_;

  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::guest
