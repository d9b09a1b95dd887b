// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace strata::top {

// How users are called: by this machine's names, each asked for once, or by their numbers, which is
// all that a recording of any machine tells.
class UserNames {
 public:
  explicit UserNames(bool are_this_machines) : are_this_machines_(are_this_machines) {}
  const std::string& name_of(uint32_t user);

 private:
  bool are_this_machines_;
  std::unordered_map<uint32_t, std::string> names_;
};

}  // namespace strata::top
