// SPDX-License-Identifier: Apache-2.0
#include "base/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace strata {

Output::Output(int descriptor, std::string name)
    : name_(std::move(name)), descriptor_(descriptor), text_(kPiece + 16 * 1024) {}

Output::Output(Output&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      owns_descriptor_(std::exchange(other.owns_descriptor_, false)),
      file_(std::move(other.file_)),
      text_(std::move(other.text_)),
      closed_early_(other.closed_early_),
      status_(std::move(other.status_)) {}

Output::~Output() {
  if (owns_descriptor_) close(descriptor_);
}

Result<Output> Output::create(const std::string& path) {
  struct stat existing {};
  if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error(path, "cannot write", errno);
    Output out(descriptor, path);
    out.owns_descriptor_ = true;
    return out;
  }
  // A link stays a link: what it points to is what is replaced.
  std::string target = path;
  if (char* real = realpath(path.c_str(), nullptr)) {
    target = real;
    std::free(real);
  }
  Result<NewFile> file = NewFile::create(target);
  if (!file) return std::move(file).error();
  Output out(-1, path);
  out.file_ = *std::move(file);
  return out;
}

bool Output::flush() {
  std::string_view rest = text_.view();
  if (file_ && status_) {
    status_ = file_->append(as_bytes(rest));
    rest = {};
  }
  while (!rest.empty() && !closed_early_ && status_) {
    ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      closed_early_ = true;
    } else if (errno != EINTR) {
      status_ = system_error(name_, "cannot write", errno);
    }
  }
  text_.clear();
  return !closed_early_ && status_;
}

Status Output::finish() {
  flush();
  if (file_ && status_) status_ = file_->publish();
  return status_;
}

}  // namespace strata
