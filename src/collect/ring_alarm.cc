// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_alarm.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace strata::collect {
namespace {

// As linux/futex.h has it since 5.16.
struct WaitFor {
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};
constexpr uint32_t kOf32Bits = 2;
constexpr long kFutexWaitv = 449;
static_assert(kMostAlarms <= 128, "the kernel's limit");

}  // namespace

void wait_for_any(std::span<const uint32_t* const> words, std::chrono::milliseconds time) {
  WaitFor all[kMostAlarms];
  const size_t count = std::min(words.size(), kMostAlarms);
  for (size_t i = 0; i < count; ++i)
    all[i] = {1, reinterpret_cast<uintptr_t>(words[i]), kOf32Bits, 0};
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += time.count() / 1000;
  until.tv_nsec += time.count() % 1000 * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  if (syscall(kFutexWaitv, all, count, 0, &until, CLOCK_MONOTONIC) < 0 && errno == ENOSYS)
    std::this_thread::sleep_for(time / 10);
}

}  // namespace strata::collect
