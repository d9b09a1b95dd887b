// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "collect/site_file.h"

namespace strata::collect {

// A file with probes, of a program that somebody named.
struct ProbedFile {
  std::string path;   // that opens it
  std::string shown;  // as people know it
  std::vector<FileSite> sites;
  pid_t process = 0;  // the one that was named; 0: all that map the file
};

// What is meant by:
//
//     FILE   a program or library: a path, or a name that is found in $PATH
//     PID    a running process: all that it has mapped
//     NAME   the running processes of programs with this name: all that they have mapped
//
// in this order, but that a name is looked for among processes before $PATH. A file that is named
// is there even where it has no probes; of processes, only files that have some.
Result<std::vector<ProbedFile>> probed_files(const std::string& program);

}  // namespace strata::collect
