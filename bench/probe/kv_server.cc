// SPDX-License-Identifier: Apache-2.0
//
// kv_server: a small key-value server, the real program whose probes are measured. One thread;
// lines "GET key", "SET key value", "QUIT" over TCP on loopback. Prints its port.
//
// Compiled twice, with the probes (KV_PROBES) and without: five a request.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>

#ifdef KV_PROBES
#include <strata/probe.h>
STRATA_EVENT(kv, received, STRATA_INFO, (s32, connection), (u32, bytes));
STRATA_EVENT(kv, parsed, STRATA_INFO, (u32, command), (string, key));
STRATA_EVENT(kv, found, STRATA_DEBUG, (u32, bytes));
STRATA_EVENT(kv, replied, STRATA_INFO, (s32, connection), (s64, bytes));
STRATA_SPAN_EVENT(kv, request, STRATA_INFO, (u64, number));
#define PROBE(...) STRATA_TRACE(kv, __VA_ARGS__)
#define PROBE_SPAN(...) STRATA_SPAN(kv, __VA_ARGS__)
#else
#define PROBE(...) (void)0
#define PROBE_SPAN(...) (void)0
#endif

namespace {

enum class Command : uint32_t { Unknown, Get, Set, Quit };

struct Request {
  Command command = Command::Unknown;
  std::string key;
  std::string_view value;
};

std::string_view take_word(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

Request parse(std::string_view line) {
  const std::string_view name = take_word(line);
  Request request;
  if (name == "GET") request.command = Command::Get;
  if (name == "SET") request.command = Command::Set;
  if (name == "QUIT") request.command = Command::Quit;
  request.key = take_word(line);
  request.value = line;
  return request;
}

class Server {
 public:
  // False: it was told to end.
  bool serve(int connection) {
    char text[4096];
    const ssize_t size = recv(connection, text, sizeof text, 0);
    if (size <= 0) return size == 0 ? close(connection) == 0 : true;
    ++requests_;
    PROBE_SPAN(request, requests_);
    PROBE(received, connection, static_cast<uint32_t>(size));
    const Request request = parse({text, static_cast<size_t>(size) - 1});  // without its newline
    PROBE(parsed, static_cast<uint32_t>(request.command), request.key.c_str());
    if (request.command == Command::Quit) return false;
    const std::string reply = answer(request);
    PROBE(found, static_cast<uint32_t>(reply.size()));
    [[maybe_unused]] const ssize_t sent =
        send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
    PROBE(replied, connection, sent);
    return true;
  }

 private:
  std::string answer(const Request& request) {
    if (request.command == Command::Set) {
      values_[request.key] = request.value;
      return "OK\n";
    }
    const auto found = values_.find(request.key);
    return found != values_.end() ? found->second + "\n" : "NONE\n";
  }

  std::unordered_map<std::string, std::string> values_;
  uint64_t requests_ = 0;
};

int listen_on_loopback() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 64) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return -1;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

void watch(int epoll, int descriptor) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.fd = descriptor;
  epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &wanted);
}

}  // namespace

int main() {
  const int listener = listen_on_loopback();
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (listener < 0 || epoll < 0) return 1;
  watch(epoll, listener);
  Server server;
  for (bool goes_on = true; goes_on;) {
    epoll_event ready[64];
    const int count = epoll_wait(epoll, ready, 64, -1);
    for (int i = 0; i < count && goes_on; ++i) {
      if (ready[i].data.fd != listener) {
        goes_on = server.serve(ready[i].data.fd);
        continue;
      }
      const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const int at_once = 1;
      setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      watch(epoll, connection);
    }
  }
}
