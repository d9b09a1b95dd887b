// SPDX-License-Identifier: Apache-2.0
#include "record/to_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "base/file_descriptor.h"

namespace strata::record {
namespace {

bool file_to_disk(const std::filesystem::path& path, int flags) {
  const FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  return file && fdatasync(file.get()) == 0;
}

}  // namespace

size_t changed_files_to_disk(const std::string& folder, std::filesystem::file_time_type since) {
  namespace fs = std::filesystem;
  size_t done = 0;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code gone;
    if (!file->is_regular_file(gone) || gone || file->last_write_time(gone) < since || gone)
      continue;
    if (file_to_disk(file->path(), O_RDONLY)) ++done;
  }
  if (done > 0) file_to_disk(folder, O_RDONLY | O_DIRECTORY);
  return done;
}

}  // namespace strata::record
