// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/site_file.h"

namespace strata::collect {

// The same as UprobeLink for kernels before 6.6, by perf's uprobes: a system call and a descriptor
// for each site. Needs Linux 4.20, and root or CAP_PERFMON. (The tracer's list uprobe_events would
// do the same, but what is in it outlives whoever wrote it.)
class PerfUprobes {
 public:
  // `process`: in this one alone; 0: in all.
  static Result<PerfUprobes> open(const std::string& path, std::span<const FileSite> sites,
                                  pid_t process = 0);

 private:
  explicit PerfUprobes(std::vector<FileDescriptor> events) : events_(std::move(events)) {}

  std::vector<FileDescriptor> events_;
};

}  // namespace strata::collect
