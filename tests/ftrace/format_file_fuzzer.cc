// SPDX-License-Identifier: Apache-2.0
//
// The text of an event's format file; and a record of nothing, read through its fields.
#include <array>
#include <cstdlib>

#include "ftrace/format_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ftrace::Target target :
       {ftrace::Target{ByteOrder::Little, 8}, ftrace::Target{ByteOrder::Big, 4}}) {
    auto type = ftrace::parse_format_file("sched", text, target);
    if (!type) {
      if (type.error().cause.empty() || type.error().offset.value_or(0) > size) abort();
      continue;
    }
    if (type->common_fields > type->fields.size() || type->id > 0xffff) abort();
    std::array<std::byte, 64> record;
    for (size_t i = 0; i < record.size(); ++i) record[i] = std::byte(i * 37);
    for (const trace::Field& field : type->fields) {
      const trace::FieldRef ref(field, target.order);
      trace::read_integer(record, ref);
      trace::read_bytes(record, ref);
      trace::read_text(record, ref);
      type->find(field.name);
    }
  }
  return 0;
}
