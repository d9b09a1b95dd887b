// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace strata::kernel {

// One reading of a group of perf events, at a tracepoint.
struct CounterSample {
  uint64_t time = 0;
  Bytes values;  // 8 bytes each: those of the group's events, in the order they were opened
  Bytes record;  // the tracepoint's, as its format file describes it; zeros may follow

  uint64_t value(size_t event) const { return load<uint64_t>(values.data() + event * 8, false); }
};

// Walks over records of a perf ring that samples with PERF_SAMPLE_TIME, PERF_SAMPLE_READ (of a
// group, PERF_FORMAT_GROUP alone) and PERF_SAMPLE_RAW. Nothing in them is trusted.
//
// Each begins with u32 type, u16 misc and u16 size, which counts these 8 bytes. Of a sample follow
// u64 time, u64 number of values, the values, u32 size of the raw record, the raw record.
class PerfRecords {
 public:
  // What is in the ring, the oldest first: it may go on at the ring's start, as `rest`. The ring
  // has a size of many times 8 bytes. `values`: how many events the group has.
  PerfRecords(Bytes first, Bytes rest, size_t values)
      : first_(first), rest_(rest), values_(values) {}

  enum class Step : uint8_t {
    Sample,   // sample(), valid until the next step
    Lost,     // the kernel had no room for lost() records here
    End,      // no more
    Corrupt,  // nothing can be said of what is here and beyond; cause() tells why
  };
  Step next();

  const CounterSample& sample() const { return sample_; }
  uint64_t lost() const { return lost_; }
  const char* cause() const { return cause_; }
  // Bytes passed over.
  uint64_t position() const { return position_; }

 private:
  Bytes bytes_at(uint64_t position, size_t size);
  Step read_sample(Bytes body);
  Step read_lost(Bytes body, size_t at);
  Step corrupt(const char* cause);

  Bytes first_;
  Bytes rest_;
  size_t values_;
  uint64_t position_ = 0;
  CounterSample sample_;
  uint64_t lost_ = 0;
  const char* cause_ = nullptr;
  std::vector<std::byte> joined_;  // the one record that lies across the ring's end
};

}  // namespace strata::kernel
