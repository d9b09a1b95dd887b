// SPDX-License-Identifier: Apache-2.0
#include "collect/reader_slot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace strata::test {
namespace {

namespace abi = probe::abi;
using collect::Begin;
using collect::is_read_by_others;

collect::RingLayout two_rings() {
  collect::RingLayout layout;
  layout.rings = 1;
  layout.capacity_log2 = 16;
  layout.block_log2 = 14;
  layout.dictionary_size = 64;
  return layout;
}

// A memory, and others who have it by open files of their own.
class ReaderSlot : public testing::Test {
 protected:
  collect::RingMemory open_again(abi::Policy policy = abi::Policy::Discard) {
    Result<FileDescriptor> file = memory_->reopen();
    EXPECT_TRUE(file);
    Result<collect::RingMemory> memory =
        collect::RingMemory::open(std::move(*file), policy, "test");
    EXPECT_TRUE(memory) << memory.error().text();
    return std::move(*memory);
  }
  static collect::ReaderSlot claim(const collect::RingMemory& memory, Begin begin = Begin::Start) {
    const std::optional<collect::ReaderSlot> slot = collect::ReaderSlot::claim(memory, begin);
    EXPECT_TRUE(slot);
    return *slot;
  }
  uint64_t tail(uint32_t ring = 0) const { return memory_->controls()[ring].tail; }
  void set_head(uint64_t head) {
    for (abi::RingControl& control : memory_->controls()) control.head = head;
  }

  Result<collect::RingMemory> memory_ = collect::RingMemory::create(two_rings(), abi::Clock::Tsc);
};

TEST_F(ReaderSlot, TheTailIsTheLeastThatAnyReaderHasTaken) {
  const collect::RingMemory other = open_again();
  collect::ReaderSlot first = claim(*memory_);
  collect::ReaderSlot second = claim(other);
  first.take(0, 800);
  EXPECT_EQ(tail(), 0u);
  second.take(0, 480);
  EXPECT_EQ(tail(), 480u);
  second.take(0, 1600);
  EXPECT_EQ(tail(), 800u);
  EXPECT_EQ(tail(1), 0u);
  EXPECT_EQ(second.position(0), 1600u);
}

TEST_F(ReaderSlot, WhoJoinsBeginsBehindWhatOthersHaveTaken) {
  const collect::RingMemory other = open_again();
  collect::ReaderSlot first = claim(*memory_);
  set_head(640);
  first.take(0, 800);  // the head was there when it looked
  const collect::ReaderSlot second = claim(other, Begin::Head);
  EXPECT_EQ(second.position(0), 800u);
  EXPECT_EQ(second.position(1), 640u);
}

TEST_F(ReaderSlot, WhoTakesOverBeginsWithWhatWasLeft) {
  {
    const collect::RingMemory other = open_again();
    claim(other).take(0, 320);
  }
  set_head(640);
  EXPECT_FALSE(is_read_by_others(memory_->descriptor()));
  collect::ReaderSlot heir = claim(*memory_, Begin::Tail);
  EXPECT_EQ(heir.position(0), 320u);
  heir.free_dead();
  heir.take(0, 640);
  EXPECT_EQ(tail(), 640u);
}

TEST_F(ReaderSlot, TheLastThatLeavesIsToldSo) {
  const collect::RingMemory other = open_again();
  collect::ReaderSlot first = claim(*memory_);
  collect::ReaderSlot second = claim(other);
  EXPECT_FALSE(first.leave());
  second.take(0, 480);
  EXPECT_EQ(tail(), 480u);
  EXPECT_TRUE(second.leave());
}

TEST_F(ReaderSlot, ThatOfAReaderThatWasKilledIsFreed) {
  collect::ReaderSlot mine = claim(*memory_);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const collect::RingMemory own = open_again();
    claim(own);
    if (write(ready[1], "", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  mine.take(0, 800);
  mine.free_dead();
  EXPECT_EQ(tail(), 0u) << "it lives, and has taken nothing";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_read_by_others(memory_->descriptor()));
  mine.free_dead();
  EXPECT_EQ(tail(), 800u);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(ReaderSlot, OneThatWasClaimedForSomebodyGoesWithTheDescriptor) {
  claim(*memory_);
  Result<FileDescriptor> file = memory_->reopen();
  ASSERT_TRUE(file);
  const std::optional<uint32_t> number =
      collect::ReaderSlot::claim_for(file->get(), *memory_, abi::Policy::Discard, Begin::Start);
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 1u);
  {
    // As a socket does it: another number of the same open file.
    Result<collect::RingMemory> given = collect::RingMemory::open(
        FileDescriptor(fcntl(file->get(), F_DUPFD_CLOEXEC, 0)), abi::Policy::Discard, "test");
    ASSERT_TRUE(given);
    file->reset();
    EXPECT_TRUE(is_read_by_others(memory_->descriptor()));
    collect::ReaderSlot slot = collect::ReaderSlot::given(*given, *number);
    slot.take(0, 160);
    EXPECT_EQ(slot.position(0), 160u);
  }
  EXPECT_FALSE(is_read_by_others(memory_->descriptor()));
}

TEST_F(ReaderSlot, ThereAreNoMoreThanTheMemoryHasRoomFor) {
  std::vector<collect::RingMemory> readers;
  for (uint32_t i = 0; i < abi::kMaxReaders; ++i) {
    readers.push_back(open_again());
    claim(readers.back());
  }
  EXPECT_FALSE(collect::ReaderSlot::claim(*memory_, Begin::Head));
  readers.pop_back();
  EXPECT_TRUE(collect::ReaderSlot::claim(*memory_, Begin::Head));
}

TEST_F(ReaderSlot, RingsAreWantedWhileSomebodyReadsThem) {
  const auto wanted = [&] { return memory_->clock_word().said().wanted; };
  collect::ReaderSlot first = claim(*memory_);
  EXPECT_EQ(wanted(), abi::policy_bit(abi::Policy::Discard));
  const collect::RingMemory flight = open_again(abi::Policy::Overwrite);
  const collect::RingMemory another = open_again(abi::Policy::Overwrite);
  collect::ReaderSlot second = claim(flight, Begin::Head);
  collect::ReaderSlot third = claim(another, Begin::Head);
  EXPECT_EQ(wanted(),
            abi::policy_bit(abi::Policy::Discard) | abi::policy_bit(abi::Policy::Overwrite));
  EXPECT_FALSE(second.leave());
  EXPECT_FALSE(first.leave());
  EXPECT_EQ(wanted(), abi::policy_bit(abi::Policy::Overwrite));
  EXPECT_TRUE(third.leave());
  EXPECT_EQ(wanted(), abi::policy_bit(abi::Policy::Overwrite)) << "until it is closed";
}

TEST_F(ReaderSlot, AReaderOfOnePolicyHoldsUpNobodyOfAnother) {
  const collect::RingMemory blocking = open_again(abi::Policy::Block);
  claim(*memory_);
  collect::ReaderSlot second = claim(blocking, Begin::Head);
  second.take(0, 480);
  EXPECT_EQ(tail(), 0u);
  EXPECT_EQ(blocking.controls()[0].tail, 480u);
}

TEST_F(ReaderSlot, WhoComesFindsRoomInRingsThatWereLeftFull) {
  collect::ReaderSlot first = claim(*memory_);
  const collect::RingMemory flight = open_again(abi::Policy::Overwrite);
  claim(flight, Begin::Head);
  set_head(65536);
  first.take(0, 640);
  EXPECT_FALSE(first.leave());
  const collect::RingMemory other = open_again();
  EXPECT_EQ(collect::begin_of_heir(other), Begin::Head) << "nobody was killed";
  claim(other, Begin::Head);
  EXPECT_EQ(tail(0), 65536u);
  EXPECT_EQ(tail(1), 65536u);
}

TEST_F(ReaderSlot, AnHeirBeginsWithWhatWasLeftForItsPolicy) {
  claim(*memory_);
  {
    const collect::RingMemory killed = open_again(abi::Policy::Block);
    EXPECT_EQ(collect::begin_of_heir(killed), Begin::Head) << "nobody was before";
    claim(killed, Begin::Head).take(0, 160);
  }
  EXPECT_EQ(collect::begin_of_heir(open_again(abi::Policy::Block)), Begin::Tail);
  EXPECT_EQ(collect::begin_of_heir(open_again()), Begin::Head) << "that one is read";
}

TEST_F(ReaderSlot, AScribbledTableHoldsUpNobody) {
  const collect::RingMemory other = open_again();
  collect::ReaderSlot mine = claim(*memory_);
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    for (abi::RingControl& control : memory_->controls()) {
      control.tail = random();
      for (uint64_t& taken : control.taken) taken = random() % 3 == 0 ? 0 : random();
    }
    mine.free_dead();
    mine.take(0, random() % 100'000 * 8);
    collect::ReaderSlot joined = claim(other, Begin::Head);
    EXPECT_FALSE(joined.leave());
  }
  // A reader that the program made up does not count for long.
  for (abi::RingControl& control : memory_->controls()) {
    control.tail = 0;
    control.taken[abi::kMaxReaders - 1] = 1;
  }
  mine.take(0, 800);
  EXPECT_EQ(tail(), 0u);
  mine.free_dead();
  EXPECT_EQ(tail(), 800u);
}

TEST(RingMemory, OfSomebodyElseIsTakenOnlyAsItShouldBe) {
  const collect::RingLayout layout = two_rings();
  Result<collect::RingMemory> memory = collect::RingMemory::create(layout, abi::Clock::Tsc);
  ASSERT_TRUE(memory);
  const auto open = [](FileDescriptor file) {
    return collect::RingMemory::open(std::move(file), abi::Policy::Discard, "test");
  };
  const Result<collect::RingMemory> again = open(*memory->reopen());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_TRUE(again->layout().is_like(layout));
  collect::RingLayout like = layout;
  like.capacity_log2 = 20;
  EXPECT_TRUE(layout.is_like(like)) << "its size is its own";
  like.policy = abi::Policy::Overwrite;
  EXPECT_TRUE(layout.is_like(like)) << "there are rings for each";
  like.rings = 2;
  EXPECT_FALSE(layout.is_like(like));

  const auto copy = [&](int seals) {
    FileDescriptor file(memfd_create("strata-probe-copy", MFD_ALLOW_SEALING | MFD_CLOEXEC));
    const Bytes bytes = memory->bytes();
    if (ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0 ||
        pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      ADD_FAILURE();
    fcntl(file.get(), F_ADD_SEALS, seals);
    return file;
  };
  EXPECT_TRUE(open(copy(F_SEAL_SHRINK | F_SEAL_GROW)));
  EXPECT_FALSE(open(copy(F_SEAL_GROW)));
  EXPECT_FALSE(open(copy(0)));
  EXPECT_FALSE(open(FileDescriptor(::open("/dev/zero", O_RDWR | O_CLOEXEC))));
  FileDescriptor empty(memfd_create("strata-probe-empty", MFD_ALLOW_SEALING | MFD_CLOEXEC));
  fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  EXPECT_FALSE(open(std::move(empty)));
}

}  // namespace
}  // namespace strata::test
