// SPDX-License-Identifier: Apache-2.0
#include "collect/patching.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/file_descriptor.h"
#include "probe/abi.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

struct Word {
  uint8_t bytes[2];

  bool operator==(const Word&) const = default;
};
static_assert(sizeof(Word) == sizeof abi::kPatchOn && sizeof(Word) == sizeof abi::kPatchOff);

Word word_of(const uint8_t (&bytes)[2]) { return {{bytes[0], bytes[1]}}; }

}  // namespace

Status patch(pid_t process, std::span<const uint64_t> places, bool on) {
  const std::string path = "/proc/" + std::to_string(process) + "/mem";
  const FileDescriptor memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return system_error(path, "cannot rewrite its probes", errno);
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
      return system_error(path, "cannot rewrite its code", errno);
  }
  return {};
}

}  // namespace strata::collect
