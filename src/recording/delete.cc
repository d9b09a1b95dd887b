// SPDX-License-Identifier: Apache-2.0
#include "recording/delete.h"

#include <filesystem>

namespace strata::recording {

void delete_recording(const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::filesystem::path hidden = path.parent_path() / ("." + path.filename().string());
  std::error_code error;
  std::filesystem::rename(path, hidden, error);
  if (!error) std::filesystem::remove_all(hidden, error);
}

}  // namespace strata::recording
