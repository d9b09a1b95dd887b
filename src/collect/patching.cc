// SPDX-License-Identifier: Apache-2.0
#include "collect/patching.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "collect/memory_flags.h"
#include "probe/abi.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

struct Word {
  uint8_t bytes[2];

  bool operator==(const Word&) const = default;
};
static_assert(sizeof(Word) == sizeof abi::kPatchOn && sizeof(Word) == sizeof abi::kPatchOff);

// Flags that change all the time are their owners' to settle.
constexpr int kTurns = 4;

bool is_on(const abi::Flag& flag) { return flag.kernel != 0 || flag.collector != 0; }

std::string memory_of(pid_t process) { return "/proc/" + std::to_string(process) + "/mem"; }

Result<FileDescriptor> open_memory(const std::string& path) {
  FileDescriptor memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return system_error(path, "cannot rewrite its code", errno);
  return memory;
}

Word word_of(const uint8_t (&bytes)[2]) { return {{bytes[0], bytes[1]}}; }

}  // namespace

Status may_patch(pid_t process) {
  const Result<FileDescriptor> memory = open_memory(memory_of(process));
  return memory ? Status() : Status(memory.error());
}

Status patch(pid_t process, std::span<const uint64_t> places, bool on) {
  if (places.empty()) return {};
  const std::string path = memory_of(process);
  const Result<FileDescriptor> opened = open_memory(path);
  if (!opened) return opened.error();
  const FileDescriptor& memory = *opened;
  const Word wanted = word_of(on ? abi::kPatchOn : abi::kPatchOff);
  const Word other = word_of(on ? abi::kPatchOff : abi::kPatchOn);
  for (const uint64_t place : places) {
    const auto at = static_cast<off_t>(place);
    Word found{};
    if (pread(memory.get(), &found, sizeof found, at) != sizeof found)
      return system_error(path, "cannot read its code", errno);
    if (found == wanted) continue;
    if (found != other || place % sizeof(Word) != 0)
      return Error{path, place, "there is no probe that can be patched"};
    if (pwrite(memory.get(), &wanted, sizeof wanted, at) != sizeof wanted)
      return system_error(path,
                          errno == EIO ? "cannot rewrite its code, which is mapped read-only "
                                         "(the kernel's parameter proc_mem.force_override)"
                                       : "cannot rewrite its code",
                          errno);
  }
  return {};
}

Status settle(pid_t process, std::span<const FileSite> sites, uint64_t bias) {
  Result<std::vector<abi::Flag>> flags = read_flags(process, sites, bias);
  for (int turn = 0; flags && turn < kTurns; ++turn) {
    std::vector<uint64_t> places[2];  // to be nothing, to be a jump
    for (size_t i = 0; i < sites.size(); ++i)
      for (const uint64_t place : sites[i].patches)
        places[is_on((*flags)[i])].push_back(place + bias);
    for (const bool on : {false, true})
      if (Status status = patch(process, places[on], on); !status) return status;
    // Whoever changes a flag after this look settles after that.
    Result<std::vector<abi::Flag>> now = read_flags(process, sites, bias);
    if (now && std::ranges::equal(*now, *flags, {}, is_on, is_on)) return {};
    flags = std::move(now);
  }
  return flags ? Status() : Status(flags.error());
}

}  // namespace strata::collect
