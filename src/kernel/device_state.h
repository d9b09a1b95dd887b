// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/device_text.h"
#include "kernel/state_clock.h"

namespace strata::kernel {

// The hardware of this machine, as far as events name it by number.

struct BlockDevice {
  uint32_t major = 0;
  uint32_t minor = 0;
  std::string name;  // "sda1"

  bool operator==(const BlockDevice&) const = default;
};

struct Cpu {
  uint32_t number = 0;
  uint32_t socket = 0;
  uint32_t core = 0;
  uint32_t node = 0;     // of its memory
  uint64_t min_khz = 0;  // 0: not told
  uint64_t max_khz = 0;

  bool operator==(const Cpu&) const = default;
};

// One for each address; one without an address for an interface that has none.
struct NetworkInterface {
  uint32_t index = 0;
  std::string name;
  std::string address;  // "192.0.2.1", "fe80::1"
  uint32_t ipv4 = 0;    // the same where it is one, 0xc0000201
};

struct DeviceState {
  uint64_t read_at = 0;  // on the state's clock
  std::string architecture;
  CpuModel model;
  std::vector<Cpu> cpus;  // that are online
  std::vector<BlockDevice> block_devices;
  std::vector<Interrupt> interrupts;
  std::vector<NetworkInterface> interfaces;
};

// What cannot be read is not there.
DeviceState gather_devices(StateClock clock);

// "8:1": a device's numbers.
std::optional<BlockDevice> parse_device_numbers(std::string_view text);

}  // namespace strata::kernel
