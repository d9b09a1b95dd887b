// SPDX-License-Identifier: Apache-2.0
#include "guest/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/small_file.h"

namespace strata::guest {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

template <typename T>
SocketAddress to_socket_address(const T& value) {
  SocketAddress address;
  std::memcpy(&address.storage, &value, sizeof value);
  address.size = sizeof value;
  return address;
}

Result<std::vector<SocketAddress>> resolve_tcp(const Address& address, bool to_listen) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE | AI_NUMERICHOST : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(),
                                &hints, &found);
  if (error != 0)
    return Error{address.text(), std::nullopt,
                 to_listen ? "is no numeric address to listen at"
                           : std::string("cannot be found: ") + gai_strerror(error)};
  std::vector<SocketAddress> all;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress& one = all.emplace_back();
    std::memcpy(&one.storage, each->ai_addr, each->ai_addrlen);
    one.size = each->ai_addrlen;
  }
  freeaddrinfo(found);
  return all;
}

Result<std::vector<SocketAddress>> resolve(const Address& address, bool to_listen) {
  if (address.transport == Transport::Tcp) return resolve_tcp(address, to_listen);
  if (address.transport == Transport::Vsock) {
    sockaddr_vm vm{};
    vm.svm_family = AF_VSOCK;
    vm.svm_cid = address.cid;
    vm.svm_port = address.port;
    return std::vector{to_socket_address(vm)};
  }
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof path.sun_path)
    return Error{address.path, std::nullopt, "is too long for a socket"};
  address.path.copy(path.sun_path, address.path.size());
  return std::vector{to_socket_address(path)};
}

FileDescriptor new_socket(const SocketAddress& address) {
  return FileDescriptor(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Whole messages are given to the kernel at once, so that waiting for more to send gains nothing.
void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// 0, or why it is not connected.
int finish_connecting(int socket, Deadline deadline) {
  pollfd writable{socket, POLLOUT, 0};
  if (!wait_for({&writable, 1}, deadline)) return ETIMEDOUT;
  int number = 0;
  socklen_t size = sizeof number;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size) == 0 ? number : errno;
}

// 0, or why not. IPv6 takes connections by IPv4 too.
int bind_and_listen(int socket, const SocketAddress& place) {
  const int on = 1;
  const int off = 0;
  if (place.storage.ss_family != AF_UNIX)
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.storage.ss_family == AF_INET6)
    setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const mode_t before = umask(077);
  const int bound = bind(socket, place.get(), place.size);
  const int number = errno;
  umask(before);
  if (bound != 0) return number;
  return listen(socket, SOMAXCONN) == 0 ? 0 : errno;
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
  if (address.ss_family == AF_VSOCK) {
    sockaddr_vm vm;
    std::memcpy(&vm, &address, sizeof vm);
    return "vsock " + std::to_string(vm.svm_cid) + ":" + std::to_string(vm.svm_port);
  }
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  const bool in_brackets = address.ss_family == AF_INET6;
  return (in_brackets ? "[" : "") + std::string(host) + (in_brackets ? "]:" : ":") + port;
}

// That of a listener which is gone; nothing else of that name.
void remove_socket(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path.c_str());
}

// The device of the port that has this name, in a guest.
Result<std::string> find_port(const std::string& name) {
  constexpr const char* kPorts = "/sys/class/virtio-ports";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kPorts, error)) {
    const Result<std::string> found = read_small_file(entry.path() / "name", 4096);
    if (found && *found == name + "\n") return "/dev/" + entry.path().filename().string();
  }
  return Error{name, std::nullopt, "is no port of virtio-serial here"};
}

}  // namespace

Result<FileDescriptor> connect_to(const Address& address, Deadline deadline) {
  const Result<std::vector<SocketAddress>> places = resolve(address, false);
  if (!places) return places.error();
  int number = EADDRNOTAVAIL;
  for (const SocketAddress& place : *places) {
    FileDescriptor socket = new_socket(place);
    const bool connected = socket && connect(socket.get(), place.get(), place.size) == 0;
    number = connected ? 0 : errno;
    if (number == EINPROGRESS) number = finish_connecting(socket.get(), deadline);
    if (number != 0) continue;
    if (address.transport == Transport::Tcp) send_at_once(socket.get());
    return socket;
  }
  return system_error(address.text(), "cannot connect", number);
}

Result<FileDescriptor> listen_at(const Address& address) {
  const Result<std::vector<SocketAddress>> places = resolve(address, true);
  if (!places) return places.error();
  if (address.transport == Transport::Unix) remove_socket(address.path);
  // Everywhere: by IPv6, and where the kernel has none by IPv4.
  int number = EADDRNOTAVAIL;
  for (const int family : {AF_INET6, AF_INET, AF_VSOCK, AF_UNIX}) {
    for (const SocketAddress& place : *places) {
      if (place.storage.ss_family != family) continue;
      FileDescriptor socket = new_socket(place);
      number = socket ? bind_and_listen(socket.get(), place) : errno;
      if (number == 0) return socket;
    }
  }
  return system_error(address.text(), "cannot listen", number);
}

Address listened_at(int socket, const Address& asked) {
  Address address = asked;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return address;
  sockaddr_in in;
  sockaddr_in6 in6;
  sockaddr_vm vm;
  if (own.ss_family == AF_INET) {
    std::memcpy(&in, &own, sizeof in);
    address.port = ntohs(in.sin_port);
  } else if (own.ss_family == AF_INET6) {
    std::memcpy(&in6, &own, sizeof in6);
    address.port = ntohs(in6.sin6_port);
  } else if (own.ss_family == AF_VSOCK) {
    std::memcpy(&vm, &own, sizeof vm);
    address.port = vm.svm_port;
  }
  return address;
}

bool is_host(const sockaddr_storage& vsock_address) {
  sockaddr_vm vm;
  std::memcpy(&vm, &vsock_address, sizeof vm);
  return vm.svm_family == AF_VSOCK && vm.svm_cid == VMADDR_CID_HOST;
}

std::string vsock_binding(uint32_t guest_cid, uint32_t port) {
  return "vsock " + std::to_string(guest_cid) + ":" + std::to_string(port);
}

Peer peer_of(int socket, Transport transport) {
  if (transport == Transport::Unix) return {"a process of this machine", kUnixBinding};
  sockaddr_storage theirs{};
  socklen_t size = sizeof theirs;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0)
    return {"who has gone", "", false};
  Peer peer;
  peer.text = text_of(theirs, size);
  if (transport == Transport::Tcp) {
    send_at_once(socket);
    return peer;
  }
  peer.is_allowed = is_host(theirs);
  sockaddr_storage own{};
  size = sizeof own;
  getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size);
  sockaddr_vm vm;
  std::memcpy(&vm, &own, sizeof vm);
  peer.binding = vsock_binding(vm.svm_cid, vm.svm_port);
  return peer;
}

Result<std::unique_ptr<Channel>> open_virtio(const std::string& path, Deadline deadline) {
  const auto channel = [&](FileDescriptor in, FileDescriptor out) {
    return std::unique_ptr<Channel>(
        std::make_unique<PlainChannel>(std::move(in), std::move(out), path, kVirtioBinding));
  };
  std::string device = path;
  if (path.find('/') == std::string::npos) {
    Result<std::string> found = find_port(path);
    if (!found) return std::move(found).error();
    device = *std::move(found);
  }
  struct stat status {};
  if (stat(device.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    Result<FileDescriptor> socket =
        connect_to({.transport = Transport::Unix, .path = device}, deadline);
    if (!socket) return std::move(socket).error();
    return channel(*std::move(socket), FileDescriptor());
  }
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (access(device.c_str(), F_OK) != 0 && access((device + ".in").c_str(), F_OK) == 0) {
    FileDescriptor in(open((device + ".out").c_str(), O_RDONLY | kFlags));
    FileDescriptor out(open((device + ".in").c_str(), O_WRONLY | kFlags));
    if (!in || !out) return system_error(device, "cannot open its pipes", errno);
    return channel(std::move(in), std::move(out));
  }
  FileDescriptor file(open(device.c_str(), O_RDWR | kFlags));
  if (!file) return system_error(device, "cannot open", errno);
  return channel(std::move(file), FileDescriptor());
}

bool has_virtio(const std::string& path) {
  if (path.find('/') == std::string::npos) return static_cast<bool>(find_port(path));
  return access(path.c_str(), F_OK) == 0 || access((path + ".in").c_str(), F_OK) == 0;
}

}  // namespace strata::guest
