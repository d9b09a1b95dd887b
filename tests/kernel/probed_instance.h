// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernel/instance.h"
#include "kernel/tracefs.h"

namespace strata::test {

// An instance of the tracer of a test's own, in which probes are tried; gone with the test.
class ProbedInstance {
 public:
  explicit ProbedInstance(const kernel::Tracefs& tracefs);
  ~ProbedInstance();
  ProbedInstance(const ProbedInstance&) = delete;
  ProbedInstance& operator=(const ProbedInstance&) = delete;

  const std::string& path() const { return path_; }
  void enable(const std::vector<kernel::EventChoice>& events) const;
  // The kernel's own text of what was recorded; each event from its name on: "sell: (0x401136)
  // a=1".
  std::vector<std::string> events() const;
  // Those called so.
  std::vector<std::string> events(const std::string& name) const;
  // Lost because the ring was full.
  bool lost_some() const;

 private:
  std::string path_;
};

// The value of a field in the text of an event, up to the next blank; "none" where there is none.
std::string field(const std::string& event, const std::string& name);

}  // namespace strata::test
