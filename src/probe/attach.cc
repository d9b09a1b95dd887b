// SPDX-License-Identifier: Apache-2.0
#include "probe/attach.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/clock.h"
#include "probe/cpu_ring.h"
#include "probe/handshake.h"

namespace strata::probe {
namespace {

constexpr uint64_t kRetryNs = 100'000'000;  // after an attempt to attach that failed
constexpr int kWaits = 10000;               // for another thread that attaches,
constexpr long kWaitNs = 100'000;           // each so long

// Not in the page that a fork empties: a child's attachments differ from its parent's, whose number
// the modules still have.
uint32_t last_generation;

// Held by the thread that attaches. A signal handler that interrupts it does not get it.
class AttachLock {
 public:
  AttachLock() {
    const uint64_t me = thread_pointer();
    for (int wait = 0; wait < kWaits; ++wait) {
      uint64_t holder = 0;
      held_ = __atomic_compare_exchange_n(&state().attaching, &holder, me, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED);
      if (held_ || holder == me) return;
      const timespec time{0, kWaitNs};
      syscall(SYS_nanosleep, &time, nullptr);
    }
  }
  ~AttachLock() {
    if (held_) store(state().attaching, uint64_t{0});
  }
  AttachLock(const AttachLock&) = delete;
  AttachLock& operator=(const AttachLock&) = delete;

  bool held() const { return held_; }

 private:
  bool held_ = false;
};

void reach(Attachment& to, std::byte* memory, abi::Policy policy) {
  auto& header = *reinterpret_cast<abi::Header*>(memory);
  const uint64_t rings_before = static_cast<uint64_t>(policy) * (uint64_t{header.rings} + 1);
  to.generation = last_generation;
  to.rseq = rseq_offset();
  to.rings = to.rseq != 0 ? header.rings : 0;
  to.index = ring_index_offset();
  to.capacity = uint64_t{1} << header.capacity_log2;
  to.controls = reinterpret_cast<abi::RingControl*>(memory + header.controls) + rings_before;
  to.data = memory + header.data + (rings_before << header.capacity_log2);
  to.clock = reinterpret_cast<const uint8_t*>(&header.clock) + static_cast<uint32_t>(policy);
  to.header = &header;
  to.filters = reinterpret_cast<const abi::FilterArea*>(memory + header.filters);
  to.fallback = header.rings;
  to.block_log2 = header.block_log2;
  to.policy = policy;
  to.dictionary = header.dictionary;
  to.dictionary_size = header.dictionary_size;
}

bool attach_to_collector() {
  const RingMemory memory = ask_for_memory();
  if (memory.start == nullptr) return false;
  auto& header = *reinterpret_cast<abi::Header*>(memory.start);
  if (++last_generation == kUnattached) last_generation = 1;
  auto& each = state().attachments[last_generation % State::kGenerations];
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy)
    reach(each[policy], memory.start, abi::Policy{policy});

  store(header.pid, static_cast<uint32_t>(getpid()));
  store(header.memory, memory.descriptor);
  count(header.lost, __atomic_exchange_n(&state().lost, 0, __ATOMIC_RELAXED));
  store(state().current, each->rings != 0 ? static_cast<const Attachment*>(each) : nullptr);
  store(state().generation, last_generation);
  return true;
}

// Finds the module in the dictionary, or adds it. A library that is loaded again, even elsewhere,
// is the same as before, so that loading and unloading for ever fills nothing.
bool add_module(uint32_t generation, strata_probe_module& module) {
  const Attachment& to = attachment(generation, abi::Policy::Discard);
  const auto sites_size = static_cast<uint64_t>(module.sites_end - module.sites);
  const auto sites = reinterpret_cast<uint64_t>(module.sites);
  const auto flags = reinterpret_cast<uint64_t>(module.flags);
  const auto found = [&](uint32_t first) {
    store(module.attached, ModuleIds{generation, first}.both());
    return true;
  };

  std::byte* const start = reinterpret_cast<std::byte*>(to.header) + to.dictionary;
  const uint32_t used = load(to.header->dictionary_used);
  if (used > to.dictionary_size) return false;
  uint64_t next_id = abi::kFirstId;
  for (uint64_t at = 0; at + sizeof(abi::Module) <= used;) {
    abi::Module entry;
    memcpy(&entry, start + at, sizeof entry);
    if (entry.size < sizeof entry || entry.size > used - at) return false;
    if (entry.sites_size == sites_size && entry.sites - entry.flags == sites - flags &&
        sites_size <= entry.size - sizeof entry &&
        memcmp(start + at + sizeof entry, module.sites, sites_size) == 0)
      return found(entry.first_id);
    next_id = uint64_t{entry.first_id} + entry.count;
    at += entry.size;
  }

  const auto flag_count = static_cast<uint64_t>(module.flags_end - module.flags);
  const uint64_t size = (sizeof(abi::Module) + sites_size + 7) & ~uint64_t{7};
  if (size > to.dictionary_size - used || next_id + flag_count > abi::kMaxId) return false;
  const abi::Module entry{static_cast<uint32_t>(size),
                          static_cast<uint32_t>(next_id),
                          static_cast<uint32_t>(sites_size),
                          static_cast<uint32_t>(flag_count),
                          sites,
                          flags};
  memcpy(start + used, &entry, sizeof entry);
  memcpy(start + used + sizeof entry, module.sites, sites_size);
  store(to.header->dictionary_used, static_cast<uint32_t>(used + size));
  return found(entry.first_id);
}

bool attach_module(strata_probe_module& module) {
  if (load(state().generation) == 0) {
    if (nanoseconds(CLOCK_MONOTONIC_COARSE) < load(state().retry_at)) return false;
    // Before anything is in the page. Where the kernel cannot do it, a child would write into its
    // parent's rings: better not to trace.
    if (madvise(&state_page, sizeof state_page, MADV_WIPEONFORK) != 0) return false;
  }
  const AttachLock lock;
  if (!lock.held()) return false;
  if (load(state().generation) == 0) {
    const uint64_t now = nanoseconds(CLOCK_MONOTONIC_COARSE);
    if (now < load(state().retry_at)) return false;
    if (!attach_to_collector()) {
      store(state().retry_at, now + kRetryNs);
      return false;
    }
  }
  return add_module(load(state().generation), module);
}

}  // namespace

bool attach(strata_probe_module& module) {
  const int error = errno;
  const bool attached = attach_module(module);
  errno = error;
  return attached;
}

void detach(uint32_t generation) {
  __atomic_compare_exchange_n(&state().generation, &generation, 0, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

void count_unattached() {
  const uint32_t generation = load(state().generation);
  count(generation != 0 ? header_of(generation).lost : state().lost);
}

void write_first_to(uint32_t generation, abi::Policy policy) {
  const Attachment* current = load(state().current);
  if (current == nullptr || current->generation != generation || current->policy == policy) return;
  // Not where another thread has attached anew.
  __atomic_compare_exchange_n(&state().current, &current, &attachment(generation, policy), false,
                              __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

}  // namespace strata::probe
