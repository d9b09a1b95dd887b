// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::record {

// Which sessions there are on this machine: a file for each in /run/strata, or in the folder in it
// that belongs to the user, locked by its recorder for as long as that lives. The lock goes with
// the process, however it ends: a file that is not locked is of a session whose owner is gone.
struct SessionEntry {
  std::string name;
  pid_t process = 0;
  uid_t user = 0;  // whose place in the registry it is
  std::string user_name;
  std::string folder;
  int64_t begin_ns = 0;      // since the epoch
  bool is_flight = false;    // it writes only snapshots
  bool is_alive = false;     // as found by list_sessions(), like what follows
  std::string control = {};  // its socket, see ControlSocket
};

// This session's place in the registry, given up with this object.
class Registration {
 public:
  // Fails where a session of this name lives.
  static Result<Registration> add(const SessionEntry& entry);
  Registration(Registration&& other) noexcept = default;
  Registration& operator=(Registration&&) = delete;
  ~Registration();

  // Where its ControlSocket belongs.
  std::string control() const;

 private:
  Registration(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  FileDescriptor lock_;
};

// In order of name; those whose owner is gone too. What cannot be read is left out, and sessions of
// other users are for root alone.
std::vector<SessionEntry> list_sessions();
// Forgets one whose owner is gone.
void forget_session(const std::string& name, uid_t user);

// What a session is called in the kernel and among the sessions of all users: "nightly" is root's,
// "nightly@1000" another user's. So what a user may remove from the kernel is seen by its name, and
// two users may use the same one.
std::string machine_wide_name(const std::string& session, uid_t user);

// Where sessions of this user keep their files: /run/strata, a folder in it, or $XDG_RUNTIME_DIR
// for who has none there. Made where it is missing.
Result<std::string> registry_folder();

// Letters, digits, '-', '_' and '.', not at the start: a name that is fine in a path, in tracefs
// and on a command line.
bool is_session_name(const std::string& name);

}  // namespace strata::record
