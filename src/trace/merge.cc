// SPDX-License-Identifier: Apache-2.0
#include "trace/merge.h"

#include <limits>
#include <utility>

namespace strata::trace {
namespace {

// Set in the index of a stream that ended: whatever the time, it loses to every stream that has
// not.
constexpr uint32_t kEnded = uint32_t{1} << 31;

}  // namespace

Merge::Merge(std::vector<std::unique_ptr<Stream>> streams)
    : leaves_(std::move(streams)), tree_(leaves_.size()), last_(leaves_.size()) {}

Merge::Key Merge::key_after_step(uint32_t index) {
  Stream& stream = *leaves_[index];
  const Step step = stream.next();
  if (step == Step::End) [[unlikely]]
    return {std::numeric_limits<int64_t>::max(), index | kEnded, step};
  const int64_t time = stream.event().time.count;
  if (step == Step::Event) {
    if (time < last_[index]) [[unlikely]]
      ++backward_steps_;
    last_[index] = time;
  }
  return {time, index, step};
}

void Merge::start() {
  const auto n = static_cast<uint32_t>(leaves_.size());
  last_.assign(n, std::numeric_limits<int64_t>::min());
  // Played from the leaves up: node i is won by the better of 2i and 2i+1, leaf i is node n+i.
  std::vector<Key> winners(2 * n);
  for (uint32_t i = 0; i < n; ++i) winners[n + i] = key_after_step(i);
  for (uint32_t i = n - 1; i >= 1; --i) {
    const Key& a = winners[2 * i];
    const Key& b = winners[2 * i + 1];
    const bool a_wins = a.before(b);
    winners[i] = a_wins ? a : b;
    tree_[i] = a_wins ? b : a;
  }
  tree_[0] = winners[1];
  winner_ = leaves_[stream_index()].get();
  started_ = true;
}

Step Merge::next() {
  if (leaves_.empty()) return Step::End;
  if (!started_) [[unlikely]] {
    start();
    return tree_[0].step;
  }
  const auto index = static_cast<uint32_t>(stream_index());
  Key key = key_after_step(index);
  for (size_t node = (leaves_.size() + index) / 2; node >= 1; node /= 2) {
    if (tree_[node].before(key)) std::swap(tree_[node], key);
  }
  tree_[0] = key;
  winner_ = leaves_[stream_index()].get();
  return key.step;
}

size_t Merge::stream_index() const { return tree_[0].index & ~kEnded; }

}  // namespace strata::trace
