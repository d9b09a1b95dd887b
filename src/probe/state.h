// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/abi.h"

namespace strata::probe {

// The C library's symbols and this library's own state; no heap, no thread, no other storage.

// A mapped ring memory, and how this process reaches its parts, the rings of one policy among them.
// Never changes while it is the current one.
struct alignas(128) Attachment {
  uint32_t generation;
  uint32_t rings;     // that are written by restartable sequences; 0: the fallback serves all
  int64_t rseq;       // where a thread's struct rseq is, from its thread pointer
  uint64_t index;     // where the number of the ring is in struct rseq
  uint64_t capacity;  // of each ring
  abi::RingControl* controls;
  std::byte* data;
  const uint8_t* clock;  // this policy's byte of the header's
  abi::Header* header;
  const abi::FilterArea* filters;  // abi::kMaxReaders of them
  uint32_t fallback;               // the number of the fallback ring
  uint32_t block_log2;
  abi::Policy policy;
  uint32_t dictionary;
  uint32_t dictionary_size;

  uint64_t mask() const { return capacity - 1; }
  uint64_t block() const { return uint64_t{1} << block_log2; }
};

// All that says where the rings are, in a page of its own, which the kernel empties in a forked
// child (MADV_WIPEONFORK): the child is then not attached, and no hook around fork() is needed.
struct State {
  uint32_t generation;  // of the current attachment; 0: there is none
  uint32_t reserved;
  // One of this generation, or none, where there are no restartable sequences either; set before
  // it. Where one policy alone is wanted, its own.
  const Attachment* current;
  uint64_t attaching;        // the thread that attaches or adds a module; 0: none
  uint64_t fallback_writer;  // the thread that writes to the fallback ring; 0: none
  uint64_t retry_at;         // in ns: no attempt to attach before
  uint64_t lost;             // events for which there was no ring
  // Several: a thread may still look at an old one while the next comes to be. It notices, by the
  // generation, before it uses what it read.
  static constexpr uint32_t kGenerations = 8;
  Attachment attachments[kGenerations][abi::kPolicies];
};

#if defined(__x86_64__)
inline constexpr size_t kStatePage = 4096;
#else
inline constexpr size_t kStatePage = 65536;  // the largest page of any machine
#endif

union alignas(kStatePage) StatePage {
  State state;
  std::byte whole[kStatePage];
};
static_assert(sizeof(State) <= kStatePage);
extern StatePage state_page;

inline State& state() { return state_page.state; }
inline const Attachment& attachment(uint32_t generation, abi::Policy policy) {
  return state().attachments[generation % State::kGenerations][static_cast<uint32_t>(policy)];
}
// What is the same whatever the policy.
inline abi::Header& header_of(uint32_t generation) {
  return *attachment(generation, abi::Policy::Discard).header;
}

// What is unique to the thread among those of its process, without a system call.
inline uint64_t thread_pointer() {
#if defined(__x86_64__)
  uint64_t pointer;
  __asm__("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<uint64_t>(__builtin_thread_pointer());
#endif
}

template <typename T>
T load(const T& from) {
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}
template <typename T>
void store(T& to, T value) {
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}
// Nobody waits for this count; that none is missing is enough.
inline void count(uint64_t& counter, uint64_t events = 1) {
  __atomic_fetch_add(&counter, events, __ATOMIC_RELAXED);
}

}  // namespace strata::probe
