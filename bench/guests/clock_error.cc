// SPDX-License-Identifier: Apache-2.0
//
// clock_error RUNS: how well two processes of one machine find out, by messages over loopback TCP,
// that they have one and the same counter. Each run is a recording in small: a burst, a while, a
// burst. A line for each run, all in nanoseconds: the map's largest error between the bursts; its
// bound; half of the smallest round trip, of the burst where that is longer; the error of the first
// burst alone; how long that took.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "clock/calibrate.h"
#include "clock/offset_estimate.h"
#include "clock/probe_exchange.h"
#include "clock/tsc.h"

namespace {

using namespace strata;
using namespace std::chrono_literals;

constexpr auto kBetweenBursts = 50ms;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
  }
  return *std::move(result);
}

class TcpLink : public clock::ProbeLink {
 public:
  explicit TcpLink(FileDescriptor socket) : socket_(std::move(socket)) {
    const int on = 1;
    if (setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
      fail("TCP_NODELAY");
  }
  Status send(const clock::ProbeBytes& bytes) override {
    if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes))
      return {};
    return system_error("", "cannot send", errno);
  }
  Result<bool> try_receive(clock::ProbeBytes& bytes) override {
    const auto rest = std::span(part_).subspan(have_);
    const ssize_t got = recv(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) return Error{"", std::nullopt, "the other end has gone"};
    have_ += static_cast<size_t>(got);
    if (have_ < part_.size()) return false;
    have_ = 0;
    bytes = part_;
    return true;
  }
  void wait(std::chrono::microseconds most) override {
    pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    poll(&one, 1, static_cast<int>(std::max<int64_t>(most.count() / 1000, 1)));
  }

 private:
  FileDescriptor socket_;
  clock::ProbeBytes part_{};
  size_t have_ = 0;
};

std::pair<FileDescriptor, FileDescriptor> connected() {
  const FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  FileDescriptor one(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(listener.get(), generic, size) != 0 || listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), generic, &size) != 0 || connect(one.get(), generic, size) != 0)
    fail("cannot connect over loopback");
  FileDescriptor other(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!other) fail("accept");
  return {std::move(one), std::move(other)};
}

double measure_ns_per_tick() {
  std::array<clock::Anchor, 2> anchors;
  anchors[0] = clock::take_anchor();
  std::this_thread::sleep_for(200ms);
  anchors[1] = clock::take_anchor();
  const trace::ClockPiece line =
      value_of(clock::fit_line(anchors, clock::Reading::Tsc, clock::Reading::MonotonicRaw));
  return std::ldexp(static_cast<double>(line.mult), -line.shift);
}

double half_smallest_round_trip(const clock::Burst& burst) {
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < burst.forth.size(); ++i) {
    const uint64_t whole = burst.back[i].received - burst.forth[i].sent;
    least = std::min(least, whole - (burst.back[i].sent - burst.forth[i].received));
  }
  return static_cast<double>(least) / 2;
}

void run(clock::ProbeLink& link, uint64_t number, double ns_per_tick) {
  const auto begin = std::chrono::steady_clock::now();
  const clock::Burst first = value_of(clock::ask(link, number, clock::read_tsc));
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  std::this_thread::sleep_for(kBetweenBursts);
  const clock::Burst second = value_of(clock::ask(link, number + 1, clock::read_tsc));

  const clock::Meeting meeting = value_of(clock::meet(first));
  const std::vector<clock::Burst> bursts = {value_of(clock::fastest(first)),
                                            value_of(clock::fastest(second))};
  const trace::ClockMap map = value_of(clock::map_through(bursts, ns_per_tick));
  uint64_t worst = 0;
  const trace::ClockPiece& piece = map.pieces().front();
  for (const uint64_t at : {piece.t0, (piece.t0 + map.pieces()[1].t0) / 2, map.pieces()[1].t0})
    worst = std::max(worst, static_cast<uint64_t>(std::abs(map.at(at) - static_cast<int64_t>(at))));
  const double half =
      std::max(half_smallest_round_trip(first), half_smallest_round_trip(second)) * ns_per_tick;
  const auto alone = std::abs(meeting.here - static_cast<int64_t>(meeting.there));
  std::printf("%.0f %llu %.0f %.0f %lld\n", static_cast<double>(worst) * ns_per_tick,
              static_cast<unsigned long long>(piece.bound_ns), half,
              static_cast<double>(alone) * ns_per_tick, static_cast<long long>(took.count()));
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc == 2 ? std::atoi(argv[1]) : 0;
  if (runs < 1) {
    std::fprintf(stderr, "usage: clock_error RUNS\n");
    return 2;
  }
  std::pair<FileDescriptor, FileDescriptor> ends = connected();
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ends.first.reset();
    TcpLink link(std::move(ends.second));
    for (int i = 0; i < 2 * runs; ++i)
      if (!clock::answer(link, static_cast<uint64_t>(i), clock::read_tsc, {.patience = 10s}))
        return 1;
    return 0;
  }
  ends.second.reset();
  TcpLink link(std::move(ends.first));
  const double ns_per_tick = measure_ns_per_tick();
  for (int i = 0; i < runs; ++i) run(link, 2 * static_cast<uint64_t>(i), ns_per_tick);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
