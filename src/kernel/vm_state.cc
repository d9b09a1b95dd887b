// SPDX-License-Identifier: Apache-2.0
#include "kernel/vm_state.h"

#include <algorithm>
#include <map>

#include "kernel/open_folder.h"
#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr const char* kDebugfs = "/sys/kernel/debug/kvm";
constexpr size_t kMostArguments = size_t{1} << 20;

// The first of a list of options whose commas stand doubled within a value.
std::string take_option(std::string_view& text) {
  std::string option;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == ',') {
      if (at + 1 == text.size() || text[at + 1] != ',') break;
      ++at;
    }
    option += text[at];
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return option;
}

std::string guest_name(std::string_view value) {
  bool first = true;
  while (!value.empty()) {
    const std::string option = take_option(value);
    if (option.starts_with("guest=")) return option.substr(6);
    // Before there were options, the name was all.
    if (first && option.find('=') == std::string::npos) return option;
    first = false;
  }
  return {};
}

// From debugfs: by process, the threads of its vCPUs. A folder there is named PID-FD.
std::map<int32_t, std::vector<Vcpu>> read_debugfs(std::string& buffer) {
  std::map<int32_t, std::vector<Vcpu>> found;
  const OpenFolder machines(kDebugfs);
  machines.each([&](const char* name) {
    std::string_view text = name;
    const auto pid = whole_number<int32_t>(take_until(text, '-'));
    if (!pid) return;
    const OpenFolder machine(machines, name);
    machine.each([&](const char* entry) {
      std::string_view digits = entry;
      if (!digits.starts_with("vcpu")) return;
      digits.remove_prefix(4);
      const auto number = whole_number<uint32_t>(digits);
      const auto tid = machine.read_number((std::string(entry) + "/pid").c_str(), buffer);
      if (number && tid && *tid > 0 && *tid <= INT32_MAX)
        found[*pid].push_back({*number, static_cast<int32_t>(*tid)});
    });
  });
  return found;
}

}  // namespace

std::vector<VirtualMachine> find_machines(const std::vector<Process>& processes, StateClock clock) {
  std::vector<VirtualMachine> machines;
  std::string buffer;
  std::optional<std::map<int32_t, std::vector<Vcpu>>> debugfs;
  for (const Process& process : processes) {
    if (process.kernel_thread || process.threads.empty()) continue;
    VirtualMachine machine{.pid = process.pid, .name = {}, .uuid = {}, .vcpus = {}};
    for (const Descriptor& descriptor : process.descriptors) {
      if (descriptor.path.starts_with("anon_inode:kvm-vcpu")) {
        machine.kvm = true;
        ++machine.vcpu_count;
      } else if (descriptor.path == "anon_inode:kvm-vm") {
        machine.kvm = true;
      }
    }
    if (!machine.kvm && !process.threads.front().name.starts_with("qemu-system")) continue;

    machine.read_at = now(clock);
    const OpenFolder folder(("/proc/" + std::to_string(process.pid)).c_str());
    if (const auto text = folder.read("cmdline", buffer, kMostArguments))
      read_qemu_arguments(*text, machine);
    if (machine.kvm) {
      if (!debugfs) debugfs = read_debugfs(buffer);
      if (const auto found = debugfs->find(process.pid); found != debugfs->end())
        machine.vcpus = found->second;
    }
    if (machine.vcpus.empty()) {
      for (const Thread& thread : process.threads)
        if (const auto number = vcpu_of_thread_name(thread.name))
          machine.vcpus.push_back({*number, thread.tid});
    }
    std::sort(machine.vcpus.begin(), machine.vcpus.end(), [](const Vcpu& a, const Vcpu& b) {
      return a.number != b.number ? a.number < b.number : a.tid < b.tid;
    });
    machine.vcpu_count = std::max(machine.vcpu_count, static_cast<uint32_t>(machine.vcpus.size()));
    machines.push_back(std::move(machine));
  }
  return machines;
}

void read_qemu_arguments(std::string_view arguments, VirtualMachine& machine) {
  take_until(arguments, '\0');  // the program
  while (!arguments.empty()) {
    std::string_view option = take_until(arguments, '\0');
    if (option.starts_with("--")) option.remove_prefix(1);
    if (option == "-name") machine.name = guest_name(take_until(arguments, '\0'));
    if (option == "-uuid") machine.uuid = take_until(arguments, '\0');
  }
}

std::optional<uint32_t> vcpu_of_thread_name(std::string_view name) {
  if (!name.starts_with("CPU ")) return std::nullopt;
  name.remove_prefix(4);
  const auto number = whole_number<uint32_t>(take_until(name, '/'));
  return name == "KVM" || name == "TCG" ? number : std::nullopt;
}

}  // namespace strata::kernel
