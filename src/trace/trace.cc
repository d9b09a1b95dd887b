// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

namespace strata::trace {

void Trace::print_packet(const Event& event, TextBuffer& out) const {
  out.put(std::string_view("{ cpu_id = "));
  out.put_decimal(uint64_t{raw(event.cpu)});
  out.put(std::string_view(" }"));
}

void Trace::print_compound(const Event&, const Field&, TextBuffer& out) const {
  out.put(std::string_view("null"));
}

}  // namespace strata::trace
