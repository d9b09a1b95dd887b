// SPDX-License-Identifier: Apache-2.0
#include "kernel/ring_snapshot.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "ftrace/ring_page.h"
#include "support/ring_page_maker.h"

namespace strata::kernel {
namespace {

using test::RingPageMaker;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kPageSize = 256;

// Pages one behind the other, as the kernel maps them.
class Memory {
 public:
  explicit Memory(const std::vector<std::vector<std::byte>>& pages)
      : words_(pages.size() * kPageSize / 8) {
    for (size_t i = 0; i < pages.size(); ++i)
      std::memcpy(words_.data() + i * kPageSize / 8, pages[i].data(), kPageSize);
  }
  Bytes bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<uint64_t> words_;
};

std::vector<std::byte> payload(uint32_t value) {
  std::vector<std::byte> bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

// A page that begins at `time` with records of these values, ten ticks apart.
std::vector<std::byte> page_of(uint64_t time, const std::vector<uint32_t>& values) {
  RingPageMaker maker(time);
  for (size_t i = 0; i < values.size(); ++i) maker.data(i == 0 ? 0 : 10, payload(values[i]));
  return maker.page(kPageSize);
}

std::vector<uint32_t> values_in(const RingCopy& copy) {
  std::vector<uint32_t> values;
  for (size_t at = 0; at < copy.pages.size(); at += kPageSize) {
    ftrace::RingPage page(copy.pages.subspan(at, kPageSize), {ByteOrder::Little, 8});
    while (page.next() == ftrace::RingPage::Step::Record) {
      uint32_t value;
      std::memcpy(&value, page.record().data(), 4);
      values.push_back(value);
    }
  }
  return values;
}

TEST(RingSnapshot, PagesComeInTheOrderOfTheirTimes) {
  const Memory ring({page_of(300, {5, 6}), page_of(100, {1, 2}), page_of(200, {3, 4})});
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, kEverything)),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(RingSnapshot, WhatIsYoungerThanTheMomentIsLeftOut) {
  const Memory ring({page_of(300, {5, 6}), page_of(100, {1, 2}), page_of(200, {3, 4})});
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, Ticks{309})),
              ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, Ticks{310})),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, Ticks{200})), ElementsAre(1, 2, 3));
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, Ticks{99})), IsEmpty());
}

TEST(RingSnapshot, PagesWithoutAnythingOrWithTooMuchAreLeftOut) {
  const Memory ring({page_of(0, {}), page_of(100, {1}),
                     RingPageMaker(200).data(0, payload(2)).commit(kPageSize).page(kPageSize)});
  EXPECT_THAT(values_in(copy_ring(ring.bytes(), kPageSize, kEverything)), ElementsAre(1));
}

TEST(RingSnapshot, ARingCutOffWithinAPageGivesTheWholePages) {
  const Memory ring({page_of(100, {1}), page_of(200, {2})});
  EXPECT_THAT(values_in(copy_ring(ring.bytes().first(kPageSize + 8), kPageSize, kEverything)),
              ElementsAre(1));
  EXPECT_THAT(values_in(copy_ring({}, kPageSize, kEverything)), IsEmpty());
}

TEST(RingSnapshot, WhatWasLostBeforeItIsNotItsLoss) {
  const Memory ring({RingPageMaker(100).data(0, payload(1)).lost(7).page(kPageSize)});
  const RingCopy copy = copy_ring(ring.bytes(), kPageSize, kEverything);
  EXPECT_FALSE(ftrace::RingPage(copy.pages, {ByteOrder::Little, 8}).lost());
}

// Writes numbers into a ring the way the kernel does, as fast as it can.
class Writer {
 public:
  explicit Writer(size_t pages)
      : words_(pages * kPageSize / 8), pages_(pages), thread_([this] { run(); }) {}
  ~Writer() {
    stop_ = true;
    thread_.join();
  }
  Bytes bytes() const { return std::as_bytes(std::span(words_)); }
  uint64_t time() const { return time_.load(); }

 private:
  void run() {
    uint32_t value = 0;
    for (size_t i = 0; !stop_; i = (i + 1) % pages_) {
      auto* page = reinterpret_cast<std::byte*>(words_.data()) + i * kPageSize;
      const auto commit = [&](uint64_t size) {
        __atomic_store_n(reinterpret_cast<uint64_t*>(page + 8), size, __ATOMIC_RELEASE);
      };
      commit(0);
      __atomic_store_n(reinterpret_cast<uint64_t*>(page), time_ + 1, __ATOMIC_RELEASE);
      for (size_t at = 16; at + 8 <= kPageSize; at += 8) {
        const uint32_t head = (at == 16 ? 0u : 1u) << 5 | 1;  // one tick later, four bytes
        std::memcpy(page + at, &head, 4);
        std::memcpy(page + at + 4, &value, 4);
        ++value;
        time_.store(time_ + 1);
        commit(at + 8 - 16);
      }
      std::this_thread::yield();
    }
  }

  std::vector<uint64_t> words_;
  size_t pages_;
  std::atomic<uint64_t> time_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Value v was written at time v + 1.
TEST(RingSnapshot, ACopyOfARingThatIsBeingWrittenHasNoHole) {
  const Writer writer(64);
  size_t copied = 0;
  // The writer may be late: without it there is nothing to copy, and this does not end.
  for (int i = 0; i < 2000 || copied == 0; ++i) {
    const uint64_t until = writer.time();
    const std::vector<uint32_t> values =
        values_in(copy_ring(writer.bytes(), kPageSize, Ticks{until}));
    for (size_t k = 1; k < values.size(); ++k) ASSERT_EQ(values[k], values[k - 1] + 1);
    copied += values.size();
    if (!values.empty()) {
      ASSERT_LE(values.back() + 1, until);
    }
  }
}

}  // namespace
}  // namespace strata::kernel
