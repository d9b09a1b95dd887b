// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "collect/reader_slot.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

collect::RingMemory open_again(const collect::RingMemory& memory, abi::Policy policy) {
  Result<FileDescriptor> file = memory.reopen();
  EXPECT_TRUE(file);
  Result<collect::RingMemory> opened = collect::RingMemory::open(std::move(*file), policy, "test");
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

TEST(ConcurrentReaders, WhoReadsIsNotForgottenWhileOthersOfItsPolicyLeave) {
  collect::RingLayout layout;
  layout.capacity_log2 = 15;
  layout.block_log2 = 14;
  layout.dictionary_size = 64;
  const Result<collect::RingMemory> memory = collect::RingMemory::create(layout, abi::Clock::Tsc);
  ASSERT_TRUE(memory);
  std::optional<collect::ReaderSlot> stays =
      collect::ReaderSlot::claim(*memory, collect::Begin::Start);
  ASSERT_TRUE(stays);

  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      const collect::RingMemory own = open_again(*memory, abi::Policy::Overwrite);
      for (int round = 0; round < 500; ++round) {
        std::optional<collect::ReaderSlot> slot =
            collect::ReaderSlot::claim(own, collect::Begin::Head);
        ASSERT_TRUE(slot);
        for (int look = 0; look < 20; ++look)
          ASSERT_TRUE(own.clock_word().said().wants(abi::Policy::Overwrite));
        ASSERT_FALSE(slot->leave());
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(memory->clock_word().said().wanted, abi::policy_bit(abi::Policy::Discard));
  EXPECT_TRUE(stays->leave());
}

}  // namespace
}  // namespace strata::test
