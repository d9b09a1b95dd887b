// SPDX-License-Identifier: Apache-2.0
//
// The rings with the kernel as it is: signals, forks, threads, single steps.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "stress.h"
#include "victim.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

class Rings : public testing::TestWithParam<Way> {
 protected:
  static collect::RingLayout layout(uint32_t capacity_log2 = 18) {
    collect::RingLayout layout = small_layout(GetParam().policy, GetParam().per_cpu);
    layout.capacity_log2 = capacity_log2;
    layout.wait_us = 200;
    return layout;
  }
  static bool overwrites() { return GetParam().policy == abi::Policy::Overwrite; }
};
INSTANTIATE_TEST_SUITE_P(Ways, Rings, testing::ValuesIn(kWays), way_name);

const SharedTold* handler_told;

void handle(int) {
  STRATA_TRACE(stress, handler, (*handler_told)->handled.load());
  (*handler_told)->handled.fetch_add(1);
}

// 0: no more.
void trace_in_handlers_every(suseconds_t microseconds) {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

TEST_P(Rings, SignalHandlersThatTraceWithinTracing) {
  Collector collector(layout(25));
  const SharedTold told;
  handler_told = &told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              struct sigaction action {};
              action.sa_handler = handle;
              action.sa_flags = SA_RESTART;
              sigaction(SIGALRM, &action, nullptr);
              const itimerval every{{0, 50}, {0, 50}};
              fire(told, 1, 1);  // attached: until then handlers could not wait
              setitimer(ITIMER_REAL, &every, nullptr);
              fire(told, 0, 500'000);
              const itimerval never{};
              setitimer(ITIMER_REAL, &never, nullptr);
            }),
            0);
  EXPECT_GT(told->handled, 0u);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.damaged, 0u);
  EXPECT_EQ(kept.kept() + kept.lost, told->all_completed());
  // A handler that interrupts the holder of the fallback's lock cannot wait for it.
  if (GetParam().per_cpu) {
    EXPECT_EQ(kept.lost, 0u);
  } else {
    EXPECT_LE(kept.lost, told->handled);
  }
}

TEST_P(Rings, KeptAndLostAreAllThatWasFired) {
  Collector collector(layout());
  const SharedTold told;
  constexpr uint64_t kEach = 50'000;
  EXPECT_EQ(in_child([&] {
              switch_on();
              std::vector<std::thread> threads;
              for (uint32_t i = 0; i < Told::kThreads; ++i)
                threads.emplace_back([&, i] { fire(told, i, kEach); });
              for (std::thread& thread : threads) thread.join();
            }),
            0);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.damaged, 0u);
  if (overwrites()) {
    EXPECT_EQ(kept.lost, 0u);
    EXPECT_GT(kept.kept(), 0u);
  } else {
    EXPECT_GT(kept.lost, 0u);
    EXPECT_EQ(kept.kept() + kept.lost, Told::kThreads * kEach);
  }
}

TEST_P(Rings, AForkedChildGetsRingsOfItsOwn) {
  Collector collector(layout());
  const SharedTold told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 100);
              if (in_child([&] { fire(told, 1, 200); }) != 0) _exit(1);
              fire(told, 2, 300);
            }),
            0);
  ASSERT_EQ(collector.attached(), 2u);
  const KeptRings parent = collector.read(0);
  const KeptRings child = collector.read(1);
  EXPECT_EQ(parent.kept(), 400u);
  EXPECT_EQ(child.kept(), 200u);
  for (const KeptRecord& record : child.all()) EXPECT_EQ(record.at<uint32_t>(0), 1u);
}

TEST_P(Rings, TenThousandThreadsThatComeAndGo) {
  Collector collector(layout(22));
  const SharedTold told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              for (uint32_t i = 0; i < 2500; ++i) {
                std::vector<std::thread> threads;
                for (uint32_t j = 0; j < 4; ++j)
                  threads.emplace_back([&, i] { STRATA_TRACE(stress, step, 0, i); });
                for (std::thread& thread : threads) thread.join();
              }
            }),
            0);
  EXPECT_EQ(collector.attached(), 1u);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.kept(), 10'000u);
  EXPECT_EQ(kept.lost, 0u);
}

TEST_P(Rings, ACollectorThatLeavesIsFollowedByTheNext) {
  Collector collector(layout());
  const SharedTold told;
  std::jthread leaving(
      [&] { when_handed_over(told, 1, [&] { collector.memory(0).clock_word().close(); }); });
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 10);
              hand_over(told, 1);
              fire(told, 1, 20);
            }),
            0);
  ASSERT_EQ(collector.attached(), 2u);
  EXPECT_EQ(collector.read(0).kept(), 10u);
  EXPECT_EQ(collector.read(1).kept(), 20u);
}

TEST_P(Rings, TheClockChangesAtABlock) {
  Collector collector(layout(), abi::Clock::TscOrdered);
  const SharedTold told;
  std::jthread changing([&] {
    when_handed_over(told, 1,
                     [&] { collector.memory(0).clock_word().set_clock(abi::Clock::MonotonicRaw); });
  });
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 10);
              hand_over(told, 1);
              fire(told, 1, 20);
            }),
            0);
  const KeptRings kept = collector.read(0);
  EXPECT_EQ(kept.damaged, 0u);
  ASSERT_EQ(kept.kept(), 30u);
  for (const KeptRecord& record : kept.all())
    EXPECT_EQ(record.clock,
              record.at<uint32_t>(0) == 0 ? abi::Clock::TscOrdered : abi::Clock::MonotonicRaw);
}

TEST(Probes, WithoutACollectorEventsAreCountedUntilOneComes) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  const std::string socket = getenv(abi::kSocketVariable);
  const SharedTold told;
  EXPECT_EQ(in_child([&] {
              setenv(abi::kSocketVariable, "/nowhere", 1);
              switch_on();
              fire(told, 0, 10);
              setenv(abi::kSocketVariable, socket.c_str(), 1);
              usleep(200'000);  // it does not ask all the time
              fire(told, 1, 20);
            }),
            0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), 20u);
  EXPECT_EQ(collector.read().lost, 10u);
}

TEST(Probes, SignalsDoNotKeepAProgramFromAttaching) {
  Collector collector(small_layout(abi::Policy::Overwrite, true));
  const SharedTold told;
  handler_told = &told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              trace_in_handlers_every(30);
              fire(told, 0, 100'000);
              trace_in_handlers_every(0);
            }),
            0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_GT(collector.read().kept(), 0u);
}

TEST(Probes, SteppedThroughByADebuggerTheyUseTheFallback) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  const pid_t child = fork();
  if (child == 0) {
    switch_on();
    STRATA_TRACE(stress, step, 0, 0);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    STRATA_TRACE(stress, step, 0, 1);
    syscall(SYS_exit_group, 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  int steps = 0;
  for (; WIFSTOPPED(status) && steps < 1'000'000; ++steps) {
    ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    waitpid(child, &status, 0);
  }
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_GT(steps, 100);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.kept(), 2u);
  EXPECT_EQ(kept.rings.back().size(), 1u);
}

TEST(Probes, ANewProgramSwitchesItsSitesOnByTheEnvironment) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  EXPECT_EQ(run_victim(Victim::Fires, abi::kEnableVariable, "other:*,stress:st*"), 0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), kVictimFires);
}

TEST(Probes, ANewProgramIsAttachedBeforeItForbidsItselfSockets) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  EXPECT_EQ(run_victim(Victim::FiresWithoutSockets, abi::kEnableVariable, "stress"), 0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), kVictimFires);
}

TEST(Probes, WithoutRestartableSequencesTheFallbackServes) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  setenv(abi::kEnableVariable, "stress:*", 1);
  EXPECT_EQ(run_victim(Victim::Fires, "GLIBC_TUNABLES", "glibc.pthread.rseq=0"), 0);
  unsetenv(abi::kEnableVariable);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().rings.back().size(), 2u);
}

TEST(Probes, AVforkedChildMayTraceBeforeItExecutes) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  EXPECT_EQ(in_child([&] {
              switch_on();
              STRATA_TRACE(stress, step, 0, 1);
              const pid_t child = vfork();
              if (child == 0) {
                STRATA_TRACE(stress, step, 0, 2);
                _exit(0);
              }
              int status = 0;
              waitpid(child, &status, 0);
              STRATA_TRACE(stress, step, 0, 3);
            }),
            0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), 3u);
}

TEST(Probes, LibrariesMayBeLoadedAndUnloadedForEver) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  constexpr uint32_t kTimes = 500;
  EXPECT_EQ(in_child([&] {
              for (uint32_t i = 0; i < kTimes; ++i) {
                void* library = dlopen(STRATA_TEST_PLUGIN, RTLD_NOW);
                if (library == nullptr) _exit(1);
                reinterpret_cast<void (*)()>(dlsym(library, "plugin_switch_on"))();
                reinterpret_cast<void (*)(uint32_t)>(dlsym(library, "plugin_fire"))(i);
                if (dlclose(library) != 0 || dlopen(STRATA_TEST_PLUGIN, RTLD_NOLOAD | RTLD_NOW))
                  _exit(2);
              }
            }),
            0);
  ASSERT_EQ(collector.attached(), 1u);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.kept(), kTimes);
  EXPECT_EQ(kept.lost, 0u);
  EXPECT_EQ(load_once<uint32_t>(collector.memory(0).bytes().data() +
                                offsetof(abi::Header, dictionary_used)),
            load_once<uint32_t>(collector.memory(0).bytes().data() + sizeof(abi::Header)))
      << "the same library is in the dictionary once";
}

}  // namespace
}  // namespace strata::test
