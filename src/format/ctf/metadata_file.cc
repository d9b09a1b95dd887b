// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/metadata_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/bytes.h"
#include "format/ctf/stream_file.h"

namespace strata::ctf {

void MetadataFile::append(std::string_view text) {
  const std::lock_guard lock(mutex_);
  text_ += text;
  pending_.store(true, std::memory_order_release);
}

Status MetadataFile::write() {
  const std::lock_guard lock(mutex_);
  if (!pending_.load(std::memory_order_relaxed)) return {};
  const char* hidden = ".metadata";
  const int file = openat(folder_, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                          static_cast<mode_t>(mode_));
  if (file < 0) return system_error(path_, "cannot create", errno);
  int error = write_all(file, as_bytes(text_), 0);
  close(file);
  if (error == 0 && renameat(folder_, hidden, folder_, "metadata") != 0) error = errno;
  if (error != 0) {
    unlinkat(folder_, hidden, 0);
    return system_error(path_, "cannot write", error);
  }
  pending_.store(false, std::memory_order_release);
  return {};
}

}  // namespace strata::ctf
