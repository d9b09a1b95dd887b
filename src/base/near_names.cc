// SPDX-License-Identifier: Apache-2.0
#include "base/near_names.h"

#include <algorithm>
#include <set>
#include <utility>

namespace strata {
namespace {

constexpr size_t kMost = 3;
// Nobody's name is longer, and the time is the product of the lengths.
constexpr size_t kLongest = 100;

// How many letters have to be changed, added, left out or swapped with the next one.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::vector<std::string> near_names(std::string_view word,
                                    const std::vector<std::string_view>& names) {
  if (word.empty() || word.size() > kLongest) return {};
  // Sorted by how near they are; a name that is there twice is told once.
  std::set<std::pair<size_t, std::string_view>> found;
  const size_t bound = std::clamp<size_t>(word.size() / 4, 1, 3);
  for (std::string_view name : names) {
    if (name.size() > kLongest) continue;
    const size_t difference =
        name.size() > word.size() ? name.size() - word.size() : word.size() - name.size();
    if (difference <= bound) {
      const size_t away = distance(word, name);
      if (away <= bound && away < word.size()) found.emplace(away, name);
    } else if (word.size() >= 4 && name.find(word) != std::string_view::npos) {
      found.emplace(bound + difference, name);
    }
  }
  std::vector<std::string> nearest;
  for (const auto& [away, name] : found) {
    if (nearest.size() == kMost) break;
    nearest.emplace_back(name);
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& names) {
  const std::vector<std::string> near = near_names(word, names);
  if (near.empty()) return "";
  std::string text = " (did you mean ";
  for (size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 < near.size() ? ", " : " or ";
    text += "'" + near[i] + "'";
  }
  return text + "?)";
}

}  // namespace strata
