// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/rare_calls.h"
#include "kernel/text_parts.h"

namespace strata::kernel {

OpenFolder::OpenFolder(const char* path)
    : fd_(rare::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

OpenFolder::OpenFolder(const OpenFolder& parent, const char* name)
    : fd_(parent ? rare::open(parent.fd(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1) {}

size_t OpenFolder::list(char* room, size_t size) const {
  if (!fd_) return 0;
  const ssize_t got = getdents64(fd_.get(), room, size);
  return got > 0 ? static_cast<size_t>(got) : 0;  // an error: the process ended meanwhile
}

std::optional<std::string_view> OpenFolder::read(const char* name, std::string& buffer,
                                                 size_t limit) const {
  if (!fd_) return std::nullopt;
  const FileDescriptor file(rare::open(fd_.get(), name, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  if (buffer.size() < 8192) buffer.resize(8192);
  size_t size = 0;
  while (size < limit) {
    if (size == buffer.size()) buffer.resize(2 * size);
    const ssize_t got = rare::read(
        file.get(), std::span(buffer).subspan(size, std::min(buffer.size(), limit) - size), size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;  // the process ended meanwhile
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  return std::string_view(buffer.data(), size);
}

std::optional<std::string_view> OpenFolder::read_link(const char* name, std::string& buffer) const {
  if (!fd_) return std::nullopt;
  if (buffer.size() < 8192) buffer.resize(8192);
  const ssize_t size = readlinkat(fd_.get(), name, buffer.data(), buffer.size());
  if (size < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<size_t>(size));
}

std::optional<uint64_t> OpenFolder::read_number(const char* name, std::string& buffer) const {
  const auto text = read(name, buffer, 4096);
  return text ? whole_number<uint64_t>(trimmed(*text)) : std::nullopt;
}

}  // namespace strata::kernel
