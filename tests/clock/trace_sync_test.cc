// SPDX-License-Identifier: Apache-2.0
#include "clock/trace_sync.h"

#include <gmock/gmock.h>

#include <cmath>

#include "clock/segment_matches.h"
#include "clock/vm_windows.h"
#include "recording/open.h"
#include "support/corpus.h"

namespace strata::clock {
namespace {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

Traces open(const std::string& name) {
  Result<Traces> traces = recording::open_traces(*test::corpus() + "/ctf/" + name);
  EXPECT_TRUE(traces) << traces.error().text();
  return traces ? *std::move(traces) : Traces();
}

// Trace Compass finds these; its own tests say so.
TEST(TraceSync, OfTwoHostsFindsWhatTraceCompassFinds) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  const Traces source = open("tracecompass/synctraces/scp_src");
  const Traces destination = open("tracecompass/synctraces/scp_dest");
  std::vector<Error> problems;
  const Result<TraceSync> sync = sync_traces(source, destination, problems);
  ASSERT_TRUE(sync) << sync.error().text();
  EXPECT_EQ(sync->by, TraceSync::By::TcpSegments);
  EXPECT_EQ(sync->matches, 46u);
  ASSERT_EQ(sync->stretches.size(), 1u);
  const Stretch& only = sync->stretches.front();
  EXPECT_EQ(static_cast<double>(1 + only.line.steeper), 0.9999413783703139);
  EXPECT_LT(std::fabs(only.at_zero() - 79796507913179.33347660124688L), 0.001L);
  EXPECT_TRUE(problems.empty());
}

TEST(TraceSync, TheOtherWayRoundIsTheInverseWithinTheBounds) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  const Traces source = open("tracecompass/synctraces/scp_src");
  const Traces destination = open("tracecompass/synctraces/scp_dest");
  std::vector<Error> problems;
  const Result<TraceSync> there = sync_traces(source, destination, problems);
  const Result<TraceSync> back = sync_traces(destination, source, problems);
  ASSERT_TRUE(there && back);
  const Stretch& stretch = there->stretches.front();
  const trace::ClockMap map = map_of(there->stretches);
  const trace::ClockMap inverse = map_of(back->stretches);
  const int64_t begin = stretch.begin + (stretch.end - stretch.begin) / 2;
  const int64_t twice = inverse.at(static_cast<uint64_t>(map.at(static_cast<uint64_t>(begin))));
  EXPECT_LE(std::abs(twice - begin),
            static_cast<int64_t>(stretch.bound + back->stretches.front().bound));
}

// The corpus' own guest and host: all that the guest did lies between an entry and an exit.
TEST(TraceSync, OfAGuestPutsItsEventsWhereItRan) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  const Traces guest = open("nested-kvm/guest");
  const Traces host = open("nested-kvm/host");
  std::vector<Error> problems;
  const Result<TraceSync> sync = sync_traces(guest, host, problems);
  ASSERT_TRUE(sync) << sync.error().text();
  EXPECT_EQ(sync->by, TraceSync::By::GuestWindows);
  ASSERT_EQ(sync->stretches.size(), 1u);
  EXPECT_LT(sync->stretches.front().bound, 50'000u);
  const trace::ClockMap map = map_of(sync->stretches);
  const HostWindows ran = read_host(host);
  const GuestMoments did = read_guest(guest);
  const std::vector<VmWindow>& windows = ran.vcpus.begin()->second;
  const auto bound = static_cast<int64_t>(sync->stretches.front().bound);
  int all = 0;
  int outside = 0;
  int beyond = 0;
  for (const int64_t moment : did.cpus.begin()->second) {
    const int64_t time = map.at(static_cast<uint64_t>(moment));
    const auto lies_within = [&](int64_t reach) {
      const auto window = std::ranges::lower_bound(windows, time - reach, {}, &VmWindow::exit);
      return window != windows.end() && window->entry <= time + reach;
    };
    ++all;
    outside += lies_within(0) ? 0 : 1;
    beyond += lies_within(bound) ? 0 : 1;
  }
  EXPECT_EQ(all, 7'844);
  EXPECT_LE(outside, 10);
  EXPECT_EQ(beyond, 0);
}

TEST(TraceSync, OfMachinesThatSawNothingOfEachOtherSaysWhy) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  const Traces guest = open("nested-kvm/guest");
  const Traces other = open("tracecompass/synctraces/scp_src");
  std::vector<Error> problems;
  EXPECT_FALSE(sync_traces(guest, other, problems));
  EXPECT_FALSE(sync_traces(other, other, problems));
}

TEST(WaitingSegments, GiveUpTheOldestForANewOne) {
  WaitingSegments waiting(100);
  for (uint32_t i = 0; i < 1'000; ++i) waiting.add({i, 0, 0}, i);
  EXPECT_EQ(waiting.size(), 100u);
  EXPECT_EQ(waiting.take({5, 0, 0}), std::nullopt);
  EXPECT_EQ(waiting.take({950, 0, 0}), 950);
  EXPECT_EQ(waiting.take({950, 0, 0}), std::nullopt);
}

TEST(WaitingSegments, KeepTheFirstOfThoseThatAreTheSame) {
  WaitingSegments waiting(100);
  waiting.add({1, 2, 3}, 10);
  waiting.add({1, 2, 3}, 20);
  EXPECT_EQ(waiting.take({1, 2, 3}), 10);
  EXPECT_EQ(waiting.take({1, 2, 3}), std::nullopt);
}

}  // namespace
}  // namespace strata::clock
