// SPDX-License-Identifier: Apache-2.0
#include "kernel/device_state.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "kernel/open_folder.h"
#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr size_t kCpuinfoStart = 16384;  // more than the first processor's lines

std::vector<BlockDevice> read_block_devices(std::string& buffer) {
  std::vector<BlockDevice> devices;
  const OpenFolder folder("/sys/dev/block");
  folder.each([&](const char* numbers) {
    std::optional<BlockDevice> device = parse_device_numbers(numbers);
    const auto link = folder.read_link(numbers, buffer);
    if (!device || !link) return;
    device->name = link->substr(link->rfind('/') + 1);
    // A '/' within a device's name is a '!' here.
    std::replace(device->name.begin(), device->name.end(), '!', '/');
    devices.push_back(*std::move(device));
  });
  std::sort(devices.begin(), devices.end(), [](const BlockDevice& a, const BlockDevice& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  });
  return devices;
}

std::vector<Cpu> read_cpus(std::string& buffer) {
  std::vector<Cpu> cpus;
  const OpenFolder all("/sys/devices/system/cpu");
  all.each([&](const char* name) {
    std::string_view digits = name;
    if (!digits.starts_with("cpu")) return;
    digits.remove_prefix(3);
    const auto number = whole_number<uint32_t>(digits);
    if (!number) return;
    const OpenFolder folder(all, name);
    const auto read = [&](const char* file) { return folder.read_number(file, buffer); };
    const auto socket = read("topology/physical_package_id");
    if (!socket) return;  // offline
    Cpu cpu{.number = *number, .socket = static_cast<uint32_t>(*socket)};
    cpu.core = static_cast<uint32_t>(read("topology/core_id").value_or(0));
    cpu.min_khz = read("cpufreq/cpuinfo_min_freq").value_or(0);
    cpu.max_khz = read("cpufreq/cpuinfo_max_freq").value_or(0);
    folder.each([&](const char* entry) {
      std::string_view node = entry;
      if (!node.starts_with("node")) return;
      node.remove_prefix(4);
      cpu.node = whole_number<uint32_t>(node).value_or(cpu.node);
    });
    cpus.push_back(cpu);
  });
  std::sort(cpus.begin(), cpus.end(),
            [](const Cpu& a, const Cpu& b) { return a.number < b.number; });
  return cpus;
}

std::vector<NetworkInterface> read_interfaces() {
  std::vector<NetworkInterface> interfaces;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return interfaces;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const sockaddr* address = entry->ifa_addr;
    NetworkInterface found{
        .index = if_nametoindex(entry->ifa_name), .name = entry->ifa_name, .address = {}};
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address != nullptr && address->sa_family == AF_INET) {
      const in_addr ip = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
      found.ipv4 = ntohl(ip.s_addr);
      inet_ntop(AF_INET, &ip, text.data(), text.size());
    } else if (address != nullptr && address->sa_family == AF_INET6) {
      inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text.data(),
                text.size());
    }
    found.address = text.data();
    interfaces.push_back(std::move(found));
  }
  freeifaddrs(all);
  // Every interface is also listed without an address; that is wanted where it is all there is.
  const std::vector<NetworkInterface> listed = interfaces;
  interfaces.erase(std::remove_if(interfaces.begin(), interfaces.end(),
                                  [&](const NetworkInterface& one) {
                                    return one.address.empty() &&
                                           std::any_of(listed.begin(), listed.end(),
                                                       [&](const NetworkInterface& other) {
                                                         return other.name == one.name &&
                                                                !other.address.empty();
                                                       });
                                  }),
                   interfaces.end());
  return interfaces;
}

}  // namespace

std::optional<BlockDevice> parse_device_numbers(std::string_view text) {
  const auto major = whole_number<uint32_t>(take_until(text, ':'));
  const auto minor = whole_number<uint32_t>(text);
  if (!major || !minor) return std::nullopt;
  return BlockDevice{*major, *minor, {}};
}

DeviceState gather_devices(StateClock clock) {
  DeviceState state;
  state.read_at = now(clock);
  std::string buffer;
  utsname machine{};
  if (uname(&machine) == 0) state.architecture = machine.machine;
  const OpenFolder proc("/proc");
  if (const auto text = proc.read("cpuinfo", buffer, kCpuinfoStart))
    state.model = parse_cpu_model(*text);
  state.cpus = read_cpus(buffer);
  state.block_devices = read_block_devices(buffer);
  if (const auto text = proc.read("interrupts", buffer)) state.interrupts = parse_interrupts(*text);
  state.interfaces = read_interfaces();
  return state;
}

}  // namespace strata::kernel
