// SPDX-License-Identifier: Apache-2.0
//
// Programs that do to their rings what they should not, while they are read.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include "stress.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

// This process's own mapping of its rings.
std::byte* own_rings() {
  FILE* maps = fopen("/proc/self/maps", "re");
  char line[512];
  unsigned long start = 0;
  // The test's process has mapped the same memory before the fork only if it had any: the child's
  // is the last.
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr)
    if (strstr(line, "memfd:strata-probe") != nullptr) sscanf(line, "%lx", &start);
  if (maps != nullptr) fclose(maps);
  return reinterpret_cast<std::byte*>(start);
}

struct Ignored {
  void record(const collect::RingRecord& record) {
    for (const std::byte byte : record.payload) sum += static_cast<unsigned>(byte);
  }
  void lost(uint64_t events) { sum += events; }
  uint64_t sum = 0;
};

class Hostile : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Hostile, testing::ValuesIn(kWays), way_name);

TEST_P(Hostile, ScribblingOverItsRingsHarmsNobodyElse) {
  const collect::RingLayout layout = small_layout(GetParam().policy, GetParam().per_cpu);
  Collector collector(layout);
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) {
    switch_on();
    fire(told, 0, 1);
    std::byte* const rings = own_rings();
    if (rings == nullptr) _exit(1);
    std::mt19937_64 random(getpid());
    while (true) {
      // Mostly where the collector looks: the header, the dictionary, the controls, block begins.
      const uint64_t places[] = {random() % 256, random() % 4096,
                                 layout.controls() + random() % (layout.data() - layout.controls()),
                                 layout.data() + random() % (layout.size() - layout.data())};
      const uint64_t place = places[random() % std::size(places)] & ~uint64_t{7};
      const uint64_t values[] = {0, random() % 100'000 * 8, random(), ~uint64_t{0}};
      memcpy(rings + place, &values[random() % std::size(values)], sizeof(uint64_t));
      told->handled.fetch_add(1);
    }
  }
  while (!collector.is_used()) usleep(100);
  const collect::RingMemory& memory = collector.memory(0);
  Ignored ignored;
  for (int round = 0; round < 200; ++round) {
    const uint64_t before = told->handled;
    collect::Dictionary dictionary;
    (void)static_cast<bool>(dictionary.update(memory.bytes(), layout));
    for (uint32_t ring = 0; ring <= layout.rings; ++ring) {
      collect::RingReader reader(layout, ring);
      // However much it says: not more than the ring holds, and then no end of it.
      for (int i = 0; i < 64 && reader.read_block(memory.bytes(), ignored); ++i) {
      }
    }
    while (told->handled == before) usleep(10);
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Hostile, ItCannotMakeItsMemorySmallerOrLarger) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  EXPECT_EQ(in_child([&] {
              switch_on();
              STRATA_TRACE(stress, step, 0, 1);
              const auto* header = reinterpret_cast<const abi::Header*>(own_rings());
              const int memory = header->memory;
              if (ftruncate(memory, 0) == 0 || errno != EPERM) _exit(1);
              if (ftruncate(memory, 1l << 40) == 0 || errno != EPERM) _exit(2);
            }),
            0);
  EXPECT_EQ(collector.read().kept(), 1u);
}

}  // namespace
}  // namespace strata::test
