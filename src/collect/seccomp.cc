// SPDX-License-Identifier: Apache-2.0
#include "collect/seccomp.h"

#include <filesystem>

#include "base/small_file.h"

namespace strata::collect {
namespace {

// Of any thread. A filter is a thread's, though most programs give it to all of theirs.
bool has_filter(const std::string& folder) {
  std::error_code ignored;  // it may end at any time
  for (const auto& thread : std::filesystem::directory_iterator(folder + "/task", ignored)) {
    const Result<std::string> status = read_small_file((thread.path() / "status").string());
    if (status && is_filtered(*status)) return true;
  }
  return false;
}

bool may_map(pid_t process, const FileIdentity& file) {
  const Result<std::vector<CodeMapping>> mappings = code_mappings(process);
  return !mappings || !mappings_of(process, file).empty();
}

std::string name_of(const std::string& folder) {
  const Result<std::string> name = read_small_file(folder + "/comm");
  return name ? name->substr(0, name->find('\n')) : std::string();
}

}  // namespace

bool is_filtered(std::string_view status) {
  // Names are escaped there: a line begins as the kernel says, not as a program named itself.
  constexpr std::string_view kLine = "\nSeccomp:\t";
  const size_t line = status.find(kLine);
  if (line == std::string_view::npos) return false;  // a kernel without
  const std::string_view mode = status.substr(line + kLine.size());
  return !mode.empty() && mode[0] != '0';
}

std::vector<FilteredProcess> filtered_processes(const FileIdentity& file) {
  std::vector<FilteredProcess> found;
  for (const pid_t process : running_processes()) {
    const std::string folder = "/proc/" + std::to_string(process);
    // Few have a filter, so that few mappings have to be read.
    if (has_filter(folder) && may_map(process, file)) found.push_back({process, name_of(folder)});
  }
  return found;
}

}  // namespace strata::collect
