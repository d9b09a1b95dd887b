// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"
#include "trace/trace.h"

namespace strata::tracedat {

// What the GUEST option of a host's file says: a guest's name, the id of its own trace, and which
// of the host's threads are its CPUs. One that is cut short gives what is there.
trace::GuestInfo read_guest(Bytes option, ByteOrder order);
std::vector<std::byte> encode_guest(const trace::GuestInfo& guest, ByteOrder order);

}  // namespace strata::tracedat
