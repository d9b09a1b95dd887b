// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/wish.h"

namespace strata::guest {

// What an agent may be asked to record: what `strata record` takes on its command line, in the
// same words, since only the guest knows its kernel's events and its programs. There is no command
// in it and no path to write to.
struct Request : record::Wish {
  uint64_t max_bytes = 0;   // ends it; 0: no limit of the guest's
  bool compressed = false;  // --link-compress

  bool operator==(const Request&) const = default;
};

std::string to_json(const Request& request);
// From outside. What it does not know it does not pass over: a recording without something that was
// asked for is refused.
Result<Request> parse_request(std::string_view json);

}  // namespace strata::guest
