// SPDX-License-Identifier: Apache-2.0
#include "kernel/running_programs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

}  // namespace

std::vector<std::string> running_programs(const std::vector<Glob>& names) {
  const Privilege privilege{Capability::SysPtrace};
  std::vector<std::string> found;
  std::set<std::pair<dev_t, ino_t>> known;
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string pid = process.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string link = "/proc/" + pid + "/exe";
    std::error_code problem;  // a process may end at any time
    std::string path = std::filesystem::read_symlink(link, problem).string();
    if (problem) continue;
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    const std::string name = path.substr(path.rfind('/') + 1);
    if (std::none_of(names.begin(), names.end(),
                     [&](const Glob& glob) { return glob.matches(name); }))
      continue;
    struct stat running {};
    if (stat(link.c_str(), &running) != 0) continue;
    if (!known.insert({running.st_dev, running.st_ino}).second) continue;
    struct stat there {};
    const bool same = stat(path.c_str(), &there) == 0 && there.st_dev == running.st_dev &&
                      there.st_ino == running.st_ino;
    found.push_back(same ? path : link);
  }
  return found;
}

}  // namespace strata::kernel
