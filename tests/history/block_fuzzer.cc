// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are no block, or were one: 16 bits how many intervals it has, 64 how long they take
// together, a byte how long the summary is, then the summary and the columns. A checksum that would
// keep everything out that is not a block is made right.
#include <cstring>
#include <vector>

#include "history/block.h"
#include "history/checksum.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::history;
  uint16_t count = 0;
  uint64_t duration = 0;
  constexpr size_t kHead = sizeof count + sizeof duration + 1;
  if (size < kHead || size - kHead < data[kHead - 1]) return 0;
  std::memcpy(&count, data, sizeof count);
  std::memcpy(&duration, data + sizeof count, sizeof duration);
  const std::vector<uint8_t> summary(data + kHead, data + kHead + data[kHead - 1]);
  std::vector<uint8_t> columns(data + kHead + summary.size(), data + size);
  const uint64_t sum = checksum(columns);
  columns.resize(columns.size() + sizeof sum);
  std::memcpy(columns.data() + columns.size() - sizeof sum, &sum, sizeof sum);

  TimesList times;
  for (uint32_t level = 0; level < kLevels; ++level)
    for (SummaryWalk walk(summary, count, level); walk.next(times);) {
    }
  BlockDecoder decoder;
  BlockColumns decoded;
  if (!decoder.decode(columns, count, duration, decoded)) return 0;
  uint64_t together = 0;
  for (uint32_t i = 0; i < count; ++i) {
    together += decoded.durations[i];
    if (decoded.states[i] >= kStates) __builtin_trap();
  }
  if (together != duration) __builtin_trap();
  return 0;
}
