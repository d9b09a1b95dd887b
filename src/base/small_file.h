// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace strata {

// Files that are text and belong to the kernel or to us: /proc, /sys, tracefs, configuration. Their
// size is known only when they have been read.

// All of it; an error where it is longer than `limit`.
Result<std::string> read_small_file(const std::string& path, size_t limit = size_t{256} << 20);

// In one write, which is how the kernel's files want it. The file must exist. It is emptied first,
// which for some of the kernel's files drops a list (set_event_pid) that `append_small_file` would
// lengthen.
Status write_small_file(const std::string& path, std::string_view text);
Status append_small_file(const std::string& path, std::string_view text);

}  // namespace strata
