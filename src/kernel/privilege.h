// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/capability.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace strata::kernel {

// What recording needs that the kernel gives to root alone. This is the whole list: the program
// that `strata setup` installs for a group is permitted these, and nothing else.
enum class Capability : uint8_t {
  DacOverride = CAP_DAC_OVERRIDE,  // the tracer's files, and /proc/PID/fd, belong to root or others
  SysPtrace = CAP_SYS_PTRACE,      // what other users' processes have open
  Perfmon = CAP_PERFMON,           // counters of whole CPUs
  IpcLock = CAP_IPC_LOCK,          // rings for those, beyond kernel.perf_event_mlock_kb
  Syslog = CAP_SYSLOG,             // the addresses in /proc/kallsyms
  SysNice = CAP_SYS_NICE,          // a ring that overflows is worse than a task that waits
};

inline constexpr std::array kRecordingNeeds = {Capability::DacOverride, Capability::SysPtrace,
                                               Capability::Perfmon,     Capability::IpcLock,
                                               Capability::Syslog,      Capability::SysNice};

// Makes capabilities effective for the calling thread as long as this object lives, where the
// process is permitted them and does not use them. For root, who uses all of them all the time,
// and for who is permitted nothing, it does nothing.
//
// Within such a scope only paths that the program itself made up may be opened: what a user named
// is opened as that user, outside. No thread and no process may be started within it.
class Privilege {
 public:
  Privilege(std::initializer_list<Capability> wanted);
  ~Privilege();
  Privilege(const Privilege&) = delete;
  Privilege& operator=(const Privilege&) = delete;

 private:
  uint64_t raised_ = 0;  // what was not effective before, a bit each
};

// Whether this process is permitted what it does not use: it is the program of a group.
bool has_lent_privileges();

// Gives up for good whatever this thread, and what it starts from now on, is permitted. Nothing
// for root.
void drop_lent_privileges();

}  // namespace strata::kernel
