// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace strata::query {

// What could not be read while statements ran. A table may be read many times for one statement:
// each problem is told once.
class Problems {
 public:
  void add(const Error& error) {
    if (told_.insert(error.text()).second) new_.push_back(error);
  }
  // Those that came since it was last asked.
  std::vector<Error> take() { return std::exchange(new_, {}); }

 private:
  std::set<std::string> told_;
  std::vector<Error> new_;
};

}  // namespace strata::query
