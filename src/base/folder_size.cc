// SPDX-License-Identifier: Apache-2.0
#include "base/folder_size.h"

#include <filesystem>

namespace strata {

uint64_t folder_size(const std::string& path) {
  uint64_t size = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(path, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto bytes = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) size += bytes;
  }
  return size;
}

}  // namespace strata
