// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/site_file.h"

namespace strata::collect {

// Sites of one file that are on, by the kernel, in every process that maps the file, those that
// start later included, for as long as this object and its process live.
//
// Each site gets a uprobe on its anchor, which nothing executes: what counts is the uprobe's
// reference counter, the site's flag, which the kernel keeps in all these processes. One system
// call for all sites; needs Linux 6.6, and root or CAP_BPF with CAP_PERFMON.
class UprobeLink {
 public:
  // `process`: in this one alone; 0: in all.
  static Result<UprobeLink> open(const std::string& path, std::span<const FileSite> sites,
                                 pid_t process = 0);

 private:
  explicit UprobeLink(FileDescriptor link) : link_(std::move(link)) {}

  FileDescriptor link_;
};

}  // namespace strata::collect
