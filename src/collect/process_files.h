// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/site_file.h"

namespace strata::collect {

// A piece of a file that a process has mapped to execute it.
struct CodeMapping {
  uint64_t start = 0;  // addresses in the process
  uint64_t end = 0;
  uint64_t offset = 0;  // of `start`, in the file
  dev_t device = 0;     // of the file, as the kernel shows it; some file systems show another
  ino_t inode = 0;
  std::string path = {};  // as the process sees it
  bool is_deleted = false;
};

// What /proc/PID/maps says. Lines that are none, and mappings that are not code, are passed over.
std::vector<CodeMapping> parse_code_mappings(std::string_view maps);
Result<std::vector<CodeMapping>> code_mappings(pid_t process);

// A path under which this process can open the file, also where it was deleted, or lies in another
// mount namespace.
std::string reachable_path(pid_t process, const CodeMapping& mapping);

// A file, by whatever name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  static Result<FileIdentity> of(const std::string& path);
  bool operator==(const FileIdentity&) const = default;
};

// Those of the file.
std::vector<CodeMapping> mappings_of(pid_t process, const FileIdentity& file);

// What is to be added to the addresses in the file to get those in a process with these mappings of
// it: one number for each time that it is loaded.
std::vector<uint64_t> load_biases(std::span<const CodeMapping> mappings, const FileSite& site);

// All that run now, as far as they can be seen.
std::vector<pid_t> running_processes();

}  // namespace strata::collect
