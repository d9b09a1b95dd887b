// SPDX-License-Identifier: Apache-2.0
#include "trace/merge.h"

namespace strata::trace {

Merge::Merge(std::vector<std::unique_ptr<Stream>> streams)
    : leaves_(std::move(streams)), leaf_count_(leaves_.size()), losers_(leaf_count_) {}

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

}  // namespace strata::trace
