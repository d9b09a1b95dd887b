// SPDX-License-Identifier: Apache-2.0
#include "probe/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace strata::probe {
namespace {

constexpr time_t kAnswerSeconds = 1;

// System calls are made directly where the C library's function is a point of cancellation: a probe
// is none.

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) syscall(SYS_close, fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

// Only root and the user itself may have this program's memory written to.
bool is_trusted(int socket) {
  ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == geteuid());
}

int receive_descriptor(int socket) {
  pollfd readable{socket, POLLIN, 0};
  // The kernel puts the time that is left there, so that signals do not make it longer.
  timespec limit{kAnswerSeconds, 0};
  long ready;
  do {
    ready = syscall(SYS_ppoll, &readable, 1, &limit, nullptr, 0);
  } while (ready < 0 && errno == EINTR);
  if (ready != 1) return -1;

  abi::Welcome welcome{};
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const long size = syscall(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  int fd = -1;
  const cmsghdr* item = size < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (item != nullptr && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
      item->cmsg_len == CMSG_LEN(sizeof fd))
    memcpy(&fd, CMSG_DATA(item), sizeof fd);
  Descriptor given(fd);
  if (size != sizeof welcome || welcome.magic != abi::kMagic || welcome.version != abi::kVersion ||
      welcome.accepted != 1)
    return -1;
  return given.release();
}

int ask(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = strnlen(path, sizeof address.sun_path);
  if (length == 0 || length == sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, length);
  const Descriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connection.get() < 0 ||
      syscall(SYS_connect, connection.get(), &address, sizeof address) != 0 ||
      !is_trusted(connection.get()))
    return -1;
  const abi::Hello hello{abi::kMagic, abi::kVersion, 0};
  if (syscall(SYS_sendto, connection.get(), &hello, sizeof hello, MSG_NOSIGNAL, nullptr, 0) !=
      sizeof hello)
    return -1;
  return receive_descriptor(connection.get());
}

int ask_the_users() {
  // "/run/user/%u/strata/probe.socket", without snprintf, which signal handlers may not call.
  char path[sizeof abi::kUserSocket + 10];
  char* at = path;
  for (const char* c = abi::kUserSocket; *c != 0; ++c) {
    if (c[0] != '%') {
      *at++ = *c;
      continue;
    }
    ++c;
    char digits[10];
    int count = 0;
    for (uid_t user = geteuid(); count == 0 || user != 0; user /= 10)
      digits[count++] = static_cast<char>('0' + user % 10);
    while (count > 0) *at++ = digits[--count];
  }
  *at = 0;
  return ask(path);
}

// Whether `size` bytes at `offset` lie in the memory.
bool lies_within(const abi::Header& header, uint64_t offset, uint64_t size) {
  return offset >= sizeof header && offset <= header.size && size <= header.size - offset;
}

bool is_sound(const abi::Header& header, uint64_t size) {
  if (header.magic != abi::kMagic || header.version != abi::kVersion || header.size != size)
    return false;
  if (header.rings > abi::kMaxRings || header.capacity_log2 > abi::kMaxCapacityLog2 ||
      header.block_log2 < abi::kMinBlockLog2 || header.block_log2 >= header.capacity_log2)
    return false;
  const uint64_t rings = (uint64_t{header.rings} + 1) * abi::kPolicies;
  return header.controls % alignof(abi::RingControl) == 0 &&
         lies_within(header, header.controls, rings * sizeof(abi::RingControl)) &&
         header.dictionary % alignof(abi::Module) == 0 &&
         lies_within(header, header.dictionary, header.dictionary_size) &&
         header.filters % alignof(abi::FilterArea) == 0 &&
         lies_within(header, header.filters, abi::kMaxReaders * sizeof(abi::FilterArea)) &&
         header.data % 64 == 0 && lies_within(header, header.data, rings << header.capacity_log2);
}

}  // namespace

RingMemory ask_for_memory() {
  const char* chosen = secure_getenv(abi::kSocketVariable);
  int given = ask(chosen != nullptr ? chosen : abi::kMachineSocket);
  if (given < 0 && chosen == nullptr) given = ask_the_users();
  Descriptor memory(given);
  if (memory.get() < 0) return {};

  // It cannot shrink, so that using it cannot fault.
  const int seals = fcntl(memory.get(), F_GET_SEALS);
  struct stat status;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(memory.get(), &status) != 0 ||
      status.st_size < static_cast<off_t>(sizeof(abi::Header)))
    return {};
  const auto size = static_cast<size_t>(status.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return {};
  if (!is_sound(*static_cast<const abi::Header*>(mapped), size)) {
    munmap(mapped, size);
    return {};
  }
  // The low numbers are the program's: some close or count on them.
  const int high = fcntl(memory.get(), F_DUPFD_CLOEXEC, 500);
  return {static_cast<std::byte*>(mapped), high >= 0 ? high : memory.release()};
}

}  // namespace strata::probe
