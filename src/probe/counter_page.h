// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

namespace strata::probe {

// Reading a performance counter of the calling thread without a system call, by the page that the
// kernel keeps of it (perf_event_open(2)).

inline uint32_t load_relaxed(const uint32_t& from) {
  return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

// The counter's value. `rdpmc(number)` reads the processor's counter of this number.
//
// Nothing: it cannot be read so, or does not count at this time (since there are more counters than
// the processor has, say), or the kernel changed the page each time: a debugger that steps through
// this. While `index` is not 0 the counter goes on in the processor: then it has `offset` plus what
// stands there, a signed number of `pmc_width` bits. The kernel changes `lock` before and after it
// changes anything, on this CPU, while this thread is not running.
template <typename Rdpmc>
std::optional<uint64_t> read_counter(const perf_event_mmap_page& page, Rdpmc rdpmc) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint32_t lock = load_relaxed(page.lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const bool allowed = page.cap_user_rdpmc;
    const uint32_t index = load_relaxed(page.index);
    const unsigned width = __atomic_load_n(&page.pmc_width, __ATOMIC_RELAXED);
    uint64_t value = static_cast<uint64_t>(__atomic_load_n(&page.offset, __ATOMIC_RELAXED));
    const bool counts = allowed && index != 0 && width >= 1 && width <= 64;
    if (counts) {
      const unsigned unused = 64 - width;
      const uint64_t bits = static_cast<uint64_t>(rdpmc(index - 1)) << unused;
      value += static_cast<uint64_t>(static_cast<int64_t>(bits) >> unused);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (load_relaxed(page.lock) == lock) return counts ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace strata::probe
