// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/trace_folders.h"

#include <algorithm>
#include <filesystem>

namespace strata::ctf {
namespace {

namespace fs = std::filesystem;

// A session's folders are some five deep. Whoever names / by mistake gets an answer soon.
constexpr int kMaxDepth = 12;
constexpr size_t kMaxEntries = 1 << 20;

// The entries of a folder by name; none where it cannot be read.
std::vector<fs::directory_entry> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> found;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end && found.size() < kMaxEntries; it.increment(error))
    found.push_back(*it);
  std::ranges::sort(found, {}, [](const fs::directory_entry& entry) { return entry.path(); });
  return found;
}

void search(const fs::path& folder, int depth, size_t& budget, std::vector<std::string>& found) {
  std::error_code ignored;
  if (fs::is_regular_file(folder / "metadata", ignored)) found.push_back(folder.string());
  if (depth == kMaxDepth) return;
  for (const fs::directory_entry& entry : entries(folder)) {
    if (budget == 0) return;
    --budget;
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      search(entry.path(), depth + 1, budget, found);
  }
}

}  // namespace

std::vector<std::string> find_trace_folders(const std::string& folder) {
  std::vector<std::string> found;
  size_t budget = kMaxEntries;
  search(folder, 0, budget, found);
  return found;
}

std::vector<std::string> find_stream_files(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : entries(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "metadata" && !name.starts_with(".") && entry.is_regular_file(ignored))
      found.push_back(entry.path().string());
  }
  return found;
}

std::string common_folder(const std::vector<std::string>& folders) {
  fs::path common = folders.front();
  for (const std::string& folder : folders) {
    const fs::path path(folder);
    while (!common.empty() && common != common.parent_path() &&
           std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first !=
               common.end())
      common = common.parent_path();
  }
  return common.string();
}

}  // namespace strata::ctf
