// SPDX-License-Identifier: Apache-2.0
#include "trace/merge.h"

#include <algorithm>

namespace strata::trace {

Merge::Merge(std::vector<std::unique_ptr<Stream>> streams)
    : leaves_(std::move(streams)), leaf_count_(leaves_.size()), losers_(leaf_count_) {}

// All matches, from the leaves up: node i is won by the better of 2i and 2i+1, leaf i is node n+i.
Merge::Key Merge::play_all(const std::vector<Key>& keys) {
  const size_t n = keys.size();
  std::vector<Key> winners(2 * n);
  std::ranges::copy(keys, winners.begin() + static_cast<ptrdiff_t>(n));
  leaf_count_ = n;
  losers_.resize(n);
  for (size_t i = n - 1; i >= 1; --i) {
    winners[i] = winners[2 * i];
    losers_[i] = winners[2 * i + 1];
    order(winners[i], losers_[i]);
  }
  return winners[1];
}

Step Merge::start() {
  if (leaves_.empty()) return Step::End;
  std::vector<Key> keys;
  for (size_t i = 0; i < leaves_.size(); ++i)
    keys.push_back(key_of(*leaves_[i], i, leaves_[i]->next()));
  return crown(play_all(keys));
}

// By the streams' places. The winner's is the one of a winner, whatever comes of it.
std::vector<Merge::Key> Merge::keys() const {
  std::vector<Key> keys(leaves_.size());
  for (size_t node = 1; node < losers_.size(); ++node)
    keys[index_of(losers_[node])] = losers_[node];
  keys[winner_index_] = {std::numeric_limits<int64_t>::min(), winner_index_ << kIndexShift,
                         winner_};
  return keys;
}

Step Merge::next_asking_all() {
  if (winner_ == nullptr) return start();
  std::vector<Key> all = keys();
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == winner_index_) {
      const int64_t before = winner_->event().time.count;
      all[i] = key_of(*winner_, i, winner_->next());
      count_backward(before, all[i]);
    } else if (step_of(all[i]) == Step::Quiet) {
      all[i] = key_of(*leaves_[i], i, leaves_[i]->next());
    }
  }
  return crown(play_all(all));
}

void Merge::add(std::unique_ptr<Stream> stream) {
  leaves_.push_back(std::move(stream));
  if (winner_ == nullptr) return;
  const size_t index = leaves_.size() - 1;
  std::vector<Key> all = keys();
  all[index] = key_of(*leaves_[index], index, leaves_[index]->next());
  play_all(all);
}

}  // namespace strata::trace
