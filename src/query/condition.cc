// SPDX-License-Identifier: Apache-2.0
#include "query/condition.h"

#include <algorithm>

namespace strata::query {
namespace {

// What `values` and those asked for before have in common.
template <typename T>
void narrow(std::optional<std::vector<T>>& before, std::vector<T> values) {
  std::ranges::sort(values);
  if (before)
    std::erase_if(values,
                  [&](const T& value) { return !std::ranges::binary_search(*before, value); });
  before = std::move(values);
}

}  // namespace

void Condition::at_least(int64_t number) { least_ = std::max(least_, number); }

void Condition::at_most(int64_t number) { most_ = std::min(most_, number); }

void Condition::one_of(std::vector<int64_t> numbers) {
  narrow(numbers_, std::move(numbers));
  if (numbers_->empty()) return;
  at_least(numbers_->front());
  at_most(numbers_->back());
}

void Condition::one_of(std::vector<std::string> texts) { narrow(texts_, std::move(texts)); }

bool Condition::accepts(int64_t number) const {
  if (number < least_ || number > most_) return false;
  return !numbers_ || std::ranges::binary_search(*numbers_, number);
}

bool Condition::accepts(std::string_view text) const {
  return !texts_ || std::ranges::binary_search(*texts_, text, std::less<>());
}

std::optional<int64_t> Condition::only() const {
  if (!numbers_ || numbers_->size() != 1) return std::nullopt;
  return numbers_->front();
}

bool Condition::is_empty() const {
  return least_ > most_ || (numbers_ && numbers_->empty()) || (texts_ && texts_->empty());
}

const Condition& Conditions::of(size_t column) const {
  static const Condition everything;
  const auto found = columns_.find(column);
  return found == columns_.end() ? everything : found->second;
}

bool Conditions::is_empty() const {
  return std::ranges::any_of(columns_, [](const auto& column) { return column.second.is_empty(); });
}

}  // namespace strata::query
