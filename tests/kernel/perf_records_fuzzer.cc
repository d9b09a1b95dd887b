// SPDX-License-Identifier: Apache-2.0
//
// Records of a perf ring. The first byte says how many values a group has, the second, in steps of
// 8 bytes, where the ring ends and goes on at its start.
#include <algorithm>
#include <cstdlib>

#include "kernel/perf_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size < 2) return 0;
  // Apart, so that a read across the end of either is found.
  const auto* begin = reinterpret_cast<const std::byte*>(data) + 2;
  const size_t split = std::min<size_t>(size_t{data[1]} * 8, size - 2);
  const std::vector<std::byte> first(begin, begin + split);
  const std::vector<std::byte> rest(begin + split, begin + size - 2);
  const size_t values = data[0];

  kernel::PerfRecords records(first, rest, values);
  using Step = kernel::PerfRecords::Step;
  Step step;
  uint64_t position = 0;
  uint64_t sum = 0;
  while ((step = records.next()) == Step::Sample || step == Step::Lost) {
    if (records.position() < position + 8) abort();
    position = records.position();
    if (step == Step::Lost) continue;
    const kernel::CounterSample& sample = records.sample();
    if (sample.values.size() != values * 8) abort();
    for (size_t i = 0; i < values; ++i) sum += sample.value(i);
    for (const std::byte byte : sample.record) sum += static_cast<uint8_t>(byte);
  }
  if (records.position() > size - 2) abort();
  if (step == Step::End && records.position() != size - 2) abort();
  if (step == Step::Corrupt && records.cause() == nullptr) abort();
  asm volatile("" : : "r"(sum));  // so that everything is read
  return 0;
}
