// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::kernel {

// What an event tells about, for people who look for one among thousands: a virtual machine's
// processor or memory, or a part of the host.
enum class Family : uint8_t {
  VmProcessor,
  VmMemory,
  Processor,
  Memory,
  Disk,
  FileSystem,
  Network,
  Other
};

inline constexpr std::array kFamilies = {Family::VmProcessor, Family::VmMemory, Family::Processor,
                                         Family::Memory,      Family::Disk,     Family::FileSystem,
                                         Family::Network,     Family::Other};

// "VM processor", "file system"
std::string_view name_of(Family family);

// By the kernel's names. LTTng's events, which have no system ("block_rq_issue",
// "syscall_entry_openat"), go by the beginning of their names. A system call belongs to what it
// works on, where its name tells that.
Family family_of(std::string_view system, std::string_view name);

}  // namespace strata::kernel
