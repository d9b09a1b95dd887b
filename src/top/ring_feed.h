// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "period/feed.h"

namespace strata::top {

// This machine, now, where eBPF may not be used: a recorder moves the kernel's events into memory,
// of which it keeps the last while, and the state engine follows them. That is exact as well, but
// each event costs who caused it, and us; the table says what. `why` there is no better feed is the
// first of its shortfalls.
Result<std::unique_ptr<period::Feed>> ring_feed(std::string why);

}  // namespace strata::top
