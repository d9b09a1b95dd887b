// SPDX-License-Identifier: Apache-2.0
#include "kernel/tracefs.h"

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/small_file.h"

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

}  // namespace

Result<Tracefs> Tracefs::find() {
  std::string place = mounted_at();
  if (!place.empty()) {
    if (access((place + "/instances").c_str(), X_OK) == 0)
      return Tracefs(std::move(place), nullptr);
    const int why = errno;
    if (why == EACCES || why == EPERM)
      return Error{place, std::nullopt,
                   "may not be used by this user: run as root, or let an administrator mount it "
                   "with the option gid= of a group of yours"};
    return system_error(place, "is no tracefs that has instances", why);
  }
  auto mount = std::make_shared<FileDescriptor>(make_detached_mount());
  if (!*mount) {
    const int why = errno;
    if (why == ENODEV)
      return Error{kUsualPlace, std::nullopt, "this kernel has no tracefs (CONFIG_TRACING)"};
    return system_error(kUsualPlace, "tracefs is not mounted, and cannot be", why);
  }
  std::string path = "/proc/self/fd/" + std::to_string(mount->get());
  return Tracefs(std::move(path), std::move(mount));
}

bool Tracefs::has(const std::string& name) const { return access(file(name).c_str(), F_OK) == 0; }

}  // namespace strata::kernel
