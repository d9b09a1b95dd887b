// SPDX-License-Identifier: Apache-2.0
#include "probe/cpu_ring.h"

#include <sys/auxv.h>

#include "probe/sequence.h"

#if defined(__x86_64__)

// The C library's, since glibc 2.35. Weak: elsewhere there are none, and the fallback serves.
extern "C" {
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

namespace strata::probe {
namespace {

constexpr unsigned long kFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE

}  // namespace

int64_t rseq_offset() { return &__rseq_size == nullptr || __rseq_size == 0 ? 0 : __rseq_offset; }

uint64_t ring_index_offset() {
  return getauxval(kFeatureSize) >= kConcurrencyId + 4 ? kConcurrencyId : kCpuId;
}

// The number of the ring is compared with `wanted`; another, or another attachment: to 12.
#define SEQUENCE_COMPARE                \
  "movl %[current], %%eax\n"            \
  "cmpl %c[generation](%[at]), %%eax\n" \
  "jne 12f\n"                           \
  "movq %c[index](%[at]), %%rax\n"      \
  "movl (%[rseq], %%rax), %%eax\n"      \
  "cmpq %[wanted], %%rax\n"             \
  "jne 12f\n"

[[gnu::noinline]] Outcome store_on_cpu(const Attachment& on, std::byte* rseq, uint64_t index,
                                       const uint64_t* compared, uint64_t expected,
                                       uint64_t* target, uint64_t value) {
  Outcome outcome;
  __asm__ volatile(
      SEQUENCE_BEGIN("%[rseq]", SEQUENCE_ABORTED) SEQUENCE_COMPARE
      "cmpq %[expected], (%[compared])\n"
      "jne 12f\n"
      "movq %[value], (%[target])\n"
      "2: xorl %%eax, %%eax\n"
      "jmp 99f\n"
      "12: movl %[changed], %%eax\n" SEQUENCE_END("%[rseq]")
      : "=&a"(outcome)
      : SEQUENCE_INPUTS, [generation] "i"(offsetof(Attachment, generation)), [at] "r"(&on),
        [rseq] "r"(rseq), [wanted] "r"(index), [compared] "r"(compared), [expected] "r"(expected),
        [target] "r"(target), [value] "r"(value), [changed] "i"(Outcome::Changed)
      : "memory", "cc");
  return outcome;
}

[[gnu::noinline]] Outcome append_on_cpu(const Attachment& on, std::byte* rseq, uint64_t index,
                                        uint64_t* head, const Append& append) {
  Outcome outcome;
  __asm__ volatile(
      SEQUENCE_BEGIN("%[rseq]", SEQUENCE_ABORTED) SEQUENCE_COMPARE
      "movq %c[clock](%[at]), %%rdx\n"
      "movzbl (%%rdx), %%eax\n"
      "andl %[clock_mask], %%eax\n"
      "cmpl %c[wanted_clock](%[append]), %%eax\n"
      "jne 12f\n"
      "movq %c[expected](%[append]), %%rax\n"
      "cmpq %%rax, (%[head])\n"
      "jne 12f\n"
      "movq %c[mark](%[append]), %%rdx\n"
      "testq %%rdx, %%rdx\n"
      "jz 5f\n"
      "movq %c[word](%[append]), %%rax\n"
      "movq %%rax, (%%rdx)\n"
      "5: movq %c[from](%[append]), %%rdx\n"
      "movq %c[to](%[append]), %%r11\n"
      "xorl %%ecx, %%ecx\n"
      "6: movq (%%rdx, %%rcx), %%rax\n"
      "movq %%rax, (%%r11, %%rcx)\n"
      "addq $8, %%rcx\n"
      "cmpq %c[size](%[append]), %%rcx\n"
      "jb 6b\n"
      "movq %c[new_head](%[append]), %%rax\n"
      "movq %%rax, (%[head])\n"
      "2: xorl %%eax, %%eax\n"
      "jmp 99f\n"
      "12: movl %[changed], %%eax\n" SEQUENCE_END("%[rseq]")
      : "=&a"(outcome)
      : SEQUENCE_INPUTS, [generation] "i"(offsetof(Attachment, generation)), [at] "r"(&on),
        [rseq] "r"(rseq), [wanted] "r"(index), [head] "r"(head), [append] "r"(&append),
        [expected] "i"(offsetof(Append, expected)), [from] "i"(offsetof(Append, from)),
        [to] "i"(offsetof(Append, to)), [size] "i"(offsetof(Append, size)),
        [new_head] "i"(offsetof(Append, head)), [mark] "i"(offsetof(Append, mark)),
        [word] "i"(offsetof(Append, word)), [clock] "i"(offsetof(Attachment, clock)),
        [wanted_clock] "i"(offsetof(Append, clock)), [clock_mask] "i"(abi::kClockMask),
        [changed] "i"(Outcome::Changed)
      : "rcx", "rdx", "r11", "memory", "cc");
  return outcome;
}

}  // namespace strata::probe

#else  // other processors: the fallback ring serves, until they have sequences of their own

namespace strata::probe {

int64_t rseq_offset() { return 0; }
uint64_t ring_index_offset() { return 0; }
Outcome store_on_cpu(const Attachment&, std::byte*, uint64_t, const uint64_t*, uint64_t, uint64_t*,
                     uint64_t) {
  return Outcome::NoRing;
}
Outcome append_on_cpu(const Attachment&, std::byte*, uint64_t, uint64_t*, const Append&) {
  return Outcome::NoRing;
}

}  // namespace strata::probe

#endif
