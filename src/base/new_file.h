// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace strata {

// A file that appears under its name only when it is whole. Until publish() it has no name at all
// (or, on file systems that cannot do that, a temporary one), so that whatever ends the program
// leaves nothing half-written behind, and an older file of that name stays until it is replaced.
class NewFile {
 public:
  static Result<NewFile> create(const std::string& path);

  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) noexcept;
  ~NewFile();

  // At the end; kept in memory until there is enough of it for one write.
  Status append(Bytes bytes);
  // The first `size` bytes of another file, which the kernel copies, or shares where it can. After
  // be_durable() without filling its cache with them, where the file systems allow that.
  Status append_file(const std::string& path, uint64_t size);
  // Over what was appended before.
  Status overwrite(uint64_t offset, Bytes bytes);
  // Zeros up to the next multiple.
  Status align(uint64_t multiple);
  uint64_t size() const { return written_ + pending_.size(); }

  // From here on everybody sees it.
  Status publish();
  // To be called before publish(): it is on the disk then, and so is its name, whatever happens to
  // the machine afterwards.
  void be_durable() { durable_ = true; }

 private:
  NewFile(std::string path, int fd, std::string temporary);
  Status flush();
  uint64_t append_directly(int from, uint64_t size);

  std::string path_;
  int fd_ = -1;
  std::string temporary_;  // empty: the file has no name yet
  bool durable_ = false;
  uint64_t written_ = 0;
  std::vector<std::byte> pending_;
};

}  // namespace strata
