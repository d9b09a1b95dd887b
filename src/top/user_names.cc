// SPDX-License-Identifier: Apache-2.0
#include "top/user_names.h"

#include <pwd.h>

#include <array>

namespace strata::top {

const std::string& UserNames::name_of(uint32_t user) {
  const auto [found, is_new] = names_.try_emplace(user);
  if (!is_new) return found->second;
  found->second = std::to_string(user);
  if (!are_this_machines_) return found->second;
  std::array<char, 4096> room;
  passwd entry{};
  passwd* result = nullptr;
  if (getpwuid_r(user, &entry, room.data(), room.size(), &result) == 0 && result != nullptr)
    found->second = result->pw_name;
  return found->second;
}

}  // namespace strata::top
