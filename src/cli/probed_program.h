// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/site_file.h"

namespace strata::cli {

// A program or library with probes.
struct ProbedFile {
  std::string path;       // as people know it
  std::string reachable;  // as this process can open it
  std::vector<collect::FileSite> sites;
};

// What a user named: a file, or a process with all files that it has mapped as code.
struct ProbedProgram {
  std::optional<pid_t> process;
  std::vector<ProbedFile> files;  // of a process, those that have probes

  // Where a file of this name is, it comes before a process of this number.
  static Result<ProbedProgram> find(const std::string& name);
};

}  // namespace strata::cli
