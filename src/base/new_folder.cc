// SPDX-License-Identifier: Apache-2.0
#include "base/new_folder.h"

#include <filesystem>
#include <utility>

#include "base/unfinished.h"

namespace strata {

namespace fs = std::filesystem;

Result<NewFolder> NewFolder::create(const std::string& path) {
  const auto fail = [&](const std::string& cause) { return Error{path, std::nullopt, cause}; };
  std::error_code error;
  // Of links the folder behind them: it is what has to be emptied. No "." or "..", no slash at the
  // end: every name is one of a folder.
  const fs::path folder = fs::weakly_canonical(fs::absolute(path), error);
  if (error) return fail("cannot create the folder: " + error.message());
  fs::path outermost = folder;
  if (fs::exists(folder, error)) {
    if (!fs::is_directory(folder, error)) return fail("is there already, and is no folder");
    if (!fs::is_empty(folder, error)) return fail("there is something in this folder already");
  } else {
    while (outermost.has_parent_path() && !fs::exists(outermost.parent_path(), error))
      outermost = outermost.parent_path();
    fs::create_directories(folder, error);
    if (error) return fail("cannot create the folder: " + error.message());
  }
  remember_unfinished(outermost.string());
  return NewFolder(outermost.string());
}

NewFolder::NewFolder(NewFolder&& other) noexcept : made_(std::exchange(other.made_, {})) {}

NewFolder::~NewFolder() {
  if (made_.empty()) return;
  std::error_code ignored;
  fs::remove_all(made_, ignored);
  forget_unfinished(made_);
}

void NewFolder::keep() { forget_unfinished(std::exchange(made_, {})); }

}  // namespace strata
