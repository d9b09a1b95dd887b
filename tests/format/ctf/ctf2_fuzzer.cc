// SPDX-License-Identifier: Apache-2.0
//
// The text of CTF 2 metadata. So that fragments can be cut and joined like any text, a NUL stands
// for the record separator.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/ctf/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  std::string text(reinterpret_cast<const char*>(data), size);
  std::replace(text.begin(), text.end(), '\0', '\x1e');
  const Result<ctf::Description> description = ctf::parse_ctf2(text, "metadata");
  if (!description) return 0;
  for (const ctf::StreamClass& stream : description->streams)
    if (stream.clock && *stream.clock >= description->clocks.size()) abort();
  return 0;
}
