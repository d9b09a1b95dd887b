// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/process_files.h"
#include "collect/site_file.h"
#include "probe/abi.h"

namespace strata::collect {

// The flags of these sites in a process, where their file is loaded with this bias.
Result<std::vector<probe::abi::Flag>> read_flags(pid_t process, std::span<const FileSite> sites,
                                                 uint64_t bias);

// Sets, or clears, bits of Flag::collector.
Status change_flags(pid_t process, std::span<const FileSite> sites, uint64_t bias, uint16_t bits,
                    bool on);

// Clears Flag::kernel of those sites that no uprobe sits on, and says how many it was.
//
// The kernel leaves one raised when a uprobe is removed while a program is being started. Loading
// begins with a mapping of the whole file, in which the kernel finds the uprobe and notes that the
// counter, not mapped yet, is to be raised. Then that mapping gives way to the segments. A removal
// just then finds no mapping and leaves the note, which goes only when the uprobe's memory does,
// later: should the counter's segment be mapped before, it is raised and nobody lowers it. (Linux
// 6.18: one flag in each process that starts during a removal.)
Result<size_t> clear_leaked_flags(pid_t process, std::span<const FileSite> sites, uint64_t bias);

// Why a process's memory was refused, and what remains to be done. `yama`: what
// kernel.yama.ptrace_scope says; none where the kernel has no yama.
Error memory_refusal(pid_t process, int error_number, std::optional<int> yama);

// Sites of one file that are on in some processes, since this one writes their flags there: for who
// may do to a process what a debugger does, as its user may, but has no rights for uprobes.
//
// It does not reach processes that start later. The kernel does not take it back: it ends with this
// object, but not when its process is killed. A child that such a process forks meanwhile inherits
// it.
class MemoryFlags {
 public:
  // `processes`: in these, all of them. Empty: in those that have mapped the file and can be
  // written to; the others are remarked.
  static Result<MemoryFlags> open(const FileIdentity& file, std::vector<FileSite> sites,
                                  std::span<const pid_t> processes,
                                  std::vector<std::string>& remarks);
  MemoryFlags(MemoryFlags&& other) noexcept;
  MemoryFlags& operator=(MemoryFlags&&) = delete;
  ~MemoryFlags();

 private:
  MemoryFlags(const FileIdentity& file, std::vector<FileSite> sites)
      : file_(file), sites_(std::move(sites)) {}
  Status switch_on(pid_t process, std::span<const uint64_t> biases);

  FileIdentity file_;
  std::vector<FileSite> sites_;
  std::map<pid_t, uint16_t> bits_;  // ours, in each process
};

}  // namespace strata::collect
