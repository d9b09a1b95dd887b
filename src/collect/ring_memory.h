// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/clock_word.h"
#include "probe/abi.h"

namespace strata::collect {

// How a ring memory is divided, and whose rings in it are meant: those of one policy. The header in
// the memory says the same, but the program can write there: whoever made the memory keeps this,
// and does not look again.
struct RingLayout {
  uint32_t rings = 0;  // of a policy, without the fallback, which is ring number `rings`
  probe::abi::Policy policy = probe::abi::Policy::Discard;
  uint32_t capacity_log2 = 20;
  uint32_t block_log2 = 16;
  uint32_t dictionary_size = 1 << 20;
  uint32_t wait_us = 0;  // Policy::Block

  uint64_t capacity() const { return uint64_t{1} << capacity_log2; }
  uint64_t block() const { return uint64_t{1} << block_log2; }
  uint64_t dictionary() const { return sizeof(probe::abi::Header); }
  uint64_t filters() const;
  // Of this policy.
  uint64_t controls() const { return controls(policy); }
  uint64_t data() const { return data(policy); }
  uint64_t controls(probe::abi::Policy of) const;
  uint64_t data(probe::abi::Policy of) const;
  uint64_t size() const;
  // The first position of a ring that can be read while its head is here: the begin of a block.
  uint64_t oldest(uint64_t head) const;

  // Whether it can be. What is too large for this is not to be mapped either.
  Status check() const;
  // The same, but that rings may be larger or smaller, and another policy's meant.
  bool is_like(const RingLayout& other) const;
  // From memory whose maker is gone: that of a core file, or of a collector that was killed.
  static Result<RingLayout> read(Bytes memory, probe::abi::Policy policy, const std::string& name);

 private:
  // Of rings and the fallback, of all policies before this one.
  uint64_t rings_before(probe::abi::Policy of) const {
    return static_cast<uint64_t>(of) * (uint64_t{rings} + 1);
  }
};

// Which records of a site are wanted: a probe::abi::Predicate.
struct SitePredicate {
  uint32_t id = 0;
  std::vector<std::byte> bytes;
};

// What those share that read a memory: who reads the rings of which policy, and how far each is.
struct ReaderTable {
  std::array<std::span<probe::abi::RingControl>, probe::abi::kPolicies> controls;
  std::array<std::span<uint32_t>, probe::abi::kPolicies> filtering;  // see probe::abi::Header
  ClockWord clock;
};

// A memory for one process, as a collector has it, mapped. Its size is sealed, so that a program
// cannot make its collector fault. Pages that nobody writes to take no memory.
//
// A collector is of one policy: where rings are spoken of, they are those of layout().policy.
class RingMemory {
 public:
  // How the kernel shows it among a process's descriptors and mappings.
  static constexpr char kName[] = "strata-probe";

  // Its policy is wanted from the start.
  static Result<RingMemory> create(const RingLayout& layout, probe::abi::Clock clock);
  // One that somebody else has made: checked, since whoever had it meanwhile may have written
  // anything there.
  static Result<RingMemory> open(FileDescriptor file, probe::abi::Policy policy,
                                 const std::string& name);
  // Of bytes that are such a memory, those of a core file say.
  static Result<RingMemory> copy(Bytes bytes, probe::abi::Policy policy, const std::string& name);
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;
  ~RingMemory();

  const RingLayout& layout() const { return layout_; }
  // An open file that nobody else has: the slots of readers go by such (reader_slot.h).
  int descriptor() const { return descriptor_.get(); }
  // Another one of the same memory, to hand out.
  Result<FileDescriptor> reopen() const;
  Bytes bytes() const { return {start_, layout_.size()}; }

  // The parts that a collector writes to.
  std::span<probe::abi::RingControl> controls() const { return controls(layout_.policy); }
  ReaderTable readers() const;
  ClockWord clock_word() const { return ClockWord(header().clock); }
  // Policy::Block: so long at most the program waits; or longer, where another reader said so.
  void wait_at_least(uint32_t microseconds);
  // What records tell of their threads, a mask; from now on these too.
  uint32_t contexts() const;
  void add_contexts(uint32_t contexts);
  // Whether the program looks at filters: where one reader said so (ClockWord::look()), or where it
  // writes for several policies.
  bool looks_at_filters() const;
  // Where it does, it does not write for this reader what these, by ascending id, do not let pass.
  // As many as there is room for: what a record is worth, its reader has to see for itself.
  void set_filters(uint32_t reader, std::span<const SitePredicate> predicates);
  // The one that the program is to read; the TSC where that is not told any more.
  probe::abi::Clock clock() const;
  // A word that is 1 from say_asleep() on, until the program finds a ring half full: then it makes
  // it 0 and wakes who waits for that (a futex).
  const uint32_t* asleep() const { return &header().sleeps; }
  void say_asleep();
  // Whether anything was ever written to the ring, or lost there.
  bool is_used(uint32_t ring) const;
  // How much lies in the ring behind `position`, as far as the program tells: at most its capacity.
  uint64_t filled(uint32_t ring, uint64_t position) const;
  // The same, behind what all readers have taken.
  uint64_t filled(uint32_t ring) const;
  // Events that the ring did not take.
  uint64_t lost(uint32_t ring) const;
  // Events that found no ring.
  uint64_t lost_outside() const;

  // Of rings that are overwritten (Policy::Overwrite): what they hold now, in a memory of its own,
  // while the program goes on. What it overwrites meanwhile is missing at the beginning: there is
  // no hole.
  Result<RingMemory> copy() const;
  // The time from which on the rings hold all that was written; nothing where they always do.
  std::optional<uint64_t> begin() const;
  // What it takes of the machine's memory.
  uint64_t used_bytes() const;

 private:
  RingMemory() = default;
  Status make_file(uint64_t size);
  Status map(uint64_t size);
  probe::abi::RingControl& control(uint32_t ring) const { return controls()[ring]; }
  std::span<probe::abi::RingControl> controls(probe::abi::Policy policy) const;
  bool copy_ring(uint32_t ring, RingMemory& to) const;
  std::byte* place(uint32_t ring, uint64_t position) const;
  probe::abi::Header& header() const { return *reinterpret_cast<probe::abi::Header*>(start_); }

  RingLayout layout_;
  uint32_t filtering_ = 0;  // as the header has it; 0: there were never filters
  FileDescriptor descriptor_;
  std::byte* start_ = nullptr;
};

}  // namespace strata::collect
