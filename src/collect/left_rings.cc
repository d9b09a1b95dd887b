// SPDX-License-Identifier: Apache-2.0
#include "collect/left_rings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/small_file.h"
#include "collect/process_files.h"
#include "collect/ring_memory.h"
#include "probe/abi.h"

namespace strata::collect {
namespace {

namespace fs = std::filesystem;

// The number that the process knows itself by: in a container not the one we see.
pid_t own_number(const std::string& folder) {
  const Result<std::string> status = read_small_file(folder + "/status", 65536);
  if (!status) return 0;
  constexpr std::string_view kNumbers = "\nNSpid:";
  const size_t at = status->find(kNumbers);
  if (at == std::string::npos) return 0;
  const size_t end = std::min(status->find('\n', at + 1), status->size());
  const size_t begin = status->find_last_of("\t ", end - 1) + 1;
  pid_t number = 0;
  std::from_chars(status->data() + begin, status->data() + end, number);
  return number;
}

// Forks of the program, and its collectors, have the memory too.
bool is_owned_by(const FileDescriptor& memory, pid_t own) {
  uint32_t told = 0;
  return pread(memory.get(), &told, sizeof told, offsetof(probe::abi::Header, pid)) ==
             sizeof told &&
         told == static_cast<uint32_t>(own);
}

void find_in(pid_t process, std::vector<LeftRings>& found) {
  const std::string folder = "/proc/" + std::to_string(process);
  struct stat owner {};
  if (stat(folder.c_str(), &owner) != 0 || (geteuid() != 0 && owner.st_uid != geteuid())) return;
  const std::string wanted = std::string("/memfd:") + RingMemory::kName;
  std::set<ino_t> seen;  // a program may have several descriptors of one
  std::error_code error;
  for (fs::directory_iterator at(folder + "/fd", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (!fs::read_symlink(at->path(), gone).native().starts_with(wanted)) continue;
    FileDescriptor memory(open(at->path().c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!memory || fstat(memory.get(), &status) != 0 || !seen.insert(status.st_ino).second ||
        !is_owned_by(memory, own_number(folder)))
      continue;
    // Now, while it runs: a moment later there may be nothing to look at.
    found.push_back({TracedProcess::look_at(process), std::move(memory)});
  }
}

}  // namespace

std::vector<LeftRings> find_left_rings() {
  std::vector<LeftRings> found;
  for (const pid_t process : running_processes()) find_in(process, found);
  return found;
}

}  // namespace strata::collect
