// SPDX-License-Identifier: Apache-2.0
#include "history/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace strata::history {
namespace {

constexpr size_t kWriteSize = size_t{1} << 20;

}  // namespace

Result<GrowingFile> GrowingFile::create(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return system_error(path, "cannot create", errno);
  return GrowingFile(path, std::move(file));
}

void GrowingFile::append(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  pending_.insert(pending_.end(), bytes, bytes + size);
  if (pending_.size() >= kWriteSize) flush();
}

void GrowingFile::flush() {
  size_t done = 0;
  while (done < pending_.size() && status_) {
    const ssize_t size = write(file_.get(), pending_.data() + done, pending_.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) status_ = system_error(path_, "cannot write", errno);
    done += static_cast<size_t>(std::max<ssize_t>(size, 0));
  }
  written_ += pending_.size();
  pending_.clear();
}

}  // namespace strata::history
