// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "trace/stream.h"

namespace strata::trace {

// Any number of streams as one, by time.
//
// A tree of losers: every inner node holds the stream that lost the match there, so that after the
// winner's next step only the matches on its own path to the root are played again: log2(n)
// comparisons an event, all on keys that lie side by side. Keys that are equal are ordered by the
// streams' places in the list, so the result is the same at every run: put the streams in the order
// trace, then CPU.
//
// A stream whose time runs backwards is not reordered: its events come in its own order, each as
// soon as it is at the head. backward_steps() counts them.
//
// A quiet stream holds the merge back at the time before which it promises to have nothing: what is
// earlier goes out, then next() says Quiet, and the next call asks that stream again. Streams that
// are quiet but hold nothing back are not asked by next(): next_asking_all() is to be called now
// and then where there are such.
class Merge {
 public:
  explicit Merge(std::vector<std::unique_ptr<Stream>> streams);

  Step next() {
    if (winner_ == nullptr) [[unlikely]]
      return start();
    const int64_t before = winner_->event().time.count;
    const Step step = winner_->next();
    const Key key = key_of(*winner_, winner_index_, step);
    count_backward(before, key);
    return play(key);
  }
  // The same, but every quiet stream is asked again.
  Step next_asking_all();
  // One more stream, as the last in the list. Not while an event is being looked at.
  void add(std::unique_ptr<Stream> stream);

  // After Step::Event: the event, and the place in the list of the stream it came from.
  const Event& event() const { return winner_->event(); }
  const Stream& stream() const { return *winner_; }
  size_t stream_index() const { return winner_index_; }
  // After Step::Quiet: nothing comes before this.
  Nanoseconds quiet_until() const { return winner_->quiet_until(); }

  const std::vector<std::unique_ptr<Stream>>& streams() const { return leaves_; }
  uint64_t backward_steps() const { return backward_steps_; }

 private:
  // A stream's place in the order: by time, then by rank, which is its place in the list and, below
  // that, its step. A stream that ended comes behind all others, whatever the time. The stream goes
  // along: what is done with the winner waits for nothing but the match, whose outcome no processor
  // foresees well.
  struct Key {
    int64_t time;
    uint64_t rank;
    Stream* stream;
  };
  static constexpr uint64_t kStepMask = 3;
  static constexpr unsigned kIndexShift = 2;
  static constexpr uint64_t kEnded = uint64_t{1} << 63;

  static Key key_of(Stream& stream, size_t index, Step step) {
    const uint64_t rank = index << kIndexShift | static_cast<uint64_t>(step);
    if (step == Step::End) [[unlikely]]
      return {std::numeric_limits<int64_t>::max(), rank | kEnded, &stream};
    return {stream.event().time.count, rank, &stream};
  }
  static void order(Key& first, Key& second) {
    const bool exchange =
        second.time != first.time ? second.time < first.time : second.rank < first.rank;
    if (exchange) std::swap(first, second);
  }

  static size_t index_of(const Key& key) { return (key.rank & ~kEnded) >> kIndexShift; }
  static Step step_of(const Key& key) { return static_cast<Step>(key.rank & kStepMask); }
  // A stream that nobody was to wait for may come with any time.
  void count_backward(int64_t before, const Key& key) {
    backward_steps_ +=
        static_cast<uint64_t>(key.time < before) & static_cast<uint64_t>(before != kNoTime.count);
  }

  Step start();
  std::vector<Key> keys() const;
  Key play_all(const std::vector<Key>& keys);
  // The matches of the winner before, which has taken a step, on its way up.
  Step play(Key key) {
    Key* const losers = losers_.data();
    for (size_t node = (leaf_count_ + winner_index_) / 2; node >= 1; node /= 2)
      order(key, losers[node]);
    return crown(key);
  }
  Step crown(Key winner) {
    winner_index_ = index_of(winner);
    winner_ = winner.stream;
    return step_of(winner);
  }

  std::vector<std::unique_ptr<Stream>> leaves_;
  size_t leaf_count_;         // without the division that a vector's size takes
  std::vector<Key> losers_;   // of node 1 (the final) to n-1; [0] is not used
  Stream* winner_ = nullptr;  // null: not started
  size_t winner_index_ = 0;
  uint64_t backward_steps_ = 0;
};

}  // namespace strata::trace
