// SPDX-License-Identifier: Apache-2.0
#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_descriptor.h"

namespace strata {
namespace {

Status write_once(const std::string& path, std::string_view text, int flags) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags));
  if (!file) return system_error(path, "cannot open for writing", errno);
  const ssize_t size = write(file.get(), text.data(), text.size());
  if (size < 0) return system_error(path, "cannot write '" + std::string(text) + "'", errno);
  if (static_cast<size_t>(size) != text.size())
    return Error{path, std::nullopt, "only a part of '" + std::string(text) + "' was taken"};
  return {};
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, size_t limit) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error(path, "cannot open", errno);
  std::string text;
  size_t size = 0;
  for (;;) {
    if (text.size() - size < 4096) text.resize(text.size() * 2 + 16384);
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, "cannot read", errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > limit) return Error{path, limit, "is longer than it can be"};
  }
  text.resize(size);
  return text;
}

Status write_small_file(const std::string& path, std::string_view text) {
  return write_once(path, text, O_TRUNC);
}

Status append_small_file(const std::string& path, std::string_view text) {
  return write_once(path, text, O_APPEND);
}

}  // namespace strata
