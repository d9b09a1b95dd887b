// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "collect/ring_memory.h"
#include "probe/abi.h"

namespace strata::collect {

// What a record tells of the thread that wrote it: what `mask` names of probe::abi's contexts.
struct RecordContexts {
  uint32_t mask = 0;
  int32_t tid = -1;
  std::array<char, probe::abi::kNameLength> name{};
  uint32_t cpu = 0;
  std::array<uint64_t, probe::abi::kCounters> counts = no_counts();

  static constexpr std::array<uint64_t, probe::abi::kCounters> no_counts() {
    std::array<uint64_t, probe::abi::kCounters> counts;
    counts.fill(probe::abi::kNoCount);
    return counts;
  }
  // From where they begin; nothing, where these bytes are none.
  static std::optional<RecordContexts> read(Bytes bytes);
};

// A record as the ring has it: what its bytes mean, its site says (site.h).
struct RingRecord {
  uint64_t time = 0;
  probe::abi::Clock clock = probe::abi::Clock::Tsc;
  uint32_t id = 0;
  bool truncated = false;
  Bytes contexts;  // RecordContexts; empty: it tells none
  Bytes payload;   // some bytes at its end, as many as it takes to fill 8, are not the record's
};

// Reads one ring of a memory that a program, broken or hostile, may be writing to meanwhile. Bytes
// are copied before they are looked at, a block at a time; nothing that stands in them leads
// outside. What is not a record is passed over up to the next block, and counted.
class RingReader {
 public:
  RingReader(const RingLayout& layout, uint32_t ring);

  // Begins at this position, where a record does, instead of the ring's first. `from_now`: what was
  // lost until now is not told; else what was lost behind that place is.
  void start_at(Bytes memory, uint64_t position, bool from_now);

  // Gives what is there and was not given before, in its order, of one block. `visitor` has
  //   void record(const RingRecord&);   its payload is valid until it returns
  //   void lost(uint64_t events);       so many are missing here
  // Where the policy is to overwrite, what the program overwrote meanwhile is not there.
  // False: there was nothing.
  template <typename Visitor>
  bool read_block(Bytes memory, Visitor&& visitor) {
    const bool found = next_piece(memory);
    if (found) {
      walk(visitor);
    } else {
      tell_lost(visitor, lost_now_);
    }
    return found;
  }

  // All there is, of a program that does not run any more.
  template <typename Visitor>
  void read_all(Bytes memory, Visitor&& visitor) {
    while (read_block(memory, visitor)) {
    }
  }

  // All before this has been given.
  uint64_t position() const { return position_; }
  // Bytes that were passed over, since they are nothing that the library writes.
  uint64_t damaged() const { return damaged_; }
  // The program has written a head that cannot be: nothing can be read any more.
  bool broken() const { return broken_; }

 private:
  // Copies what there is of the block at position_; moves past it. False: there is nothing more.
  bool next_piece(Bytes memory);
  bool is_overtaken(Bytes memory, uint64_t position) const;

  template <typename Visitor>
  void tell_lost(Visitor& visitor, uint64_t total) {
    const bool is_first = std::exchange(told_is_unknown_, false);
    if (total <= told_) return;
    if (!is_first) visitor.lost(total - told_);
    told_ = total;
  }

  template <typename Visitor>
  void walk(Visitor& visitor) {
    namespace abi = probe::abi;
    size_t at = 0;
    if (piece_begins_block_) {
      abi::Block block;
      if (piece_.size() < sizeof block) return pass_over(at);
      std::memcpy(&block, piece_.data(), sizeof block);
      if (block.word != abi::make_word(abi::kBlockId, sizeof block) ||
          block.position != piece_position_ || block.clock > abi::Clock::MonotonicRaw)
        return pass_over(at);
      clock_ = block.clock;
      tell_lost(visitor, block.lost);
      at = sizeof block;
    }
    // Less than this is left unused at a block's end.
    while (piece_.size() - at >= 2 * abi::kUnit) {
      const std::byte* record = piece_.data() + at;
      const auto word = load_once<uint32_t>(record + offsetof(abi::RecordHead, word));
      const uint32_t size = abi::size_of(word);
      const uint32_t id = abi::id_of(word);
      if (id == abi::kPadId && size != 0) return;
      if (size < 2 * abi::kUnit || size > piece_.size() - at || size > abi::kMaxRecord)
        return pass_over(at);
      if (id >= abi::kFirstId) {
        RingRecord read{load_once<uint64_t>(record),
                        clock_,
                        id,
                        (word & abi::kTruncatedBit) != 0,
                        Bytes(),
                        Bytes(record + abi::kPayload, size - abi::kPayload)};
        if ((word & abi::kContextBit) != 0) [[unlikely]] {
          const std::optional<RecordContexts> contexts = RecordContexts::read(read.payload);
          if (!contexts) return pass_over(at);
          read.contexts = read.payload.first(abi::context_size(contexts->mask));
          read.payload = read.payload.subspan(read.contexts.size());
        }
        visitor.record(read);
      } else if (id == abi::kLostId && size == sizeof(abi::Lost)) {
        tell_lost(visitor, load_once<uint64_t>(record + offsetof(abi::Lost, lost)));
      } else {
        return pass_over(at);
      }
      at += size;
    }
  }
  void pass_over(size_t from) { damaged_ += piece_.size() - from; }

  RingLayout layout_;
  uint64_t control_;  // offsets in the memory
  uint64_t data_;
  uint64_t position_ = 0;
  uint64_t told_ = 0;             // lost events, of which the visitor has heard
  bool told_is_unknown_ = false;  // the next count is only where it begins
  uint64_t lost_now_ = 0;         // as the control says
  uint64_t damaged_ = 0;
  bool broken_ = false;
  probe::abi::Clock clock_ = probe::abi::Clock::Tsc;  // of the block that position_ is in
  std::vector<std::byte> block_;
  Bytes piece_;  // what was copied of a block
  uint64_t piece_position_ = 0;
  bool piece_begins_block_ = false;
};

}  // namespace strata::collect
