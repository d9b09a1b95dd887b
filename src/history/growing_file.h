// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::history {

// A file that only grows, in large pieces; who reads it meanwhile sees what was flushed.
class GrowingFile {
 public:
  // One that is there is replaced.
  static Result<GrowingFile> create(const std::string& path);

  void append(const void* data, size_t size);
  void flush();
  uint64_t size() const { return written_ + pending_.size(); }
  // The first error of a write.
  const Status& status() const { return status_; }

 private:
  GrowingFile(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  FileDescriptor file_;
  std::vector<uint8_t> pending_;  // not written to the file yet
  uint64_t written_ = 0;
  Status status_;
};

}  // namespace strata::history
