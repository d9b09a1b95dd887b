// SPDX-License-Identifier: Apache-2.0
#include "probe/contexts.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/counters.h"
#include "probe/cpu_ring.h"

namespace strata::probe {
namespace {

#if defined(__GLIBC__)
// The thread's number, as long as the attachment is the one it was asked in. A forked child, whose
// only thread has another number, attaches anew. (Around vfork(), one may have the other's.)
struct KnownThread {
  uint32_t generation;
  int32_t tid;
};
[[gnu::tls_model("initial-exec")]] thread_local KnownThread known_thread;

int32_t thread_number(const Attachment& on) {
  if (known_thread.generation != on.generation) {
    known_thread.tid = static_cast<int32_t>(syscall(SYS_gettid));
    // A signal handler that comes in between finds the old generation, and asks itself.
    __atomic_signal_fence(__ATOMIC_RELEASE);
    known_thread.generation = on.generation;
  }
  return known_thread.tid;
}
#else
// Other C libraries do not load libraries that have such variables.
int32_t thread_number(const Attachment&) { return static_cast<int32_t>(syscall(SYS_gettid)); }
#endif

uint32_t cpu_number(const std::byte* rseq) {
  if (rseq != nullptr) return *reinterpret_cast<const volatile uint32_t*>(rseq + kCpuId);
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0 : static_cast<uint32_t>(cpu);
}

template <typename T>
std::byte* put(std::byte* at, T value) {
  __builtin_memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

}  // namespace

void put_contexts(std::byte* at, uint32_t mask, const Attachment& on, const std::byte* rseq) {
  const int error = errno;
  at = put(at, mask);
  if ((mask & abi::kTidContext) != 0) at = put(at, thread_number(on));
  if ((mask & abi::kNameContext) != 0) {
    __builtin_memset(at, 0, abi::kNameLength);
    prctl(PR_GET_NAME, at);
    at += abi::kNameLength;
  }
  if ((mask & abi::kCpuContext) != 0) at = put(at, cpu_number(rseq));
  if ((mask & abi::kCounterContexts) != 0) put_counters(at, mask, on);
  errno = error;
}

}  // namespace strata::probe
