// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/progress.h"
#include "cli/arguments.h"
#include "recording/rewrite.h"
#include "trace/trace.h"

namespace strata::cli {

// What trim and convert share: from one trace to another.

recording::RewriteOptions rewrite_options(Packing packing, Progress& progress);

// A trace.dat replaces a file, so it cannot go to a device or a pipe. False: it was told.
bool is_writable_target(const std::string& path);

// After a new file was written: tells what could not be read when the old one was opened, and shows
// the new one as JSON where wanted. Gives the exit status.
int finish_rewrite(const trace::Trace& source, const std::string& output, bool json);

}  // namespace strata::cli
