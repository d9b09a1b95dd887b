// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::record {

// Which sessions there are on this machine: a file for each in /run/strata, locked by its recorder
// for as long as that lives. The lock goes with the process, however it ends: a file that is not
// locked is of a session whose owner is gone.
struct SessionEntry {
  std::string name;
  pid_t process = 0;
  uid_t user = 0;
  std::string user_name;
  std::string folder;
  int64_t begin_ns = 0;    // since the epoch
  bool is_flight = false;  // it writes only snapshots
  bool is_alive = false;   // as found by list_sessions(), like what follows
  std::string control;     // its socket, see ControlSocket
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

// In order of name; those whose owner is gone too. What cannot be read is left out.
std::vector<SessionEntry> list_sessions();
// Forgets one whose owner is gone.
void forget_session(const std::string& name);

// Where sessions keep their files: /run/strata, or in $XDG_RUNTIME_DIR for who may not write there.
// Made where it is missing.
Result<std::string> registry_folder();

// Letters, digits, '-', '_' and '.', not at the start: a name that is fine in a path, in tracefs
// and on a command line.
bool is_session_name(const std::string& name);

}  // namespace strata::record
