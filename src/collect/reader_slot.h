// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "collect/ring_memory.h"

namespace strata::collect {

// Where in the rings a reader begins.
enum class Begin : uint8_t {
  Start,  // with the first record: nobody has written yet
  Head,   // with the next one: others read the rings already
  Tail,   // with what is left there by readers that are gone
};

// A reader's slot of a ring memory (probe/abi.h), for the rings of the memory's policy. As long as
// there is one, the program writes to these rings. The slot keeps it from writing over what this
// reader has not taken yet, and ends with the reader, by the kernel.
//
// What stands in the memory, the program may have scribbled over. Then it loses events of its own;
// nothing here waits for it.
class ReaderSlot {
 public:
  // Takes a free one. None: so many read it already.
  static std::optional<ReaderSlot> claim(const RingMemory& memory, Begin begin);
  // The same for somebody else, of whatever policy, who gets `descriptor`: a file of its own, of
  // the same memory.
  static std::optional<uint32_t> claim_for(int descriptor, const RingMemory& memory,
                                           probe::abi::Policy policy, Begin begin);
  // The one that the memory's descriptor was given to us with.
  static ReaderSlot given(const RingMemory& memory, uint32_t number);

  uint32_t number() const { return number_; }
  // The position before which this reader has taken all.
  uint64_t position(uint32_t ring) const;
  void take(uint32_t ring, uint64_t position);
  // Clears the slots of readers that are gone, of all policies, so that they hold up the program no
  // longer.
  void free_dead();
  // Gives the slot up. True: nobody else has one.
  bool leave();

 private:
  ReaderSlot(const RingMemory& memory, uint32_t number);
  std::span<probe::abi::RingControl> controls() const {
    return table_.controls[static_cast<uint32_t>(policy_)];
  }

  ReaderTable table_;
  probe::abi::Policy policy_;
  int descriptor_;
  uint32_t number_;
};

// Whether anybody but this descriptor has a slot of the memory.
bool is_read_by_others(int descriptor);
// Where a reader of its policy begins that finds the memory with a program: with what was left,
// where the readers that had wanted these rings are all gone.
Begin begin_of_heir(const RingMemory& memory);

}  // namespace strata::collect
