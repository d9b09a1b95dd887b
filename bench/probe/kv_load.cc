// SPDX-License-Identifier: Apache-2.0
//
// kv_load PORT REQUESTS: asks kv_server so often, over eight connections in turn of which each
// waits for its answer, one in ten to set a value; then tells it to end.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr size_t kConnections = 8;
constexpr uint64_t kKeys = 10'000;

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kv_load PORT REQUESTS\n");
    return 2;
  }
  std::array<int, kConnections> connections{};
  for (int& connection : connections)
    if ((connection = connect_to(static_cast<uint16_t>(std::atoi(argv[1])))) < 0) return 1;
  const std::string value(64, 'v');
  uint64_t random = 88172645463325252;
  for (uint64_t left = std::strtoull(argv[2], nullptr, 10); left > 0;) {
    const size_t now = left < kConnections ? left : kConnections;
    for (size_t i = 0; i < now; ++i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      const std::string key = "key:" + std::to_string(random % kKeys);
      if (!tell(connections[i],
                random / kKeys % 10 == 0 ? "SET " + key + " " + value + "\n" : "GET " + key + "\n"))
        return 1;
    }
    for (size_t i = 0; i < now; ++i) {
      char answer[4096];
      if (recv(connections[i], answer, sizeof answer, 0) <= 0) return 1;
    }
    left -= now;
  }
  return tell(connections.front(), "QUIT\n") ? 0 : 1;
}
