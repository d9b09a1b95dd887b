// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace strata {

// Which file it is, whatever it is called: two names may be one file's, and a name may become
// another's.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;

  // Nothing where there is none of this name.
  static std::optional<FileId> of(const std::string& path);
};

// A file's bytes in memory, read only.
//
// A mapped file is input from outside that can change at any time. Where it becomes shorter, the
// kernel answers an access past its new end with SIGBUS; here such a page turns into zeros and
// shrank() tells so from then on. Readers therefore need no care while they decode (zeros are bad
// input like any other), and ask shrank() when they meet bad input or finish a page.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  Bytes bytes() const { return bytes_; }
  uint64_t size() const { return bytes_.size(); }
  const FileId& id() const { return id_; }

  bool shrank() const;
  // Where the first access past the file's new end was.
  uint64_t shrank_at() const;
  Error shrank_error() const;

 private:
  struct Region;  // what the SIGBUS handler knows of this mapping
  MappedFile(std::string path, FileId id, Bytes bytes, Region* region);
  void unmap();

  std::string path_;
  FileId id_;
  Bytes bytes_;
  Region* region_ = nullptr;
};

}  // namespace strata
