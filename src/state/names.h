// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::state {

// A number for a text that comes again and again: a system call's name, a task's.
using NameId = uint32_t;
constexpr NameId kNoName = 0;

class Names {
 public:
  Names() { id(""); }

  NameId id(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<NameId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  const std::string& text(NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // stay where they are: the map points to them
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace strata::state
