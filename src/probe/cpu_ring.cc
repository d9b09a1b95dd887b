// SPDX-License-Identifier: Apache-2.0
#include "probe/cpu_ring.h"

#include <sys/auxv.h>

#if defined(__x86_64__)

// The C library's, since glibc 2.35. Weak: elsewhere there are none, and the fallback serves.
extern "C" {
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

namespace strata::probe {
namespace {

// struct rseq, of which the C library's headers may know less than the kernel does.
constexpr uint64_t kCpuId = 4;
constexpr uint64_t kCriticalSection = 8;
constexpr uint64_t kConcurrencyId = 24;
constexpr unsigned long kFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE

static_assert(sizeof(abi::RingControl) == 1 << 7);
static_assert(offsetof(abi::RingControl, head) == 0);
static_assert(offsetof(abi::RingControl, end) == 8);

}  // namespace

std::byte* thread_rseq() {
  if (&__rseq_size == nullptr || __rseq_size == 0) return nullptr;
  std::byte* rseq = reinterpret_cast<std::byte*>(thread_pointer()) + __rseq_offset;
  // Negative: not registered for this thread.
  const int32_t cpu = *reinterpret_cast<volatile int32_t*>(rseq + kCpuId);
  return cpu < 0 ? nullptr : rseq;
}

uint64_t ring_index_offset() {
  return getauxval(kFeatureSize) >= kConcurrencyId + 4 ? kConcurrencyId : kCpuId;
}

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
#define SEQUENCE_INPUTS                                                      \
  [aborted] "i"(Outcome::Aborted), [critical_section] "i"(kCriticalSection), \
      [current] "m"(state_page.state.generation),                            \
      [generation] "i"(offsetof(Attachment, generation)), [index] "i"(offsetof(Attachment, index))

[[gnu::noinline]] Outcome write_on_cpu(const Attachment& to, std::byte* rseq,
                                       const std::byte* record, uint64_t size, uint32_t clock,
                                       uint64_t time) {
  Outcome outcome;
  const Attachment* at = &to;
  __asm__ volatile(
      SEQUENCE_BEGIN("%[rseq]")
      "movl %[current], %%eax\n"
      "cmpl %c[generation](%[at]), %%eax\n"
      "jne 14f\n"
      // rax: the ring's number; r11: its control.
      "movq %c[index](%[at]), %%rax\n"
      "movl (%[rseq], %%rax), %%eax\n"
      "cmpl %c[rings](%[at]), %%eax\n"
      "jae 13f\n"
      "movq %%rax, %%r11\n"
      "shlq $7, %%r11\n"
      "addq %c[controls](%[at]), %%r11\n"
      // rseq: the head, now and after this record; at: where the record goes.
      "movq (%%r11), %[rseq]\n"
      "movl %c[capacity_log2](%[at]), %%ecx\n"
      "shlq %%cl, %%rax\n"
      "addq %c[data](%[at]), %%rax\n"
      "movq %c[mask](%[at]), %[at]\n"
      "andq %[rseq], %[at]\n"
      "addq %%rax, %[at]\n"
      "addq %[size], %[rseq]\n"
      // One look for: the block's end, the collector's tail, another clock.
      "movq 8(%%r11), %%rax\n"
      "movl %%eax, %%ecx\n"
      "andl $7, %%ecx\n"
      "cmpl %[clock], %%ecx\n"
      "jne 12f\n"
      "cmpq %%rax, %[rseq]\n"
      "ja 12f\n"
      "testl %[clock], %[clock]\n"
      "jz 6f\n"
      "cmpl $1, %[clock]\n"
      "je 5f\n"
      "movq %[time], %%rax\n"
      "jmp 8f\n"
      "5: rdtscp\n"
      "jmp 7f\n"
      "6: rdtsc\n"
      "7: shlq $32, %%rdx\n"
      "orq %%rdx, %%rax\n"
      "8: movq %%rax, (%[at])\n"
      "movq 8(%[record]), %%rax\n"
      "movq %%rax, 8(%[at])\n"
      "movl $16, %%ecx\n"
      "9: leaq 16(%%rcx), %%rax\n"
      "cmpq %[size], %%rax\n"
      "ja 10f\n"
      "movups (%[record], %%rcx), %%xmm0\n"
      "movups %%xmm0, (%[at], %%rcx)\n"
      "movq %%rax, %%rcx\n"
      "jmp 9b\n"
      "10: cmpq %[size], %%rcx\n"
      "jae 11f\n"
      "movq (%[record], %%rcx), %%rax\n"
      "movq %%rax, (%[at], %%rcx)\n"
      // From here on the record is there, whatever happens to this thread.
      "11: movq %[rseq], (%%r11)\n"
      "2: xorl %%eax, %%eax\n"
      "jmp 99f\n"
      "12: movl %[no_room], %%eax\n"
      "jmp 99f\n"
      "13: movl %[no_ring], %%eax\n"
      "jmp 99f\n"
      "14: movl %[stale], %%eax\n"
      "99:\n"
      : "=&a"(outcome), [at] "+&r"(at), [rseq] "+&r"(rseq)
      : SEQUENCE_INPUTS, [rings] "i"(offsetof(Attachment, rings)),
        [controls] "i"(offsetof(Attachment, controls)), [data] "i"(offsetof(Attachment, data)),
        [mask] "i"(offsetof(Attachment, mask)),
        [capacity_log2] "i"(offsetof(Attachment, capacity_log2)), [record] "r"(record),
        [size] "r"(size), [clock] "r"(clock), [time] "m"(time), [no_room] "i"(Outcome::NoRoom),
        [no_ring] "i"(Outcome::NoRing), [stale] "i"(Outcome::Stale)
      : "rcx", "rdx", "r11", "xmm0", "memory", "cc");
  return outcome;
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
  __asm__ volatile(SEQUENCE_BEGIN("%[rseq]") SEQUENCE_COMPARE
                   "cmpq %[expected], (%[compared])\n"
                   "jne 12f\n"
                   "movq %[value], (%[target])\n"
                   "2: xorl %%eax, %%eax\n"
                   "jmp 99f\n"
                   "12: movl %[changed], %%eax\n"
                   "99:\n"
                   : "=&a"(outcome)
                   : SEQUENCE_INPUTS, [at] "r"(&on), [rseq] "r"(rseq), [wanted] "r"(index),
                     [compared] "r"(compared), [expected] "r"(expected), [target] "r"(target),
                     [value] "r"(value), [changed] "i"(Outcome::Changed)
                   : "memory", "cc");
  return outcome;
}

[[gnu::noinline]] Outcome append_on_cpu(const Attachment& on, std::byte* rseq, uint64_t index,
                                        uint64_t* head, const Append& append) {
  Outcome outcome;
  __asm__ volatile(SEQUENCE_BEGIN("%[rseq]") SEQUENCE_COMPARE
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
                   "12: movl %[changed], %%eax\n"
                   "99:\n"
                   : "=&a"(outcome)
                   : SEQUENCE_INPUTS, [at] "r"(&on), [rseq] "r"(rseq), [wanted] "r"(index),
                     [head] "r"(head), [append] "r"(&append),
                     [expected] "i"(offsetof(Append, expected)), [from] "i"(offsetof(Append, from)),
                     [to] "i"(offsetof(Append, to)), [size] "i"(offsetof(Append, size)),
                     [new_head] "i"(offsetof(Append, head)), [mark] "i"(offsetof(Append, mark)),
                     [word] "i"(offsetof(Append, word)), [changed] "i"(Outcome::Changed)
                   : "rcx", "rdx", "r11", "memory", "cc");
  return outcome;
}

}  // namespace strata::probe

#else  // other processors: the fallback ring serves, until they have sequences of their own

namespace strata::probe {

std::byte* thread_rseq() { return nullptr; }
uint64_t ring_index_offset() { return 0; }
Outcome write_on_cpu(const Attachment&, std::byte*, const std::byte*, uint64_t, uint32_t,
                     uint64_t) {
  return Outcome::NoRing;
}
Outcome store_on_cpu(const Attachment&, std::byte*, uint64_t, const uint64_t*, uint64_t, uint64_t*,
                     uint64_t) {
  return Outcome::NoRing;
}
Outcome append_on_cpu(const Attachment&, std::byte*, uint64_t, uint64_t*, const Append&) {
  return Outcome::NoRing;
}

}  // namespace strata::probe

#endif
