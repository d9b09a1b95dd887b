// SPDX-License-Identifier: Apache-2.0
#include "collect/traced_process.h"

#include <filesystem>
#include <string_view>

#include "base/small_file.h"

namespace strata::collect {

TracedProcess TracedProcess::look_at(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  TracedProcess process{pid};
  if (Result<std::string> name = read_small_file(folder + "/comm", 64)) {
    process.name = std::move(*name);
    if (process.name.ends_with('\n')) process.name.pop_back();
  }
  std::error_code ignored;
  process.program = std::filesystem::read_symlink(folder + "/exe", ignored).string();
  constexpr std::string_view kDeleted = " (deleted)";
  if (process.program.ends_with(kDeleted))
    process.program.resize(process.program.size() - kDeleted.size());
  return process;
}

}  // namespace strata::collect
