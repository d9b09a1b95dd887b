// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace strata::test {

// A folder for a test's files, gone with the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Its path.
  std::string write(std::string_view name, Bytes bytes) const;
  std::string write(std::string_view name, std::string_view text) const {
    return write(name, as_bytes(text));
  }
  // The names in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

std::string read_whole_file(const std::string& path);

}  // namespace strata::test
