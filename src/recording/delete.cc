// SPDX-License-Identifier: Apache-2.0
#include "recording/delete.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace strata::recording {
namespace {

constexpr std::string_view kDeleted = ".deleted";

}  // namespace

void delete_recording(const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::filesystem::path hidden =
      path.parent_path() / ("." + path.filename().string() + std::string(kDeleted));
  std::error_code error;
  std::filesystem::rename(path, hidden, error);
  if (!error) std::filesystem::remove_all(hidden, error);
}

void delete_leftovers(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.') && name.ends_with(kDeleted) && entry.is_directory(ignored) &&
        !entry.is_symlink(ignored))
      found.push_back(entry.path());
  }
  for (const std::filesystem::path& path : found) std::filesystem::remove_all(path, ignored);
}

}  // namespace strata::recording
