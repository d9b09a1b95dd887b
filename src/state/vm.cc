// SPDX-License-Identifier: Apache-2.0
#include "state/vm.h"

#include <algorithm>
#include <charconv>

namespace strata::state {

std::string_view name_of(VcpuEvent event) {
  constexpr std::array<std::string_view, kVcpuEvents> kNames = {
      "injections", "ipis", "mmio", "pio", "msr", "page_faults"};
  return kNames[static_cast<size_t>(event)];
}

VmIndex Vms::vm_of(Tid process) {
  const auto [found, is_new] = by_process_.emplace(process, static_cast<VmIndex>(vms_.size()));
  if (is_new) vms_.push_back({.process = process});
  return found->second;
}

VcpuIndex Vms::find(VmIndex vm, uint32_t number) const {
  for (const VcpuIndex vcpu : vms_[vm].vcpus)
    if (vcpus_[vcpu].number == number) return vcpu;
  return kNoVcpu;
}

uint32_t Vms::free_number(VmIndex vm) const {
  auto number = static_cast<uint32_t>(vms_[vm].vcpus.size());
  while (find(vm, number) != kNoVcpu) ++number;
  return number;
}

VcpuIndex Vms::vcpu_of(VmIndex vm, std::optional<uint32_t> number, int64_t begin) {
  if (number) {
    const VcpuIndex known = find(vm, *number);
    if (known != kNoVcpu && vcpus_[known].number_is_told) return known;
  }
  const auto vcpu = static_cast<VcpuIndex>(vcpus_.size());
  vcpus_.push_back({.vm = vm, .number = free_number(vm), .began = begin, .since = begin});
  vms_[vm].vcpus.push_back(vcpu);
  ++version_;
  if (number) set_number(vcpu, *number);
  return vcpu;
}

// Whichever had it was only counted.
void Vms::set_number(VcpuIndex vcpu, uint32_t number) {
  Vcpu& renamed = vcpus_[vcpu];
  if (const VcpuIndex other = find(renamed.vm, number); other != kNoVcpu && other != vcpu)
    vcpus_[other].number = renamed.number;
  renamed.number = number;
  renamed.number_is_told = true;
  ++version_;
}

void Vms::move(VcpuIndex vcpu, Tid process) {
  const VmIndex from = vcpus_[vcpu].vm;
  if (vms_[from].process == process) return;
  const VmIndex to = vm_of(process);
  std::erase(vms_[from].vcpus, vcpu);
  if (find(to, vcpus_[vcpu].number) != kNoVcpu && !vcpus_[vcpu].number_is_told)
    vcpus_[vcpu].number = free_number(to);
  vms_[to].vcpus.push_back(vcpu);
  vcpus_[vcpu].vm = to;
  if (vms_[to].name == kNoName) vms_[to].name = vms_[from].name;
  ++version_;
}

void Vms::set_name(VmIndex vm, NameId name) {
  vms_[vm].name = name;
  ++version_;
}

bool is_halt(std::string_view reason) {
  return reason == "HLT" || reason == "hlt" || reason == "idle_hlt" || reason == "WFx" ||
         reason == "MWAIT_INSTRUCTION" || reason == "mwait";
}

std::optional<uint32_t> vcpu_number_in(std::string_view thread_name) {
  constexpr std::string_view kQemu = "CPU ";
  constexpr std::string_view kOthers = "vcpu";
  std::string_view rest;
  if (thread_name.starts_with(kQemu) && thread_name.ends_with("/KVM")) {
    rest = thread_name.substr(kQemu.size());
  } else if (const size_t at = thread_name.find(kOthers); at != std::string_view::npos) {
    rest = thread_name.substr(at + kOthers.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" _-"), rest.size()));
  }
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number == UINT32_MAX) return std::nullopt;
  return number;
}

}  // namespace strata::state
