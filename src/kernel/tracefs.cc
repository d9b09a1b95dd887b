// SPDX-License-Identifier: Apache-2.0
#include "kernel/tracefs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/small_file.h"
#include "kernel/group_program.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

constexpr const char* kUsualPlace = "/sys/kernel/tracing";

// Since Linux 5.2; Debian's libc has no wrappers yet.
int make_detached_mount() {
  const FileDescriptor context(static_cast<int>(syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC)));
  if (!context) return -1;
  if (syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return -1;
  return static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
}

// Empty: nowhere.
std::string mounted_at() {
  const Result<std::string> mounts = read_small_file("/proc/self/mounts");
  if (!mounts) return {};
  std::istringstream lines(*mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, place, type;
    words >> device >> place >> type;
    if (type == "tracefs") return place;
  }
  return {};
}

// What is written there is written with more rights than a user has: not into a file system that
// only looks like it. Otherwise `errno` tells.
bool is_tracefs(int folder) {
  struct statfs system {};
  if (fstatfs(folder, &system) != 0) return false;
  errno = ENODEV;
  return system.f_type == TRACEFS_MAGIC;
}

}  // namespace

Result<Tracefs> Tracefs::find() {
  std::string place = mounted_at();
  if (!place.empty()) {
    const Privilege privilege{Capability::DacOverride};
    const FileDescriptor instances(
        open((place + "/instances").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (instances && is_tracefs(instances.get())) return Tracefs(std::move(place), nullptr);
    const int why = errno;
    if (why == EACCES || why == EPERM)
      return Error{place, std::nullopt, "may not be used by this user: " + how_to_get_rights()};
    return system_error(place, "is no tracefs that has instances", why);
  }
  auto mount = std::make_shared<FileDescriptor>(make_detached_mount());
  if (!*mount) {
    const int why = errno;
    if (why == ENODEV)
      return Error{kUsualPlace, std::nullopt, "this kernel has no tracefs (CONFIG_TRACING)"};
    if (why == EPERM && has_lent_privileges())
      return Error{kUsualPlace, std::nullopt,
                   "tracefs is not mounted: an administrator has to run 'mount -t tracefs nodev "
                   "/sys/kernel/tracing'"};
    if (why == EPERM)
      return Error{kUsualPlace, std::nullopt,
                   "tracefs is not mounted, and may not be by this user: " + how_to_get_rights()};
    return system_error(kUsualPlace, "tracefs is not mounted, and cannot be", why);
  }
  std::string path = "/proc/self/fd/" + std::to_string(mount->get());
  return Tracefs(std::move(path), std::move(mount));
}

bool Tracefs::has(const std::string& name) const {
  const Privilege privilege{Capability::DacOverride};
  struct stat status {};  // access() would not count capabilities
  return stat(file(name).c_str(), &status) == 0;
}

}  // namespace strata::kernel
