// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace strata::kernel {

// Something that recording uses where it is there.
struct Facility {
  std::string name;
  bool available = false;
  std::string found;   // what it is here, or why it is not
  std::string cost;    // what its lack costs; the same whether it is there or not
  bool vital = false;  // nothing can be recorded without
};

// All of them, for this user on this machine, each found out by trying it. Some 100 ms; nothing of
// it stays.
std::vector<Facility> try_facilities();

}  // namespace strata::kernel
