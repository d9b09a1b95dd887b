// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace strata::kernel {

// A folder of /proc or /sys, from which many small files are read: each by its name in the folder,
// so that the kernel does not walk the same path again and again, into one buffer that is used over
// and over.
class OpenFolder {
 public:
  // Whether it could be opened is told by operator bool.
  OpenFolder() = default;
  explicit OpenFolder(const char* path);
  OpenFolder(const OpenFolder& parent, const char* name);

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }

  // What was read is valid until the buffer's next use. Nothing: it is not there or not to be read.
  // What is longer than `limit` is cut off there.
  std::optional<std::string_view> read(const char* name, std::string& buffer,
                                       size_t limit = size_t{64} << 20) const;
  std::optional<std::string_view> read_link(const char* name, std::string& buffer) const;
  std::optional<uint64_t> read_number(const char* name, std::string& buffer) const;

  // Calls visit(const char* name) for each entry but "." and "..".
  template <typename Visit>
  void each(Visit visit) const {
    alignas(dirent64) std::array<char, 32768> entries;
    bool from_start = true;
    while (const size_t size = list(entries.data(), entries.size(), from_start)) {
      for (size_t at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") visit(static_cast<const char*>(entry->d_name));
        at += entry->d_reclen;
      }
      from_start = false;
    }
  }

 private:
  // Fills the room with entries as the kernel gives them. 0: there are no more.
  size_t list(char* room, size_t size, bool from_start) const;

  FileDescriptor fd_;
};

}  // namespace strata::kernel
