// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/tracefs.h"
#include "kernel/trigger_spec.h"

namespace strata::kernel {

// Something that is watched for in the kernel, apart from every ring that is recorded into: it
// costs what it watches, and does not depend on what is recorded. What this process itself does is
// not seen. Nothing of it is left in the kernel when this object or its process has gone.
class Trigger {
 public:
  virtual ~Trigger() = default;

  // One becomes readable when it may have happened.
  virtual std::vector<int> files() const = 0;
  // How often it has happened since this was last asked.
  virtual uint64_t take() = 0;
  // The last time, for people.
  virtual std::string what() const = 0;
};

// `cpus`: those of which events are watched for; others may be offline.
Result<std::unique_ptr<Trigger>> watch(const Tracefs& tracefs, const TriggerSpec& spec,
                                       const std::vector<uint32_t>& cpus);

}  // namespace strata::kernel
