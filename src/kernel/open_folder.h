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
// and over. By calls that the recorder is left out by (base/rare_calls.h), but for read_link().
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

  // Calls visit(const char* name) for each entry but "." and "..". Once: the kernel remembers how
  // far it came.
  template <typename Visit>
  void each(Visit visit) const {
    each_entry([&](const dirent64& entry) { visit(static_cast<const char*>(entry.d_name)); });
  }
  // The same for those that are folders.
  template <typename Visit>
  void each_folder(Visit visit) const {
    each_entry([&](const dirent64& entry) {
      if (entry.d_type == DT_DIR) visit(static_cast<const char*>(entry.d_name));
    });
  }

 private:
  template <typename Visit>
  void each_entry(Visit visit) const {
    alignas(dirent64) std::array<char, 32768> entries;
    while (const size_t size = list(entries.data(), entries.size())) {
      for (size_t at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") visit(*entry);
        at += entry->d_reclen;
      }
    }
  }
  // Fills the room with entries as the kernel gives them. 0: there are no more.
  size_t list(char* room, size_t size) const;

  FileDescriptor fd_;
};

}  // namespace strata::kernel
