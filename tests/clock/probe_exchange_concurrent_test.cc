// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "clock/offset_estimate.h"
#include "clock/probe_exchange.h"

namespace strata::clock {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// One end of a pair of sockets, each probe a packet.
class SocketEnd : public ProbeLink {
 public:
  explicit SocketEnd(int fd) : fd_(fd) {}
  Status send(const ProbeBytes& bytes) override {
    if (::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
      return system_error("", "cannot send", errno);
    return {};
  }
  Result<bool> try_receive(ProbeBytes& bytes) override {
    const ssize_t got = recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) return Error{"", std::nullopt, "the other end has gone"};
    return true;
  }
  void wait(std::chrono::microseconds most) override { std::this_thread::sleep_for(most / 10); }

 private:
  FileDescriptor fd_;
};

struct Ends {
  std::unique_ptr<SocketEnd> here;
  std::unique_ptr<SocketEnd> there;
  Ends() {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    here = std::make_unique<SocketEnd>(pair[0]);
    there = std::make_unique<SocketEnd>(pair[1]);
  }
};

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
uint64_t a_second_later() { return now() + 1'000'000'000; }

TEST(ProbeExchange, TellsBothEndsTheSame) {
  const Ends ends;
  Result<Burst> there = Burst{};
  std::thread other([&] { there = answer(*ends.there, 7, a_second_later, {.patience = 60s}); });
  const Result<Burst> here =
      ask(*ends.here, 7, now, {.messages = 400, .time = 60s, .patience = 60s});
  other.join();
  ASSERT_TRUE(here) << here.error().text();
  ASSERT_TRUE(there) << there.error().text();
  EXPECT_EQ(here->forth.size(), 200u);
  EXPECT_EQ(here->back.size(), 200u);
  EXPECT_EQ(here->forth, there->back);
  // When the last message came, its sender does not learn.
  EXPECT_EQ(std::vector(here->back.begin(), here->back.end() - 1), there->forth);

  const Result<Meeting> meeting = meet(*here, 1.0);
  ASSERT_TRUE(meeting) << meeting.error().text();
  const double off =
      static_cast<double>(static_cast<int64_t>(meeting->there - 1'000'000'000) - meeting->here);
  EXPECT_LE(std::abs(off), static_cast<double>(meeting->bound));
}

TEST(ProbeExchange, EndsInTime) {
  const Ends ends;
  Result<Burst> there = Burst{};
  std::thread other([&] { there = answer(*ends.there, 1, now, {.patience = 60s}); });
  const Result<Burst> here =
      ask(*ends.here, 1, now, {.messages = 1'000'000'000, .time = 20ms, .patience = 60s});
  other.join();
  ASSERT_TRUE(here) << here.error().text();
  ASSERT_TRUE(there) << there.error().text();
  EXPECT_LT(here->forth.size(), 900'000u);
}

TEST(ProbeExchange, PassesOverWhatIsLeftOfAnother) {
  const Ends ends;
  ASSERT_TRUE(ends.there->send(to_bytes({.number = 1, .burst = 3})));
  ASSERT_TRUE(ends.there->send(to_bytes({.number = 3, .last = true, .burst = 3})));
  std::thread other([&] { EXPECT_TRUE(answer(*ends.there, 4, now, {.patience = 60s})); });
  const Result<Burst> here = ask(*ends.here, 4, now, {.messages = 10, .patience = 60s});
  other.join();
  ASSERT_TRUE(here) << here.error().text();
  EXPECT_EQ(here->forth.size(), 5u);
}

TEST(ProbeExchange, GivesUpAnEndThatDoesNotAnswer) {
  const Ends ends;
  const Result<Burst> here = ask(*ends.here, 1, now, {.time = 0ms, .patience = 10ms});
  ASSERT_FALSE(here);
  EXPECT_THAT(here.error().cause, HasSubstr("does not answer"));
}

TEST(ProbeExchange, GivesUpAnEndThatSpeaksOfOtherBurstsForEver) {
  const Ends ends;
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done && ends.there->send(to_bytes({.burst = 9}))) {
      ProbeBytes bytes;
      while (*ends.there->try_receive(bytes)) {
      }
    }
  });
  const Result<Burst> here = ask(*ends.here, 1, now, {.time = 0ms, .patience = 10ms});
  done = true;
  // Room for one that is being sent.
  ProbeBytes bytes;
  for (int i = 0; i < 1000; ++i) (void)ends.here->try_receive(bytes);
  other.join();
  ASSERT_FALSE(here);
}

TEST(ProbeExchange, RefusesAMessageOutOfTurn) {
  const Ends ends;
  ASSERT_TRUE(ends.there->send(to_bytes({.number = 5, .burst = 1})));
  const Result<Burst> here = ask(*ends.here, 1, now);
  ASSERT_FALSE(here);
  EXPECT_THAT(here.error().cause, HasSubstr("out of turn"));
}

TEST(ProbeExchange, EndsWithTheLink) {
  Ends ends;
  ends.there.reset();
  EXPECT_FALSE(ask(*ends.here, 1, now));
}

}  // namespace
}  // namespace strata::clock
