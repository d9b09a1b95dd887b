// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/abi.h"
#include "probe/cpu_ring.h"
#include "probe/state.h"

#if defined(__x86_64__)

namespace strata::probe {

// struct rseq, of which the C library's headers may know less than the kernel does.
inline constexpr uint64_t kCriticalSection = 8;
inline constexpr uint64_t kConcurrencyId = 24;

// How far behind a record the ring's line is fetched: two of them, more bring nothing.
inline constexpr int kPrefetchAhead = 128;

static_assert(sizeof(abi::RingControl) == 1 << 7);
static_assert(offsetof(abi::RingControl, head) == 0);
static_assert(offsetof(abi::RingControl, end) == 8);

// Every sequence begins by telling the kernel of itself: where it is, and where to go instead of
// on. Before that place stands a signature, so that nobody can make the kernel jump just anywhere.
#define SEQUENCE_BEGIN(rseq)                           \
  ".pushsection __rseq_cs, \"aw\"\n"                   \
  ".balign 32\n"                                       \
  "3: .long 0, 0\n"                                    \
  ".quad 1f, 2f - 1f, 4f\n"                            \
  ".popsection\n"                                      \
  ".pushsection __rseq_failure, \"ax\"\n"              \
  ".byte 0x0f, 0xb9, 0x3d\n" /* ud1: never executed */ \
  ".long 0x53053053\n"                                 \
  "4: movl %[aborted], %%eax\n"                        \
  "jmp 99f\n"                                          \
  ".popsection\n"                                      \
  "leaq 3b(%%rip), %%rax\n"                            \
  "movq %%rax, %c[critical_section](" rseq             \
  ")\n"                                                \
  "1:\n"
// And ends, whatever came of it, by taking that back: else the kernel, when it next switches the
// thread, would have to read it, check it and take it back itself.
#define SEQUENCE_END(rseq) "99: movq $0, %c[critical_section](" rseq ")\n"
#define SEQUENCE_INPUTS                                                      \
  [aborted] "i"(Outcome::Aborted), [critical_section] "i"(kCriticalSection), \
      [current] "m"(state_page.state.generation), [index] "i"(offsetof(Attachment, index))

// Appends a record to the ring of this CPU, if `attached`, the module's, is of the current
// attachment and that is `to`; reading the clock at the same time: records of a ring
// are in the order of their times. With a clock that cannot be read so, and where the collectors
// want more than a record there (abi::kLook), there is no room. To be inlined, within this library,
// for speed.
[[gnu::always_inline]] inline Outcome write_on_cpu(const Attachment& to, uint64_t attached,
                                                   std::byte* rseq, const std::byte* record,
                                                   uint64_t size) {
  Outcome outcome;
  uint64_t head;
  const Attachment* at = &to;
  __asm__ volatile(
      SEQUENCE_BEGIN("%[rseq]")
      "movq %[attached], %%rax\n"
      "shrq $32, %%rax\n"
      "cmpl %%eax, %[current]\n"
      "jne 14f\n"
      // rax: the ring's number; r11: its control.
      "movq %c[index](%[at]), %%rax\n"
      "movl (%[rseq], %%rax), %%eax\n"
      "cmpl %c[rings](%[at]), %%eax\n"
      "jae 13f\n"
      "movq %%rax, %%r11\n"
      "shlq $7, %%r11\n"
      "addq %c[controls](%[at]), %%r11\n"
      // head: now, and after this record; at: where the record goes.
      "movq (%%r11), %[head]\n"
      "movl %c[capacity_log2](%[at]), %%ecx\n"
      "shlq %%cl, %%rax\n"
      "addq %c[data](%[at]), %%rax\n"
      "movq %c[clock](%[at]), %%rdx\n"
      "movq %c[mask](%[at]), %[at]\n"
      "andq %[head], %[at]\n"
      "addq %%rax, %[at]\n"
      "addq %[size], %[head]\n"
      // One look for: the block's end, the collector's tail, another clock, or abi::kLook with it.
      "movq 8(%%r11), %%rax\n"
      "movl %%eax, %%ecx\n"
      "andl $7, %%ecx\n"
      "cmpb (%%rdx), %%cl\n"
      "jne 12f\n"
      "cmpq %%rax, %[head]\n"
      "ja 12f\n"
      "testl %%ecx, %%ecx\n"
      "jz 6f\n"
      "cmpl $1, %%ecx\n"
      "jne 12f\n"
      "rdtscp\n"
      "jmp 7f\n"
      "6: rdtsc\n"
      "7: shlq $32, %%rdx\n"
      "orq %%rdx, %%rax\n"
      "movq %%rax, (%[at])\n"
      // What comes next to be written was last in the cache of whoever read it, or in none: to be
      // here by then, without anybody waiting. At the ring's end this is for nothing, and harmless.
      "prefetchw %c[ahead](%[at], %[size])\n"
      // As they were written before: loading both at once would wait for the two stores.
      "movl 8(%[record]), %%eax\n"
      "movl 12(%[record]), %%edx\n"
      "movl %%eax, 8(%[at])\n"
      "movl %%edx, 12(%[at])\n"
      "movl $16, %%ecx\n"
      "leaq -16(%[size]), %%rax\n"
      "cmpq %%rax, %%rcx\n"
      "ja 10f\n"
      "9: movups (%[record], %%rcx), %%xmm0\n"
      "movups %%xmm0, (%[at], %%rcx)\n"
      "addq $16, %%rcx\n"
      "cmpq %%rax, %%rcx\n"
      "jbe 9b\n"
      "10: cmpq %[size], %%rcx\n"
      "jae 11f\n"
      "movq (%[record], %%rcx), %%rax\n"
      "movq %%rax, (%[at], %%rcx)\n"
      // From here on the record is there, whatever happens to this thread.
      "11: movq %[head], (%%r11)\n"
      "2: xorl %%eax, %%eax\n"
      "jmp 99f\n"
      "12: movl %[no_room], %%eax\n"
      "jmp 99f\n"
      "13: movl %[no_ring], %%eax\n"
      "jmp 99f\n"
      "14: movl %[stale], %%eax\n"
      SEQUENCE_END("%[rseq]")
      : "=&a"(outcome), [at] "+&r"(at), [head] "=&r"(head)
      : SEQUENCE_INPUTS, [attached] "rm"(attached), [rings] "i"(offsetof(Attachment, rings)),
        [controls] "i"(offsetof(Attachment, controls)), [data] "i"(offsetof(Attachment, data)),
        [mask] "i"(offsetof(Attachment, mask)),
        [capacity_log2] "i"(offsetof(Attachment, capacity_log2)), [rseq] "r"(rseq),
        [record] "r"(record), [clock] "i"(offsetof(Attachment, clock)), [size] "r"(size),
        [ahead] "i"(kPrefetchAhead), [no_room] "i"(Outcome::NoRoom), [no_ring] "i"(Outcome::NoRing), [stale] "i"(Outcome::Stale)
      : "rcx", "rdx", "r11", "xmm0", "memory", "cc");
  return outcome;
}

}  // namespace strata::probe

#endif
