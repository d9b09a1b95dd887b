// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fake_trace.h"
#include "trace/filter.h"

// Up to the first NUL a filter; behind it a record, which may be too short for its type.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  using namespace strata::trace;
  static const auto types = [] {
    std::vector<std::unique_ptr<EventType>> all;
    all.push_back(sched_switch_type());
    all.push_back(sched_switch_type(ByteOrder::Big));
    all.push_back(sys_enter_openat_type());
    all.push_back(odd_type());
    return all;
  }();
  static const TaskNames names;

  const uint8_t* end = data + size;
  const uint8_t* nul = std::find(data, end, uint8_t{0});
  Result<Filter> filter =
      Filter::parse({reinterpret_cast<const char*>(data), static_cast<size_t>(nul - data)});
  if (!filter) return 0;
  const uint8_t* record = std::min(nul + 1, end);
  for (const auto& type : types) {
    Event event;
    event.type = type.get();
    event.record =
        Bytes(reinterpret_cast<const std::byte*>(record), static_cast<size_t>(end - record));
    bool first = filter->matches(event, names);
    if (first != filter->matches(event, names)) __builtin_trap();
    if (first && filter->rejects(*type)) __builtin_trap();
  }
  return 0;
}
