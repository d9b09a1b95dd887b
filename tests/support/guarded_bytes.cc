// SPDX-License-Identifier: Apache-2.0
#include "support/guarded_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace strata::test {

GuardedBytes::GuardedBytes(Bytes bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  guard_ = (bytes.size() + page - 1) / page * page;
  mapped_ = guard_ + page;
  void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("mmap");
  mapping_ = static_cast<std::byte*>(at);
  if (mprotect(mapping_ + guard_, page, PROT_NONE) != 0) throw std::runtime_error("mprotect");
  assign(bytes);
}

GuardedBytes::~GuardedBytes() { munmap(mapping_, mapped_); }

void GuardedBytes::assign(Bytes bytes) {
  if (bytes.size() > guard_) throw std::runtime_error("more bytes than there were at first");
  std::byte* begin = mapping_ + (guard_ - bytes.size());
  if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
  bytes_ = {begin, bytes.size()};
}

}  // namespace strata::test
