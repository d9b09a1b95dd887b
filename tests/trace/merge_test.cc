// SPDX-License-Identifier: Apache-2.0
#include "trace/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace strata::trace {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

struct Scripted {
  Step step;
  int64_t time;
};
Scripted at(int64_t time) { return {Step::Event, time}; }
Scripted quiet(int64_t until) { return {Step::Quiet, until}; }

// Takes the steps it is told to. An event's ticks are its place in the stream.
class ScriptedStream : public Stream {
 public:
  explicit ScriptedStream(std::vector<Scripted> steps) : steps_(std::move(steps)) {}
  Step next() override {
    ++asked;
    if (at_ == steps_.size()) return Step::End;
    event_.time = Nanoseconds{steps_[at_].time};
    event_.ticks = Ticks{at_};
    return steps_[at_++].step;
  }
  int asked = 0;

 private:
  std::vector<Scripted> steps_;
  size_t at_ = 0;
};

Merge merge_of(const std::vector<std::vector<Scripted>>& scripts) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (const auto& script : scripts) streams.push_back(std::make_unique<ScriptedStream>(script));
  return Merge(std::move(streams));
}

using Came = std::vector<std::pair<int64_t, size_t>>;  // time, stream

Came everything(Merge& merge) {
  Came came;
  for (Step step; (step = merge.next()) != Step::End;) {
    EXPECT_EQ(step, Step::Event);
    if (step != Step::Event) break;
    came.emplace_back(merge.event().time.count, merge.stream_index());
    EXPECT_EQ(merge.streams()[merge.stream_index()].get(), &merge.stream());
  }
  EXPECT_EQ(merge.next(), Step::End) << "the end stays the end";
  return came;
}

TEST(Merge, OfNothingEndsAtOnce) {
  Merge merge({});
  EXPECT_EQ(merge.next(), Step::End);
  EXPECT_EQ(merge.next(), Step::End);
}

TEST(Merge, OfStreamsWithoutEventsEndsAtOnce) {
  Merge merge = merge_of({{}, {}, {}});
  EXPECT_EQ(merge.next(), Step::End);
}

TEST(Merge, OfOneStreamIsThatStream) {
  Merge merge = merge_of({{at(1), at(1), at(5)}});
  EXPECT_EQ(everything(merge), (Came{{1, 0}, {1, 0}, {5, 0}}));
}

TEST(Merge, IsInTheOrderOfTime) {
  Merge merge = merge_of({{at(1), at(4), at(6)}, {at(2), at(3), at(7)}, {at(5)}, {}});
  EXPECT_EQ(everything(merge), (Came{{1, 0}, {2, 1}, {3, 1}, {4, 0}, {5, 2}, {6, 0}, {7, 1}}));
  EXPECT_EQ(merge.backward_steps(), 0u);
}

TEST(Merge, TiesGoByThePlaceOfTheStream) {
  Merge merge = merge_of({{at(2), at(2)}, {at(1), at(2)}, {at(2), at(2)}});
  EXPECT_EQ(everything(merge), (Came{{1, 1}, {2, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 2}}));
}

TEST(Merge, TimesBelowZero) {
  Merge merge = merge_of({{at(std::numeric_limits<int64_t>::min()), at(0)}, {at(-5), at(5)}});
  EXPECT_EQ(everything(merge),
            (Came{{std::numeric_limits<int64_t>::min(), 0}, {-5, 1}, {0, 0}, {5, 1}}));
}

TEST(Merge, EventsAtTheEndOfTimeAreNotTheEnd) {
  Merge merge = merge_of({{}, {at(1), at(kForever), at(kForever)}, {at(kForever)}, {at(2)}});
  EXPECT_EQ(everything(merge), (Came{{1, 1}, {2, 3}, {kForever, 1}, {kForever, 1}, {kForever, 2}}));
}

TEST(Merge, LooksAtAStreamOnlyWhenItsEventIsDone) {
  std::vector<std::unique_ptr<Stream>> streams;
  streams.push_back(std::make_unique<ScriptedStream>(std::vector{at(1), at(9)}));
  streams.push_back(std::make_unique<ScriptedStream>(std::vector{at(2), at(3)}));
  auto* first = static_cast<ScriptedStream*>(streams[0].get());
  auto* second = static_cast<ScriptedStream*>(streams[1].get());
  Merge merge(std::move(streams));
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(first->asked, 1) << "its event is still being looked at";
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(first->asked, 2);
  EXPECT_EQ(second->asked, 1);
}

// The definition: of the heads of all streams, the earliest; of equal ones, the first stream's.
Came by_definition(const std::vector<std::vector<Scripted>>& scripts) {
  Came came;
  std::vector<size_t> heads(scripts.size());
  for (;;) {
    size_t best = scripts.size();
    for (size_t i = 0; i < scripts.size(); ++i)
      if (heads[i] < scripts[i].size() &&
          (best == scripts.size() || scripts[i][heads[i]].time < scripts[best][heads[best]].time))
        best = i;
    if (best == scripts.size()) return came;
    came.emplace_back(scripts[best][heads[best]++].time, best);
  }
}

TEST(Merge, AnyNumberOfStreamsGivesWhatTheDefinitionSays) {
  std::mt19937 random(7);
  for (size_t count = 1; count <= 40; ++count) {
    std::vector<std::vector<Scripted>> scripts(count);
    for (auto& script : scripts) {
      int64_t time = 0;
      for (auto n = random() % 50; n > 0; --n)
        script.push_back(at(time += static_cast<int64_t>(random() % 4)));
    }
    Merge merge = merge_of(scripts);
    ASSERT_EQ(everything(merge), by_definition(scripts)) << count << " streams";
  }
}

TEST(Merge, FiveHundredAndTwelveStreamsThatInterleaveEventByEvent) {
  std::vector<std::vector<Scripted>> scripts(512);
  for (int64_t time = 0; time < 512 * 20; ++time)
    scripts[static_cast<size_t>(time * 37 % 512)].push_back(at(time));
  Merge merge = merge_of(scripts);
  const Came came = everything(merge);
  ASSERT_EQ(came.size(), 512u * 20);
  for (size_t i = 0; i < came.size(); ++i)
    ASSERT_EQ(came[i], (std::pair{static_cast<int64_t>(i), i * 37 % 512}));
}

TEST(Merge, AClockThatRunsBackwardsKeepsItsEventsAndTheirOrder) {
  Merge merge = merge_of({{at(10), at(5), at(6), at(20), at(1)}, {at(7), at(15), at(30)}});
  // 10 has to wait for 7; what follows it is late already and comes as soon as it is at the head.
  EXPECT_EQ(everything(merge),
            (Came{{7, 1}, {10, 0}, {5, 0}, {6, 0}, {15, 1}, {20, 0}, {1, 0}, {30, 1}}));
  EXPECT_EQ(merge.backward_steps(), 2u);
}

TEST(Merge, ClocksThatRunBackwardsAtRandomLoseNothing) {
  std::mt19937 random(11);
  std::vector<std::vector<Scripted>> scripts(9);
  uint64_t backwards = 0;
  for (auto& script : scripts)
    for (int n = 0; n < 200; ++n) {
      script.push_back(at(static_cast<int64_t>(random() % 1000)));
      if (n > 0 && script[n].time < script[n - 1].time) ++backwards;
    }
  Merge merge = merge_of(scripts);
  EXPECT_EQ(everything(merge), by_definition(scripts));
  EXPECT_EQ(merge.backward_steps(), backwards);
}

TEST(Merge, AQuietStreamHoldsBackExactlyWhatItMust) {
  // Stream 1 may still bring something at 10. Of what others have at 10, stream 0's comes before
  // that in any case; stream 2's does not.
  Merge merge = merge_of({{at(9), at(10), at(11)}, {quiet(10), at(10)}, {at(8), at(10)}});
  Came came;
  while (merge.next() == Step::Event)
    came.emplace_back(merge.event().time.count, merge.stream_index());
  EXPECT_EQ(came, (Came{{8, 2}, {9, 0}, {10, 0}}));
  EXPECT_EQ(merge.quiet_until().count, 10);
  EXPECT_EQ(everything(merge), (Came{{10, 1}, {10, 2}, {11, 0}}));
}

TEST(Merge, AStreamThatStaysQuietLetsTheOthersGoAsFarAsItPromises) {
  Merge merge = merge_of({{at(1), at(2), at(3), at(4)}, {quiet(2), quiet(2), quiet(4), quiet(9)}});
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 1);
  // 2 of stream 0 goes before whatever stream 1 has at 2.
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 2);
  ASSERT_EQ(merge.next(), Step::Quiet);
  EXPECT_EQ(merge.quiet_until().count, 2);
  ASSERT_EQ(merge.next(), Step::Quiet) << "asked again, it still has nothing";
  EXPECT_EQ(merge.quiet_until().count, 2);
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 3);
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 4);
  ASSERT_EQ(merge.next(), Step::Quiet) << "not the end: stream 1 may still bring something";
  EXPECT_EQ(merge.quiet_until().count, 4);
  ASSERT_EQ(merge.next(), Step::Quiet);
  EXPECT_EQ(merge.quiet_until().count, 9);
  EXPECT_EQ(merge.next(), Step::End) << "now both have ended";
}

TEST(Merge, AllQuietIsQuietUntilTheEarliestPromise) {
  Merge merge = merge_of({{quiet(30), at(31)}, {quiet(10), at(12)}, {quiet(20), at(20)}});
  ASSERT_EQ(merge.next(), Step::Quiet);
  EXPECT_EQ(merge.quiet_until().count, 10);
  Came came;
  for (Step step; (step = merge.next()) != Step::End;)
    if (step == Step::Event) came.emplace_back(merge.event().time.count, merge.stream_index());
  EXPECT_EQ(came, (Came{{12, 1}, {20, 2}, {31, 0}}));
}

TEST(Merge, AQuietStreamThatEndsLetsGo) {
  Merge merge = merge_of({{quiet(5)}, {at(7)}});
  ASSERT_EQ(merge.next(), Step::Quiet);
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 7);
  EXPECT_EQ(merge.next(), Step::End);
}

TEST(Merge, APromiseForEverIsNotTheEnd) {
  Merge merge = merge_of({{quiet(kForever), at(3)}, {at(1)}});
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 1);
  ASSERT_EQ(merge.next(), Step::Quiet);
  ASSERT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 3);
  EXPECT_EQ(merge.next(), Step::End);
}

TEST(Merge, AStreamThatNobodyIsToWaitForHoldsNothingBackAndIsAskedWhenAllAre) {
  Merge merge = merge_of({{quiet(kNoTime.count), at(15)}, {at(10), at(20), at(30)}});
  EXPECT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 10);
  EXPECT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 20);
  EXPECT_EQ(merge.next_asking_all(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 15) << "late, but there";
  EXPECT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 30);
  EXPECT_EQ(merge.next(), Step::End);
  EXPECT_EQ(merge.backward_steps(), 0u) << "no stream ran backwards";
}

TEST(Merge, AskingAllAsksAllThatAreQuietOnceEach) {
  Merge merge = merge_of({{quiet(5), quiet(6), at(8)}, {quiet(7), at(7)}, {quiet(5), at(9)}});
  EXPECT_EQ(merge.next(), Step::Quiet);
  EXPECT_EQ(merge.next_asking_all(), Step::Quiet);
  EXPECT_EQ(merge.quiet_until().count, 6);
  EXPECT_EQ(everything(merge), (Came{{7, 1}, {8, 0}, {9, 2}}));
}

TEST(Merge, StreamsMayComeWhileItRuns) {
  Merge merge{{}};
  EXPECT_EQ(merge.next(), Step::End);
  merge.add(std::make_unique<ScriptedStream>(std::vector{at(1), at(4), quiet(5), at(6)}));
  EXPECT_EQ(merge.next(), Step::Event);
  merge.add(std::make_unique<ScriptedStream>(std::vector{at(2), at(5)}));
  EXPECT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 2);
  EXPECT_EQ(merge.stream_index(), 1u);
  EXPECT_EQ(merge.next(), Step::Event);
  EXPECT_EQ(merge.event().time.count, 4);
  EXPECT_EQ(merge.next(), Step::Quiet) << "equal times: the first stream's turn";
  merge.add(std::make_unique<ScriptedStream>(std::vector{at(3)}));
  EXPECT_EQ(everything(merge), (Came{{3, 2}, {5, 1}, {6, 0}}));
}

}  // namespace
}  // namespace strata::trace
