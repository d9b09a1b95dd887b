// SPDX-License-Identifier: Apache-2.0
#include "trace/merge.h"

#include <limits>
#include <utility>

namespace strata::trace {
namespace {

// The parts of a rank.
constexpr uint64_t kStepMask = 3;
constexpr unsigned kIndexShift = 2;
constexpr uint64_t kEnded = uint64_t{1} << 63;

}  // namespace

Merge::Merge(std::vector<std::unique_ptr<Stream>> streams)
    : leaves_(std::move(streams)), losers_(leaves_.size()) {}

inline Merge::Key Merge::key_of(const Stream& stream, size_t index, Step step) {
  const uint64_t rank = index << kIndexShift | static_cast<uint64_t>(step);
  if (step == Step::End) [[unlikely]]
    return {std::numeric_limits<int64_t>::max(), rank | kEnded};
  return {stream.event().time.count, rank};
}

inline void Merge::order(Key& first, Key& second) {
  const bool exchange =
      second.time != first.time ? second.time < first.time : second.rank < first.rank;
  if (exchange) std::swap(first, second);
}

Step Merge::start() {
  if (leaves_.empty()) return Step::End;
  const size_t n = leaves_.size();
  // Played from the leaves up: node i is won by the better of 2i and 2i+1, leaf i is node n+i.
  std::vector<Key> winners(2 * n);
  for (size_t i = 0; i < n; ++i) winners[n + i] = key_of(*leaves_[i], i, leaves_[i]->next());
  for (size_t i = n - 1; i >= 1; --i) {
    winners[i] = winners[2 * i];
    losers_[i] = winners[2 * i + 1];
    order(winners[i], losers_[i]);
  }
  return crown(winners[1]);
}

Step Merge::next() {
  if (winner_ == nullptr) [[unlikely]]
    return start();
  const Nanoseconds before = winner_->event().time;
  const Step step = winner_->next();
  if (winner_->event().time < before) [[unlikely]]
    backward_steps_ += step == Step::Event;
  Key key = key_of(*winner_, winner_index_, step);
  for (size_t node = (losers_.size() + winner_index_) / 2; node >= 1; node /= 2)
    order(key, losers_[node]);
  return crown(key);
}

inline Step Merge::crown(Key winner) {
  winner_index_ = (winner.rank & ~kEnded) >> kIndexShift;
  winner_ = leaves_[winner_index_].get();
  return static_cast<Step>(winner.rank & kStepMask);
}

}  // namespace strata::trace
