// SPDX-License-Identifier: Apache-2.0
#include "kernel/group_program.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

// The copy that belongs to this program, which may be itself, or the one of the usual place; empty:
// there is none.
std::string installed_program() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path above = own.parent_path().parent_path();  // of bin/strata
  struct stat status {};
  for (const std::string& prefix :
       {above.string(), above.parent_path().string(), std::string(kDefaultPrefix)}) {
    if (stat(group_program(prefix).c_str(), &status) == 0) return group_program(prefix);
  }
  return {};
}

bool is_this_program(const std::string& path) {
  struct stat own {};
  struct stat other {};
  return stat("/proc/self/exe", &own) == 0 && stat(path.c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

}  // namespace

std::string group_program(const std::string& prefix) {
  return prefix + "/lib/strata/strata-tracing";
}

std::string group_name(gid_t number) {
  const group* found = getgrgid(number);
  return found != nullptr ? found->gr_name : std::to_string(number);
}

void become_group_program(char** argv) {
  if (geteuid() == 0 || has_lent_privileges()) return;
  const std::string program = installed_program();
  if (program.empty() || is_this_program(program)) return;
  execv(program.c_str(), argv);  // who may not goes on without, and is told when it matters
}

std::string how_to_get_rights() {
  if (geteuid() == 0) return "root lacks capabilities here (a container?)";
  if (has_lent_privileges())
    return "the group's program lacks a right; let an administrator run 'strata setup' again";
  const std::string program = installed_program();
  if (program.empty())
    return "run as root, or let an administrator run 'strata setup --group " +
           std::string(kDefaultGroup) + "' and make you a member of that group";
  if (access(program.c_str(), X_OK) != 0) {
    struct stat status {};
    stat(program.c_str(), &status);
    const std::string group = group_name(status.st_gid);
    return "run as root, or let an administrator make you a member of the group '" + group +
           "' ('usermod -aG " + group + " USER', then log in again)";
  }
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return program + " cannot help, since this process may not gain rights (no_new_privs)";
  return program + " has not got its rights (a file system mounted with nosuid?); let an " +
         "administrator run 'strata setup' again";
}

}  // namespace strata::kernel
