// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::kernel {

// The file system through which the kernel's own tracer is used.
//
// Where nobody has mounted it, we make a mount that has no place in the tree: it is reached through
// its descriptor, is seen by nobody else, and is gone with the last process that holds it.
class Tracefs {
 public:
  static Result<Tracefs> find();

  // Without a slash at the end.
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // What a process that is to use these paths must keep open; negative: nothing.
  int descriptor() const { return mount_ ? mount_->get() : -1; }
  // Whether the kernel has such a file.
  bool has(const std::string& name) const;

 private:
  Tracefs(std::string path, std::shared_ptr<FileDescriptor> mount)
      : path_(std::move(path)), mount_(std::move(mount)) {}

  std::string path_;
  std::shared_ptr<FileDescriptor> mount_;  // null: it was mounted already
};

}  // namespace strata::kernel
