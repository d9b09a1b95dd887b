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
#define SEQUENCE_BEGIN(rseq, instead)                  \
  ".pushsection __rseq_cs, \"aw\"\n"                   \
  ".balign 32\n"                                       \
  "3: .long 0, 0\n"                                    \
  ".quad 1f, 2f - 1f, 4f\n"                            \
  ".popsection\n"                                      \
  ".pushsection __rseq_failure, \"ax\"\n"              \
  ".byte 0x0f, 0xb9, 0x3d\n" /* ud1: never executed */ \
  ".long 0x53053053\n"                                 \
  "4: " instead                                        \
  "\n"                                                 \
  ".popsection\n"                                      \
  "leaq 3b(%%rip), %%rax\n"                            \
  "movq %%rax, %c[critical_section](" rseq             \
  ")\n"                                                \
  "1:\n"
// And ends, whatever came of it, by taking that back: else the kernel, when it next switches the
// thread, would have to read it, check it and take it back itself.
#define SEQUENCE_END(rseq) "99: movq $0, %c[critical_section](" rseq ")\n"
#define SEQUENCE_ABORTED "movl %[aborted], %%eax\n jmp 99f"
#define SEQUENCE_INPUTS                                                      \
  [aborted] "i"(Outcome::Aborted), [critical_section] "i"(kCriticalSection), \
      [current] "m"(state_page.state.generation), [index] "i"(offsetof(Attachment, index))
#define SEQUENCE_RINGS                                                                        \
  [rings] "i"(offsetof(Attachment, rings)), [controls] "i"(offsetof(Attachment, controls)),   \
      [data] "i"(offsetof(Attachment, data)), [capacity] "i"(offsetof(Attachment, capacity)), \
      [clock] "i"(offsetof(Attachment, clock))

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
      SEQUENCE_BEGIN("%[rseq]", SEQUENCE_ABORTED)
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
      "imulq %c[capacity](%[at]), %%rax\n"
      "addq %c[data](%[at]), %%rax\n"
      "movq %c[clock](%[at]), %%rdx\n"
      "movq %c[capacity](%[at]), %[at]\n"
      "decq %[at]\n"
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
      : SEQUENCE_INPUTS, SEQUENCE_RINGS, [attached] "rm"(attached), [rseq] "r"(rseq),
        [record] "r"(record), [size] "r"(size),
        [ahead] "i"(kPrefetchAhead), [no_room] "i"(Outcome::NoRoom), [no_ring] "i"(Outcome::NoRing), [stale] "i"(Outcome::Stale)
      : "rcx", "rdx", "r11", "xmm0", "memory", "cc");
  return outcome;
}

// The same for what is most common, a record of at most kShortRecord bytes and the plain TSC, in
// half of the code: a program that does something else between its events has to get each line of
// it from a farther cache. So nothing jumps here, whatever the record's size: that many bytes are
// always copied, with what happens to lie behind it on the stack, to where nothing is yet. By
// fours, as the fields were just put there: to load at once what several stores have written waits
// until these have reached the cache, behind the ring's lines. False: nothing has happened.
inline constexpr uint64_t kShortRecord = 32;

[[gnu::always_inline]] inline bool write_short_on_cpu(const Attachment* to, uint64_t attached,
                                                      std::byte* rseq, const std::byte* record,
                                                      uint64_t shape) {
  __asm__ goto volatile(
      SEQUENCE_BEGIN("%[rseq]", "jmp %l[nothing]")
      "shrq $32, %[control]\n"
      "cmpl %k[control], %[current]\n"
      "jne %l[nothing]\n"
      "movq %c[clock](%[at]), %%rax\n"
      "cmpb %[tsc], (%%rax)\n"
      "jne %l[nothing]\n"
      // rdx: the ring's number.
      "movq %c[index](%[at]), %%rdx\n"
      "movl (%[rseq], %%rdx), %%edx\n"
      "cmpl %c[rings](%[at]), %%edx\n"
      "jae %l[nothing]\n"
      "movq %%rdx, %[control]\n"
      "shlq $7, %[control]\n"
      "addq %c[controls](%[at]), %[control]\n"
      "movq (%[control]), %%rax\n"
      "imulq %c[capacity](%[at]), %%rdx\n"
      "addq %c[data](%[at]), %%rdx\n"
      "movq %c[capacity](%[at]), %[at]\n"
      "decq %[at]\n"
      "andq %%rax, %[at]\n"
      "addq %%rdx, %[at]\n"
      "addq %[copied], %%rax\n"
      "movq 8(%[control]), %%rdx\n"
      "testb %[clock_mask], %%dl\n"
      "jne %l[nothing]\n"
      "cmpq %%rdx, %%rax\n"
      "ja %l[nothing]\n"
      "rdtsc\n"
      "shlq $32, %%rdx\n"
      "orq %%rdx, %%rax\n"
      "movq %%rax, (%[at])\n"
      "prefetchw %c[ahead](%[at])\n"
      "movl 8(%[record]), %%eax\n"
      "movl 12(%[record]), %%edx\n"
      "movl %%eax, 8(%[at])\n"
      "movl %%edx, 12(%[at])\n"
      "movl 16(%[record]), %%eax\n"
      "movl 20(%[record]), %%edx\n"
      "movl %%eax, 16(%[at])\n"
      "movl %%edx, 20(%[at])\n"
      "movl 24(%[record]), %%eax\n"
      "movl 28(%[record]), %%edx\n"
      "movl %%eax, 24(%[at])\n"
      "movl %%edx, 28(%[at])\n"
      "movq (%[control]), %%rax\n"
      "addq %[shape], %%rax\n"
      "andq $-8, %%rax\n"
      "movq %%rax, (%[control])\n"
      "2: movq $0, %c[critical_section](%[rseq])\n"
      : [at] "+&r"(to), [control] "+&r"(attached)
      : [rseq] "r"(rseq), [record] "r"(record), [shape] "r"(shape), [copied] "i"(kShortRecord),
        [ahead] "i"(kPrefetchAhead), [tsc] "i"(abi::Clock::Tsc), [clock_mask] "i"(abi::kClockMask), SEQUENCE_RINGS,
        SEQUENCE_INPUTS
      : "rax", "rdx", "memory", "cc"
      : nothing);
  return true;
nothing:
  *reinterpret_cast<volatile uint64_t*>(rseq + kCriticalSection) = 0;
  return false;
}

}  // namespace strata::probe

#endif
