// SPDX-License-Identifier: Apache-2.0
//
// The fallback ring in one process with its reader, which takes records while they are written.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "collect/reader_slot.h"
#include "stress.h"

#if defined(__SANITIZE_THREAD__)
// The library gets its memory by a system call that the sanitizer does not see, and so takes its
// descriptor for the one of the same number that the collector had before.
extern "C" const char* __tsan_default_suppressions() {
  return "race:strata::probe::ask_for_memory\n";
}
#endif

namespace strata::test {
namespace {

struct Counted {
  uint64_t kept = 0;
  uint64_t missing = 0;
  uint64_t next[Told::kThreads] = {};
  bool in_order = true;

  void record(const collect::RingRecord& record) {
    const auto thread = load_once<uint32_t>(record.payload.data());
    const auto number = load_once<uint64_t>(record.payload.data() + 4);
    in_order &= number >= next[thread];
    next[thread] = number + 1;
    ++kept;
  }
  void lost(uint64_t events) { missing += events; }
};

// So many events of each writer, all of which the reader is to have, whatever `meanwhile` does.
template <typename Meanwhile>
void write_and_read(Meanwhile meanwhile) {
  collect::RingLayout layout = small_layout(probe::abi::Policy::Block, false);
  layout.wait_us = 10'000'000;
  Collector collector(layout);
  const SharedTold told;
  constexpr uint64_t kEach = 20'000;
  switch_on();
  std::vector<std::thread> writers;
  for (uint32_t i = 0; i < Told::kThreads; ++i)
    writers.emplace_back([&, i] { fire(told, i, kEach); });
  while (!collector.is_used()) usleep(100);
  collect::RingMemory& memory = collector.memory(0);
  std::optional<collect::ReaderSlot> slot =
      collect::ReaderSlot::claim(memory, collect::Begin::Start);
  ASSERT_TRUE(slot);
  collect::RingReader reader(layout, layout.rings);
  Counted counted;
  while (counted.kept + counted.missing < Told::kThreads * kEach) {
    meanwhile(memory);
    if (!reader.read_block(memory.bytes(), counted)) usleep(100);
    slot->take(layout.rings, reader.position());
  }
  for (std::thread& writer : writers) writer.join();
  strata_flag_stress__step = strata_flag_stress__handler = 0;
  EXPECT_FALSE(reader.read_block(memory.bytes(), counted));
  EXPECT_EQ(counted.kept, Told::kThreads * kEach);
  EXPECT_EQ(counted.missing, 0u);
  EXPECT_TRUE(counted.in_order);
  EXPECT_EQ(reader.damaged(), 0u);
}

TEST(Fallback, ManyWritersAndAReader) {
  write_and_read([](const collect::RingMemory&) {});
}

TEST(Fallback, ReadersOfOtherPoliciesComeAndGo) {
  std::optional<collect::RingMemory> other;
  std::optional<collect::ReaderSlot> slot;
  uint32_t turn = 0;
  write_and_read([&](const collect::RingMemory& memory) {
    ++turn;
    if (slot) {
      EXPECT_FALSE(slot->leave());
      slot.reset();
      return;
    }
    const auto policy = turn % 4 == 1 ? probe::abi::Policy::Overwrite : probe::abi::Policy::Discard;
    Result<FileDescriptor> file = memory.reopen();
    ASSERT_TRUE(file);
    Result<collect::RingMemory> opened =
        collect::RingMemory::open(std::move(*file), policy, "test");
    ASSERT_TRUE(opened) << opened.error().text();
    other.emplace(std::move(*opened));
    slot = collect::ReaderSlot::claim(*other, collect::Begin::Head);
    ASSERT_TRUE(slot);
  });
  EXPECT_GT(turn, 1u);
}

}  // namespace
}  // namespace strata::test
