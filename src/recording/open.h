// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace strata::recording {

// Opens whatever trace is at `path`, by what the file holds and not by its name.
Result<std::unique_ptr<trace::Trace>> open_trace(const std::string& path);

}  // namespace strata::recording
