// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "live/machine_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  strata::live::snmp_number(text, "Tcp:", "CurrEstab");
  strata::live::parse_device(text);
  return 0;
}
