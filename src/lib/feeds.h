// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "period/feed.h"

namespace strata::lib {

// What traces tell, taken together, in tables of this length: those of `strata stats --period`. It
// reads as far as it is asked, and holds no more than what the state engine knows at that time. A
// path that cannot be opened is an error.
Result<std::unique_ptr<period::Feed>> trace_feed(const std::vector<std::string>& paths,
                                                 Nanoseconds period);

// Lines that `strata stats --period --json` printed or top saved, each as long as it is. They have
// to follow each other: a line that is damaged, or missing, is an error.
Result<std::unique_ptr<period::Feed>> line_feed(const std::string& path);

// Whichever it is: by what the file begins with, not by its name. Of lines there is one file.
Result<std::unique_ptr<period::Feed>> open_feed(const std::vector<std::string>& paths,
                                                Nanoseconds period);

}  // namespace strata::lib
