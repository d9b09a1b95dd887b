// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/instance.h"
#include "kernel/tracefs.h"

namespace strata::test {

// An instance of the tracer in which probes are tried, and what was recorded as the kernel's own
// text.
class ProbedInstance {
 public:
  explicit ProbedInstance(const kernel::Tracefs& tracefs);

  void enable(const std::vector<kernel::EventChoice>& events);
  // Stops. Each event from its name on: "sell: (0x401136) item=1".
  std::vector<std::string> events() const;
  // Those called so.
  std::vector<std::string> events(const std::string& name) const;
  uint64_t lost() const;

 private:
  std::optional<kernel::Instance> instance_;
};

// The value of a field in the text of an event, up to the next blank; "none" where there is none.
std::string field(const std::string& event, const std::string& name);

}  // namespace strata::test
