// SPDX-License-Identifier: Apache-2.0
#include "probe/counters.h"

#if defined(__x86_64__)
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/counter_page.h"
#include "probe/counter_slots.h"
#endif

namespace strata::probe {
namespace {

#if defined(__x86_64__)

static_assert(kCounters == abi::kCounters);
constexpr size_t kSlots = 512;
constexpr size_t kPageSize = 4096;
CounterSlot slots[kSlots];

uint64_t read_processor(uint32_t number) {
  uint32_t low, high;
  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
  return uint64_t{high} << 32 | low;
}

// Of this thread alone, of what it does itself. Pinned: a counter that has to take turns with
// others would count but a part. The mapping keeps it.
void* open_page(size_t counter) {
  perf_event_attr wanted;
  __builtin_memset(&wanted, 0, sizeof wanted);
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.size = sizeof wanted;
  wanted.config = abi::kCounterEvents[counter];
  wanted.pinned = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const auto file =
      static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (file < 0) return nullptr;
  void* const page = mmap(nullptr, kPageSize, PROT_READ, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  return page != MAP_FAILED ? page : nullptr;
}

pid_t process_number() { return static_cast<pid_t>(syscall(SYS_getpid)); }
pid_t thread_number() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// `is_new`: the thread has none, so that one with its number is of a thread that had it before.
CounterSlot* find_slot(bool is_new) {
  const pid_t process = process_number();
  const pid_t tid = thread_number();
  const ClaimedSlot claimed = claim_slot(slots, process, tid, [&](pid_t thread) {
    return syscall(SYS_tgkill, process, thread, 0) == 0 || errno != ESRCH;
  });
  if (claimed.slot == nullptr || (claimed.was == SlotWas::Own && !is_new)) return claimed.slot;
  for (void*& page : claimed.slot->pages) {
    if (claimed.was != SlotWas::Empty && page != nullptr) munmap(page, kPageSize);
    page = nullptr;
  }
  claimed.slot->tried = 0;
  own_slot(*claimed.slot, tid);
  return claimed.slot;
}

#if defined(__GLIBC__)
// It is looked at again in a new attachment: in a forked child, say, to which it does not belong.
struct KnownSlot {
  uint32_t generation;
  CounterSlot* slot;  // null: there was none left
};
[[gnu::tls_model("initial-exec")]] thread_local KnownSlot known_slot;

CounterSlot* slot_of_thread(const Attachment& on) {
  if (known_slot.generation != on.generation) {
    CounterSlot* const slot = known_slot.slot;
    const bool is_own =
        slot != nullptr && slot->process == process_number() && slot->tid == thread_number();
    if (!is_own) known_slot.slot = find_slot(true);
    // A signal handler that comes in between finds the old generation, and looks itself.
    __atomic_signal_fence(__ATOMIC_RELEASE);
    known_slot.generation = on.generation;
  }
  return known_slot.slot;
}
#else
// Other C libraries do not load libraries that have such variables.
CounterSlot* slot_of_thread(const Attachment&) { return find_slot(false); }
#endif

uint64_t count_of(CounterSlot& slot, size_t counter) {
  const uint32_t bit = 1u << counter;
  if ((slot.tried & bit) == 0) {
    slot.tried |= bit;  // first: a signal handler does not try at the same time
    slot.pages[counter] = open_page(counter);
  }
  if (slot.pages[counter] == nullptr) return abi::kNoCount;
  return read_counter(*static_cast<const perf_event_mmap_page*>(slot.pages[counter]),
                      read_processor)
      .value_or(abi::kNoCount);
}

#endif

}  // namespace

std::byte* put_counters(std::byte* at, uint32_t mask, [[maybe_unused]] const Attachment& on) {
#if defined(__x86_64__)
  CounterSlot* const slot = slot_of_thread(on);
#endif
  for (size_t counter = 0; counter < abi::kCounters; ++counter) {
    if ((mask & abi::counter_context(counter)) == 0) continue;
    uint64_t count = abi::kNoCount;
#if defined(__x86_64__)
    if (slot != nullptr) count = count_of(*slot, counter);
#endif
    __builtin_memcpy(at, &count, sizeof count);
    at += sizeof count;
  }
  return at;
}

}  // namespace strata::probe
