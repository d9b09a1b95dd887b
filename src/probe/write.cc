// SPDX-License-Identifier: Apache-2.0
//
// Firing: the record that a site has put together goes into a ring.
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/attach.h"
#include "probe/clock.h"
#include "probe/contexts.h"
#include "probe/cpu_ring.h"
#include "probe/filters.h"
#include "probe/room.h"
#include "probe/sequence.h"
#include "probe/state.h"

namespace strata::probe {

StatePage state_page;

namespace {

// A sequence that is interrupted time and again is being stepped through by a debugger.
constexpr int kAttempts = 64;
// For another thread that holds the fallback's lock.
constexpr uint64_t kLockWait = 1'000'000'000;  // ns

// The system call itself: nanosleep() of the C library is a point of cancellation.
void sleep_ns(uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  syscall(SYS_nanosleep, &time, nullptr);
}

// How long to sleep for room in a ring, in ns. To sleep and wake up costs as much as a thousand
// events: whoever did it for the first block that gets free would do little else. So as long as a
// collector takes for half of the ring, at about a byte a nanosecond; but not so long that somebody
// would notice, and not beyond the time that is left.
uint64_t time_for_room(const Attachment& on, uint64_t left) {
  constexpr uint64_t kLongest = 500'000;
  const uint64_t half = on.capacity / 2;
  const uint64_t time = half < kLongest ? half : kLongest;
  return time < left ? time : left;
}

// What is to be written, and how long it may yet wait for room.
struct Event {
  std::byte* record;
  uint64_t size;
  uint32_t clock;
  uint64_t deadline = 0;  // 0: it has not waited yet
};

// Whether to try again. The event is lost, and counted, where not.
bool wait_for_room(const Attachment& on, abi::RingControl& control, Event& event) {
  const uint64_t tail = load(control.tail);
  // Once a ring stayed full for all the time allowed, it does not hold up anybody again before
  // something was taken from it.
  if (on.policy == abi::Policy::Block && load(control.gave_up) != tail + 1) {
    wake_collectors(on);
    const uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (event.deadline == 0) event.deadline = now + uint64_t{load(on.header->wait_us)} * 1000;
    if (now < event.deadline) {
      sleep_ns(time_for_room(on, event.deadline - now));
      return true;
    }
    store(control.gave_up, tail + 1);
  }
  count(control.lost);
  return false;
}

// The thread that writes to the fallback ring holds it by the address of its thread control block,
// set in one step: a signal handler that interrupts it sees that it is its own thread.
class FallbackLock {
 public:
  FallbackLock() {
    const uint64_t me = thread_pointer();
    uint64_t& writer = state().fallback_writer;
    uint64_t deadline = 0;
    for (int attempt = 0;; ++attempt) {
      uint64_t holder = 0;
      if (__atomic_compare_exchange_n(&writer, &holder, me, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
        held_ = true;
        return;
      }
      if (holder == me) return;
      if (attempt < 16) {
        sched_yield();
        continue;
      }
      const uint64_t now = nanoseconds(CLOCK_MONOTONIC);
      if (deadline == 0) deadline = now + kLockWait;
      if (now > deadline) return;
      sleep_ns(50'000);
    }
  }
  ~FallbackLock() {
    if (held_) store(state().fallback_writer, uint64_t{0});
  }
  FallbackLock(const FallbackLock&) = delete;
  FallbackLock& operator=(const FallbackLock&) = delete;

  bool held() const { return held_; }

 private:
  bool held_ = false;
};

// `shape`: see strata_probe_write().
void put_word(std::byte* record, const strata_probe_module& module, uint32_t first_id,
              const uint32_t* flag, uint32_t shape) {
  const auto flags = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(flag) -
                                           reinterpret_cast<uintptr_t>(module.flags));
  // In bytes, hence 4 for each.
  const uint32_t word = (first_id << abi::kIdShift) + (flags << (abi::kIdShift - 2)) +
                        shape / abi::kUnit + (shape & 1) * abi::kTruncatedBit;
  __builtin_memcpy(record + offsetof(abi::RecordHead, word), &word, sizeof word);
}

uint32_t word_of(const std::byte* record) {
  uint32_t word;
  __builtin_memcpy(&word, record + offsetof(abi::RecordHead, word), sizeof word);
  return word;
}

// Whether it may still be written there: neither another collector nor another clock has come, and
// these rings are still wanted.
bool is_current(const Attachment& to, const Event& event) {
  const auto asked = abi::ClockWord::of(load(to.header->clock));
  return load(state().generation) == to.generation && asked.clock == event.clock &&
         asked.wants(to.policy);
}

enum class Written : uint8_t { Done, Lost, Full, Stale };

Written write_locked(const Attachment& to, abi::RingControl& control, const Event& event) {
  const FallbackLock lock;
  if (!lock.held()) {
    count(control.lost);
    return Written::Lost;
  }
  std::byte* const data = to.data + to.fallback * to.capacity;
  while (true) {
    if (!is_current(to, event)) return Written::Stale;
    const uint64_t head = load(control.head);
    const uint64_t end = load(control.end);
    if ((end & 7) == event.clock && head + event.size <= end) {
      const uint64_t time = read_clock_ordered(abi::Clock{event.clock});
      __builtin_memcpy(event.record, &time, sizeof time);
      __builtin_memcpy(data + (head & to.mask()), event.record, event.size);
      store(control.head, head + event.size);
      return Written::Done;
    }
    const LockedRing ring{to, to.fallback, control};
    if (make_room(ring, event.size, abi::Clock{event.clock}) == Room::Full) return Written::Full;
  }
}

bool write_fallback(const Attachment& to, Event& event) {
  const int error = errno;
  abi::RingControl& control = to.controls[to.fallback];
  Written written;
  do {
    written = write_locked(to, control, event);
  } while (written == Written::Full && wait_for_room(to, control, event));
  errno = error;
  return written != Written::Stale;
}

// The thread's struct rseq, where the C library has one for each; null: it is not registered.
std::byte* registered_rseq(const Attachment& to) {
  std::byte* const rseq = reinterpret_cast<std::byte*>(thread_pointer()) + to.rseq;
  return *reinterpret_cast<volatile int32_t*>(rseq + kCpuId) < 0 ? nullptr : rseq;
}

// The same, or null where there is none.
std::byte* thread_rseq(const Attachment& to) {
  return to.rings != 0 ? registered_rseq(to) : nullptr;
}

// False: it is not current any more.
bool write(const Attachment& to, Event& event) {
  std::byte* const rseq = thread_rseq(to);
#if defined(__x86_64__)
  for (int attempt = 0; rseq != nullptr && attempt < kAttempts;) {
    if (!is_current(to, event)) return false;
    const uint64_t index = *reinterpret_cast<volatile uint32_t*>(rseq + to.index);
    if (index >= to.rings) break;
    abi::RingControl& control = to.controls[index];
    const CpuRing ring{to, rseq, index, control};
    const uint64_t head = load(control.head);
    const uint64_t end = load(control.end);
    if ((end & abi::kClockMask) == event.clock && head + event.size <= end) {
      // Where the head is still this one, nothing was written since the clock was read.
      const uint64_t time = read_clock_ordered(abi::Clock{event.clock});
      __builtin_memcpy(event.record, &time, sizeof time);
      std::byte* const place = to.data + index * to.capacity + (head & to.mask());
      if (ring.append({head, head + event.size, event.record, place, event.size, nullptr, 0,
                       abi::Clock{event.clock}}))
        return true;
      ++attempt;
      continue;
    }
    if (make_room(ring, event.size, abi::Clock{event.clock}) == Room::TryAgain) {
      ++attempt;
      continue;
    }
    const int error = errno;
    const bool again = wait_for_room(to, control, event);
    errno = error;
    if (!again) return true;
  }
#endif
  return write_fallback(to, event);
}

// The same with contexts, in a copy of the record. Its size on the stack is not more than the
// site's own: signal handlers may have little.
[[gnu::noinline]] bool write_with_contexts(const Attachment& to, const Event& plain,
                                           uint32_t mask) {
  const uint32_t added = abi::context_size(mask);
  const uint64_t size = (plain.size + added + abi::kUnit - 1) & ~uint64_t{abi::kUnit - 1};
  Event event = plain;
  // Rather without them than cut.
  if (size > abi::kMaxRecord) return write(to, event);
  event.record = static_cast<std::byte*>(__builtin_alloca(size));
  event.size = size;
  const uint32_t word = (word_of(plain.record) & ~abi::kUnitsMask) + abi::kContextBit +
                        static_cast<uint32_t>(size / abi::kUnit);
  __builtin_memset(event.record + size - abi::kUnit, 0, abi::kUnit);
  __builtin_memcpy(event.record + offsetof(abi::RecordHead, word), &word, sizeof word);
  put_contexts(event.record + abi::kPayload, mask, to, thread_rseq(to));
  __builtin_memcpy(event.record + abi::kPayload + added, plain.record + abi::kPayload,
                   plain.size - abi::kPayload);
  return write(to, event);
}

// Where there is a detour to be made anyway: what filters do not let pass is not written.
bool write_looking(const Attachment& to, Event& event) {
  const View fields{event.record + abi::kPayload, event.size - abi::kPayload};
  if (!is_wanted(to, abi::id_of(word_of(event.record)), fields)) return true;
  const uint32_t contexts = load(to.header->contexts) & abi::kAllContexts;
  return contexts != 0 ? write_with_contexts(to, event, contexts) : write(to, event);
}

// To the rings of every policy that is wanted, but those that have it already: `have`, a mask.
// Those that may have to wait come last. False: what is wanted has changed.
bool write_to_wanted(uint32_t generation, const abi::ClockWord& asked, const Event& event,
                     uint32_t& have) {
  for (uint32_t number = 0; number < abi::kPolicies; ++number) {
    const abi::Policy policy{number};
    if (!asked.wants(policy) || (have & abi::policy_bit(policy)) != 0) continue;
    const Attachment& to = attachment(generation, policy);
    const bool is_only = asked.wanted == abi::policy_bit(policy);
    if (is_only) write_first_to(generation, policy);
    Event own = event;
    if (!(asked.looks || !is_only ? write_looking(to, own) : write(to, own))) return false;
    have |= abi::policy_bit(policy);
  }
  return true;
}

// All that is not the common case. More than once only where a collector leaves or another comes at
// this very moment.
[[gnu::noinline, gnu::cold]] void write_slowly(strata_probe_module& module, const uint32_t* flag,
                                               std::byte* record, uint32_t shape) {
  uint32_t have = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const ModuleIds ids = ids_of(module);
    if (ids.generation != load(state().generation)) {
      if (!attach(module)) break;
      continue;
    }
    const auto asked = abi::ClockWord::of(load(header_of(ids.generation).clock));
    if (asked.is_closed()) {
      detach(ids.generation);
      continue;
    }
    put_word(record, module, ids.first, flag, shape);
    const Event event{record, shape & ~7u, asked.clock};
    if (write_to_wanted(ids.generation, asked, event, have)) return;
  }
  // Who has it is not to count it. The others, in so short a time, have all come and gone.
  if (have == 0) count_unattached();
}

// A record of any size, and with any clock.
[[gnu::noinline]] void write_any(strata_probe_module& module, const uint32_t* flag,
                                 std::byte* record, uint32_t shape) {
#if defined(__x86_64__)
  const uint64_t attached = load(module.attached);
  const Attachment* const to = load(state().current);
  std::byte* const rseq = to != nullptr ? registered_rseq(*to) : nullptr;
  if (rseq != nullptr) [[likely]] {
    put_word(record, module, static_cast<uint32_t>(attached), flag, shape);
    if (write_on_cpu(*to, attached, rseq, record, shape & ~7u) == Outcome::Done) [[likely]]
      return;
  }
#endif
  write_slowly(module, flag, record, shape);
}

[[gnu::noinline]] uint64_t now_slowly(strata_probe_module& module) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const ModuleIds ids = ids_of(module);
    if (ids.generation == load(state().generation)) {
      const auto asked = abi::ClockWord::of(load(header_of(ids.generation).clock));
      if (asked.is_closed()) return 0;
      const uint64_t now = read_clock(abi::Clock{asked.clock});
      return now != 0 ? now : 1;
    }
    if (!attach(module)) break;
  }
  return 0;
}

}  // namespace

void wake_collectors(const Attachment& on) {
  if (load(on.header->sleeps) == 0) return;
  store(on.header->sleeps, uint32_t{0});
  const int error = errno;
  syscall(SYS_futex, &on.header->sleeps, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  errno = error;
}

}  // namespace strata::probe

using namespace strata::probe;

extern "C" {

[[gnu::visibility("default")]] void strata_probe_write(strata_probe_module* module,
                                                       const uint32_t* flag, void* record,
                                                       uint32_t shape) noexcept {
  auto* const bytes = static_cast<std::byte*>(record);
#if defined(__x86_64__)
  // What is loaded here may be of another attachment than the module's ids: the sequence finds out.
  const uint64_t attached = load(module->attached);
  const Attachment* const to = load(state().current);
  if (to != nullptr && shape < kShortRecord + abi::kUnit &&
      *to->clock == static_cast<uint8_t>(abi::Clock::Tsc)) [[likely]] {
    std::byte* const rseq = registered_rseq(*to);
    if (rseq != nullptr) [[likely]] {
      put_word(bytes, *module, static_cast<uint32_t>(attached), flag, shape);
      if (write_short_on_cpu(to, attached, rseq, bytes, shape)) [[likely]]
        return;
    }
  }
#endif
  write_any(*module, flag, bytes, shape);
}

[[gnu::visibility("default")]] uint64_t strata_probe_now(strata_probe_module* module) noexcept {
#if defined(__x86_64__)
  const uint32_t generation = static_cast<uint32_t>(load(module->attached) >> 32);
  const Attachment* const current = load(state().current);
  if (current != nullptr && generation == load(state().generation) &&
      *current->clock == static_cast<uint8_t>(abi::Clock::Tsc)) [[likely]]
    return __builtin_ia32_rdtsc() | 1;
#endif
  return now_slowly(*module);
}

}  // extern "C"
