// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/rare_calls.h"

namespace strata {

// An open file, closed with this object. Negative: none, as the system calls give it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Whoever calls it closes the file.
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) rare::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace strata
