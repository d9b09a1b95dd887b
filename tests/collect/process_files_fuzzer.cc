// SPDX-License-Identifier: Apache-2.0
//
// What /proc says of a process: its mappings, its status.
#include "collect/process_files.h"
#include "collect/seccomp.h"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  collect::FileSite site;
  site.anchor_offset = size;
  const std::vector<collect::CodeMapping> mappings = collect::parse_code_mappings(text);
  for (const collect::CodeMapping& mapping : mappings)
    if (mapping.start >= mapping.end || !mapping.path.starts_with('/')) __builtin_trap();
  if (collect::load_biases(mappings, site).size() > mappings.size()) __builtin_trap();
  (void)collect::is_filtered(text);
  return 0;
}
