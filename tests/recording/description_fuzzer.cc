// SPDX-License-Identifier: Apache-2.0
//
// recording.json may come from anywhere: whatever is in it, reading it gives a description or an
// error, and what it gave reads back as the same.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "recording/description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::recording;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const strata::Result<Description> description = parse_description(text, "recording.json");
  if (!description) return 0;
  const strata::Result<Description> again =
      parse_description(to_json(*description), "recording.json");
  if (!again || again->parts.size() != description->parts.size()) abort();
  return 0;
}
