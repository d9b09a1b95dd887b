// SPDX-License-Identifier: Apache-2.0
//
// kv_load WARM_UP REQUESTS TIMES PORT:PID...: asks several kv_servers the same, each over eight
// connections in turn of which each waits for its answer, one in ten to set a value; then tells
// them to end. TIMES lines, each with the CPU nanoseconds that a request has taken each of the
// servers.
//
// They are asked in short turns, so that a machine that changes its speed, or is busy with
// something else, does so to all of them.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr size_t kConnections = 8;
constexpr uint64_t kKeys = 10'000;
constexpr uint64_t kTurn = 1000;  // requests

int connect_to(uint16_t port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int at_once = 1;
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) != 0)
    return -1;
  return connection;
}

bool tell(int connection, const std::string& line) {
  return send(connection, line.data(), line.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(line.size());
}

struct Random {
  uint64_t state = 88172645463325252;
  uint64_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
};

class Server {
 public:
  // "PORT:PID"
  bool connect(const char* where) {
    char* pid = nullptr;
    const auto port = static_cast<uint16_t>(std::strtoul(where, &pid, 10));
    if (*pid != ':' || clock_getcpuclockid(std::atoi(pid + 1), &clock_) != 0) return false;
    for (int& connection : connections_)
      if ((connection = connect_to(port)) < 0) return false;
    return true;
  }

  bool ask(uint64_t requests) {
    const double begin = cpu_ns();
    for (uint64_t left = requests; left > 0;) {
      const size_t now = left < kConnections ? left : kConnections;
      for (size_t i = 0; i < now; ++i)
        if (!tell(connections_[i], next_request())) return false;
      for (size_t i = 0; i < now; ++i) {
        char answer[4096];
        if (recv(connections_[i], answer, sizeof answer, 0) <= 0) return false;
      }
      left -= now;
    }
    taken_ += cpu_ns() - begin;
    return true;
  }

  bool end() { return tell(connections_.front(), "QUIT\n"); }

  // Since it was last asked for.
  double taken_ns() { return std::exchange(taken_, 0); }

 private:
  std::string next_request() {
    const uint64_t random = random_.next();
    const std::string key = "key:" + std::to_string(random % kKeys);
    if (random / kKeys % 10 != 0) return "GET " + key + "\n";
    return "SET " + key + " " + std::string(64, 'v') + "\n";
  }
  double cpu_ns() const {
    timespec now{};
    clock_gettime(clock_, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  }

  std::array<int, kConnections> connections_{};
  clockid_t clock_ = 0;
  Random random_;
  double taken_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: kv_load WARM_UP REQUESTS PORT:PID...\n");
    return 2;
  }
  const uint64_t warm_up = std::strtoull(argv[1], nullptr, 10);
  const uint64_t turns = (std::strtoull(argv[2], nullptr, 10) + kTurn - 1) / kTurn;
  std::vector<Server> servers(static_cast<size_t>(argc) - 3);
  for (size_t i = 0; i < servers.size(); ++i)
    if (!servers[i].connect(argv[i + 3]) || !servers[i].ask(warm_up)) return 1;
  for (Server& server : servers) server.taken_ns();
  Random order;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    // Who comes first, and after whom, is chance: the machine may be the warmer for it.
    std::vector<Server*> left;
    for (Server& server : servers) left.push_back(&server);
    for (; !left.empty(); left.pop_back()) {
      std::swap(left[order.next() % left.size()], left.back());
      if (!left.back()->ask(kTurn)) return 1;
    }
  }
  for (Server& server : servers) {
    std::printf("%.1f ", server.taken_ns() / static_cast<double>(turns * kTurn));
    if (!server.end()) return 1;
  }
}
