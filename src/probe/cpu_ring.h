// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/state.h"

namespace strata::probe {

// Writing to the ring of this CPU by restartable sequences (rseq(2)): a piece of code that the
// kernel lets start over when its thread was preempted, moved or interrupted by a signal within.
// Its last instruction stores what makes the rest valid. So no other thread ever sees half of it,
// and no lock and no atomic instruction is needed.
//
// The code stays where it is as long as the process lives, and calls nothing: the kernel looks at
// the address a thread was interrupted at. Appending a record is in sequence.h.

enum class Outcome : uint32_t {
  Done = 0,
  Aborted = 1,  // interrupted; nothing has happened
  NoRoom = 2,   // nor here; the ring's end has to be looked at
  NoRing = 3,   // this CPU has none
  Stale = 4,    // the attachment is not the current one any more
  Changed = 5,  // somebody else was faster, or this is another CPU now
};

// In struct rseq: the number of the CPU; negative while the thread is not registered.
inline constexpr uint64_t kCpuId = 4;
// Where each thread's struct rseq is, from its thread pointer; 0: the C library has registered
// none.
int64_t rseq_offset();
// Where the kernel keeps the number by which rings are told apart: the concurrency id, which is
// small where few threads run, on kernels that have it, else the CPU's. Both hold within a process.
uint64_t ring_index_offset();

// Stores `value`, if this is still ring `index` and `compared` still is `expected`.
Outcome store_on_cpu(const Attachment& on, std::byte* rseq, uint64_t index,
                     const uint64_t* compared, uint64_t expected, uint64_t* target, uint64_t value);

// Copies `size` bytes, and `word` to `mark` (where it is not null), then moves the head; if it
// still is `expected`, and the collector, who may have left, still wants the clock.
struct Append {
  uint64_t expected;
  uint64_t head;
  const std::byte* from;
  std::byte* to;
  uint64_t size;
  uint64_t* mark;
  uint64_t word;
  abi::Clock clock;
};
Outcome append_on_cpu(const Attachment& on, std::byte* rseq, uint64_t index, uint64_t* head,
                      const Append& append);

}  // namespace strata::probe
