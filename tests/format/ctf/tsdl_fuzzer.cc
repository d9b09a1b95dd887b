// SPDX-License-Identifier: Apache-2.0
//
// A `metadata` file of CTF 1.8, in packets or as text.
#include <cstdint>
#include <cstdlib>

#include "format/ctf/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const Bytes file(reinterpret_cast<const std::byte*>(data), size);
  Result<ctf::MetadataText> metadata = ctf::unpack_metadata(file, "metadata");
  if (!metadata) return 0;
  const Result<ctf::Description> description = ctf::parse_tsdl(metadata->text, "metadata");
  if (!description) {
    if (!description.error().cause.starts_with("line ")) abort();
    return 0;
  }
  for (const ctf::StreamClass& stream : description->streams)
    if (stream.clock && *stream.clock >= description->clocks.size()) abort();
  return 0;
}
