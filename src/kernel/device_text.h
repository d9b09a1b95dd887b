// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::kernel {

// A line of interrupts with a number.
struct Interrupt {
  uint32_t number = 0;
  std::string chip;    // "IO-APIC"
  std::string action;  // whoever handles it: "virtio1-req.0", several with commas

  bool operator==(const Interrupt&) const = default;
};

// /proc/interrupts. Those that the processor has names for ("NMI") are left out.
std::vector<Interrupt> parse_interrupts(std::string_view text);

// What /proc/cpuinfo says of one processor, where it says it.
struct CpuModel {
  std::string vendor;
  uint32_t family = 0;
  uint32_t model = 0;
  std::string name;
  uint32_t cores = 0;  // of one socket
};
// Of the first one.
CpuModel parse_cpu_model(std::string_view cpuinfo);

}  // namespace strata::kernel
