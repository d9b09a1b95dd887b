// SPDX-License-Identifier: Apache-2.0
#include "base/rare_calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace strata::rare {

int open(int folder, const char* name, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = mode;
  const long file = syscall(SYS_openat2, folder, name, &how, sizeof how);
  if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(file);
  return openat(folder, name, flags, mode);
}

ssize_t read(int file, std::span<char> room, uint64_t offset) {
  const iovec whole{room.data(), room.size()};
  return preadv2(file, &whole, 1, static_cast<off_t>(offset), 0);
}

ssize_t write(int file, std::span<const std::byte> bytes, uint64_t offset) {
  const iovec whole{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return pwritev2(file, &whole, 1, static_cast<off_t>(offset), 0);
}

void close(int file) {
  const auto number = static_cast<unsigned>(file);
  if (close_range(number, number, 0) != 0) ::close(file);
}

}  // namespace strata::rare
