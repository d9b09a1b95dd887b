// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/event_type.h"

namespace strata::ftrace {

// What the kernel's tracer was built for: needed to make sense of its declarations.
struct Target {
  ByteOrder order = kNativeOrder;
  uint8_t long_size = 8;
};

// Reads the text of events/SYSTEM/EVENT/format:
//
//     name: sched_switch
//     ID: 314
//     format:
//             field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//             ...
//             <blank line: the event's own fields follow>
//             field:char prev_comm[16];  offset:8;  size:16;  signed:0;
//
//     print fmt: "prev_comm=%s ...", REC->prev_comm, ...
//
// The result keeps the text (EventType::declaration) and is bound to the vocabulary. Error::offset
// counts from the start of `text`.
Result<trace::EventType> parse_format_file(std::string_view system, std::string_view text,
                                           Target target);

}  // namespace strata::ftrace
