// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "collect/memory_flags.h"
#include "collect/perf_uprobes.h"
#include "collect/process_files.h"
#include "collect/site_file.h"
#include "collect/uprobe_link.h"

namespace strata::collect {

// Where sites are to be on.
struct SwitchScope {
  // In these processes alone. Empty: in all that have mapped the file, and those that will.
  std::vector<pid_t> processes;
  // Also where a process of the file has limited its system calls, and may die of its first event.
  bool despite_filters = false;
};

// Sites of one file that are on, in the best way that this user and this kernel have:
//
//   UprobeLink   Linux 6.6, root              the kernel takes it back should this process die
//   PerfUprobes  Linux 4.20, root             the same, more slowly
//   MemoryFlags  the processes' user          nobody takes it back then, and processes that start
//                                             later are not reached
//
// and the code of those that can be patched is rewritten in the processes that run already.
class SwitchedSites {
 public:
  // Where no process is named, the file's must not have limited their system calls: one that has
  // makes this an error that names it.
  static Result<SwitchedSites> open(const std::string& path, const std::vector<FileSite>& sites,
                                    SwitchScope scope);
  SwitchedSites(SwitchedSites&& other) noexcept = default;
  SwitchedSites& operator=(SwitchedSites&&) = delete;
  // Off again, as far as others do not have them on.
  ~SwitchedSites();

  // Whether the kernel does it.
  bool is_by_kernel() const { return !std::holds_alternative<MemoryFlags>(flags_); }
  // What could not be done.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  using Flags = std::variant<std::vector<UprobeLink>, std::vector<PerfUprobes>, MemoryFlags>;
  static Result<Flags> switch_on(const std::string& path, const FileIdentity& file,
                                 const std::vector<FileSite>& sites, const SwitchScope& scope,
                                 std::vector<std::string>& remarks);
  SwitchedSites(const FileIdentity& file, std::vector<FileSite> sites, std::vector<pid_t> processes,
                Flags flags, std::vector<std::string> remarks);

  FileIdentity file_;
  std::vector<FileSite> sites_;  // empty: moved away
  std::vector<pid_t> processes_;
  Flags flags_;
  std::vector<std::string> remarks_;
};

// Those of the sites that have code to be rewritten.
std::vector<FileSite> patched_among(const std::vector<FileSite>& sites);

// Brings their code in line with their flags, in these processes, or all that have mapped the file.
// Gives what could not be done.
std::vector<std::string> settle_processes(const FileIdentity& file,
                                          const std::vector<FileSite>& patched,
                                          const std::vector<pid_t>& processes);

// Clears what the kernel left raised (memory_flags.h) in these processes, or all that have mapped
// the file, and says how many flags it was. Those that are being started, which have not mapped
// their flags yet, are waited for, up to 20 ms.
size_t clear_leaked_flags(const FileIdentity& file, const std::vector<FileSite>& sites,
                          const std::vector<pid_t>& processes);

}  // namespace strata::collect
