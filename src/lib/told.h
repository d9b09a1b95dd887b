// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "period/feed.h"
#include "period/table.h"

namespace strata::lib {

// What a source that is told once and for all has: which groups, and what of it was lost.
class Told {
 public:
  Told() = default;
  explicit Told(period::Groups groups) : groups_(groups) {}

  // Each table that was given: what was lost in it.
  void count(const period::Table& table);
  // What there is in a table belongs to what is told.
  void find_groups(const period::Table& table);
  void forget_losses() { losses_ = lost_events_ = missed_switches_ = 0; }

  period::Groups groups() const { return groups_; }
  // An error where some of them are not there.
  Status want(period::Groups groups) const;
  // What is missing, as sentences for people.
  std::vector<std::string> shortfalls() const;

 private:
  period::Groups groups_;
  uint64_t losses_ = 0;
  uint64_t lost_events_ = 0;
  uint64_t missed_switches_ = 0;
};

}  // namespace strata::lib
