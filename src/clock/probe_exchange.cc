// SPDX-License-Identifier: Apache-2.0
#include "clock/probe_exchange.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::clock {
namespace {

using Clock = std::chrono::steady_clock;

// So many messages both ends wait for their answers by polling, then as many asleep, and so on. On
// an idle machine polling is faster, since nobody has to be woken up; on a busy one it keeps the
// other end from its CPU, and uses up what a sleeper would get at once. Which of them it is shows
// by itself. What matters is that both ends do the same: a message to one that polls is faster than
// one to a sleeper.
constexpr uint32_t kInOneWay = 32;
// An answer that takes longer finds the other end waiting for a CPU.
constexpr auto kMostPolling = std::chrono::microseconds(100);
// A link need not notice at once that something has come.
constexpr auto kSleep = std::chrono::milliseconds(1);

Error failed(const char* why) { return {"", std::nullopt, std::string("the clocks: ") + why}; }

// One end of a burst. Messages of both ends are numbered in one row.
class Exchange {
 public:
  Exchange(ProbeLink& link, uint64_t burst, const ReadCounter& counter, const BurstLimits& limits)
      : link_(link), burst_(burst), counter_(counter), limits_(limits), begin_(Clock::now()) {}

  Result<Burst> ask() {
    for (bool last = false; !last;) {
      last = next_ + 2 >= limits_.messages || Clock::now() - begin_ >= limits_.time;
      if (Status sent = send(last); !sent) return std::move(sent).error();
      Result<Probe> answer = receive();
      if (!answer) return std::move(answer).error();
      if (answer->last != last) return failed("the other end ends a burst that it did not begin");
    }
    return std::move(known_);
  }

  Result<Burst> answer() {
    while (true) {
      const Result<Probe> asked = receive();
      if (!asked) return asked.error();
      if (Status sent = send(asked->last); !sent) return std::move(sent).error();
      if (asked->last) return std::move(known_);
      if (next_ >= kMostMessages) return failed("the other end does not end a burst");
    }
  }

 private:
  // What is kept of another who asks without end: 16 MB.
  static constexpr uint32_t kMostMessages = 1 << 20;

  Status send(bool last) {
    Probe probe{.number = next_++, .last = last, .burst = burst_, .received = received_};
    probe.sent = sent_ = counter_();
    return link_.send(to_bytes(probe));
  }

  // The next message of this burst. What it tells of the one before goes into what is known.
  Result<Probe> receive() {
    const Clock::time_point begin = Clock::now();
    ProbeBytes bytes{};
    while (true) {
      const Result<bool> came = link_.try_receive(bytes);
      if (!came) return came.error();
      const uint64_t received = counter_();
      const Probe probe = *came ? to_probe(bytes) : Probe{};
      // It may be of a burst that was given up.
      if (*came && probe.burst == burst_) {
        if (Status taken = take(probe, received); !taken) return std::move(taken).error();
        return probe;
      }
      const Clock::time_point now = Clock::now();
      if (now - begin_ >= limits_.time + limits_.patience)
        return failed("the other end does not answer");
      const bool polls = next_ / kInOneWay % 2 == 0 && now - begin < kMostPolling;
      if (!*came && !polls) link_.wait(kSleep);
    }
  }

  Status take(const Probe& probe, uint64_t received) {
    if (probe.number != next_) return failed("a message is out of turn");
    // The very first one answers nothing.
    if (next_ > 0) known_.forth.push_back({sent_, probe.received});
    known_.back.push_back({probe.sent, received});
    received_ = received;
    ++next_;
    return {};
  }

  ProbeLink& link_;
  uint64_t burst_;
  const ReadCounter& counter_;
  const BurstLimits& limits_;
  Clock::time_point begin_;
  uint32_t next_ = 0;  // the number of the message that comes next, from whichever end
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
  Burst known_;
};

}  // namespace

Result<Burst> ask(ProbeLink& link, uint64_t number, const ReadCounter& counter,
                  const BurstLimits& limits) {
  return Exchange(link, number, counter, limits).ask();
}

Result<Burst> answer(ProbeLink& link, uint64_t number, const ReadCounter& counter,
                     const BurstLimits& limits) {
  return Exchange(link, number, counter, limits).answer();
}

}  // namespace strata::clock
