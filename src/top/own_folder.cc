// SPDX-License-Identifier: Apache-2.0
#include "top/own_folder.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "record/registry.h"

namespace strata::top {
namespace {

constexpr std::string_view kMark = ".top-";  // between the process and what the folder is for

bool is_left(std::string_view name) {
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
  return error == std::errc() && name.substr(end - name.data()).starts_with(kMark) &&
         kill(owner, 0) != 0 && errno == ESRCH;
}

}  // namespace

Result<std::string> own_folder(std::string_view what) {
  Result<std::string> folder = record::registry_folder();
  if (!folder) return folder;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, ignored))
    if (is_left(entry.path().filename().native()))
      std::filesystem::remove_all(entry.path(), ignored);
  return *folder + "/" + std::to_string(getpid()) + std::string(kMark) + std::string(what);
}

}  // namespace strata::top
