// SPDX-License-Identifier: Apache-2.0
//
// The texts about cgroups and their CPU limits. The first byte says which.
#include <cstdint>
#include <cstdlib>

#include "kernel/cgroup_throttling.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::kernel;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      if (const auto found = parse_cpu_hierarchy(text)) {
        if (found->path.empty() || found->root.empty()) abort();
        if (found->path.size() + found->root.size() > text.size()) abort();
      }
      break;
    case 1:
      if (has_cpu_limit(text) && text.find_first_of("123456789") == text.npos) abort();
      break;
    case 2:
      if (parse_cpu_stat(text) && text.find("nr_throttled") == text.npos) abort();
      break;
  }
  return 0;
}
