// SPDX-License-Identifier: Apache-2.0
#include "state/fusion.h"

#include <algorithm>

namespace strata::state {
namespace {

// More than any machine has.
constexpr uint32_t kMostGuestCpus = 1u << 16;
// Guests of guests of guests do not go deeper.
constexpr int kDeepest = 4;

}  // namespace

Fusion::Fusion(std::span<const Machine> machines, std::vector<GuestLink> links, int64_t begin)
    : machines_(machines), links_(std::move(links)), sides_(machines.size()), begin_(begin) {
  for (size_t i = 0; i < machines_.size(); ++i)
    machines_[i].engine->watch_vcpus(&sides_[i].changed);
  for (const GuestLink& link : links_) sides_[link.guest].is_guest = true;
}

Fusion::~Fusion() {
  for (const Machine& machine : machines_) machine.engine->watch_vcpus(nullptr);
}

void Fusion::follow(size_t machine, CpuIndex cpu, int64_t time) {
  Side& side = sides_[machine];
  const Engine& engine = *machines_[machine].engine;
  if (side.version != engine.vms().version()) [[unlikely]]
    place_all(machine, time);
  for (const VcpuIndex vcpu : side.changed) {
    if (vcpu < side.places.size() && side.places[vcpu].cpu != kNoCpu)
      update(side.places[vcpu].guest, side.places[vcpu].cpu, time);
  }
  side.changed.clear();
  if (!side.is_guest) return;
  if (side.losses != engine.losses()) [[unlikely]] {  // which may be another CPU's
    side.losses = engine.losses();
    for (CpuIndex other = 0; other < side.cpus.size(); ++other) update(machine, other, time);
  }
  update(machine, cpu, time);
}

void Fusion::update(size_t guest, CpuIndex cpu, int64_t time) {
  Side& side = sides_[guest];
  if (cpu >= side.cpus.size()) return;
  GuestCpu& fused = side.cpus[cpu];
  const Engine& engine = *machines_[guest].engine;
  const TaskId task = cpu < engine.cpus().size() ? engine.cpus()[cpu].task : kNoTask;
  const VcpuState state = fused.vcpu == kNoVcpu
                              ? VcpuState::Unknown
                              : machines_[fused.host].engine->vms().vcpus()[fused.vcpu].state;
  if (task == fused.task && state == fused.state) return;
  charge(side, fused, time);
  fused.task = task;
  fused.state = state;
}

void Fusion::charge(Side& side, GuestCpu& cpu, int64_t time) {
  if (time <= cpu.since) return;
  const auto ns = static_cast<uint64_t>(time - cpu.since);
  cpu.since = time;
  cpu.ns[static_cast<size_t>(cpu.state)] += ns;
  if (cpu.task == kNoTask) return;
  if (cpu.task >= side.tasks.size()) side.tasks.resize(cpu.task + 1);
  side.tasks[cpu.task][static_cast<size_t>(cpu.state)] += ns;
}

void Fusion::settle(int64_t time) {
  for (Side& side : sides_)
    for (GuestCpu& cpu : side.cpus) charge(side, cpu, time);
}

void Fusion::reset(int64_t time) {
  settle(time);
  begin_ = time;
  for (Side& side : sides_) {
    for (GuestCpu& cpu : side.cpus) cpu.ns = {};
    side.tasks.clear();
  }
}

// Which guest's CPUs the virtual CPUs of a host are, from all that is known by now.
void Fusion::place_all(size_t host, int64_t time) {
  const Vms& vms = machines_[host].engine->vms();
  sides_[host].version = vms.version();
  sides_[host].places.assign(vms.vcpus().size(), {});
  for (const GuestLink& link : links_) {
    if (link.host != host) continue;
    if (const VmIndex vm = vm_of(link); vm != kNoVm) place(host, vm, link.guest, time);
  }
  // A machine that nothing else is told of has the name of a virtual machine.
  for (VmIndex vm = 0; vm < vms.vms().size(); ++vm) {
    if (vms.vms()[vm].name == kNoName) continue;
    const auto guest =
        std::ranges::find(machines_, machines_[host].engine->vm_name(vm), &Machine::name);
    const auto number = static_cast<size_t>(guest - machines_.begin());
    if (guest == machines_.end() || number == host ||
        std::ranges::find(links_, number, &GuestLink::guest) != links_.end())
      continue;
    place(host, vm, number, time);
  }
}

VmIndex Fusion::vm_of(const GuestLink& link) const {
  const Engine& engine = *machines_[link.host].engine;
  if (link.thread != kNoTid) {
    const TaskId task = engine.tasks().find(link.thread);
    if (task == kNoTask || engine.tasks()[task].vcpu == kNoVcpu) return kNoVm;
    return engine.vms().vcpus()[engine.tasks()[task].vcpu].vm;
  }
  if (link.name.empty()) return kNoVm;
  const std::vector<Vm>& vms = engine.vms().vms();
  const auto named = std::ranges::find_if(
      vms, [&](const Vm& vm) { return engine.names().text(vm.name) == link.name; });
  return named == vms.end() ? kNoVm : static_cast<VmIndex>(named - vms.begin());
}

void Fusion::place(size_t host, VmIndex vm, size_t guest, int64_t time) {
  const Vms& vms = machines_[host].engine->vms();
  Side& side = sides_[guest];
  side.is_guest = true;
  for (const VcpuIndex vcpu : vms.vms()[vm].vcpus) {
    const CpuIndex number = vms.vcpus()[vcpu].number;
    if (number >= kMostGuestCpus) continue;
    if (number >= side.cpus.size()) side.cpus.resize(number + 1, GuestCpu{.since = begin_});
    charge(side, side.cpus[number], time);
    side.cpus[number].host = host;
    side.cpus[number].vcpu = vcpu;
    sides_[host].places[vcpu] = {guest, number};
    update(guest, number, time);
  }
}

const Fusion::GuestCpu* Fusion::guest_cpu(size_t machine, CpuIndex cpu) const {
  const std::vector<GuestCpu>& cpus = sides_[machine].cpus;
  return cpu < cpus.size() && cpus[cpu].vcpu != kNoVcpu ? &cpus[cpu] : nullptr;
}

VcpuTimes Fusion::task_times(size_t machine, TaskId task) const {
  const std::vector<VcpuTimes>& tasks = sides_[machine].tasks;
  return task < tasks.size() ? tasks[task] : VcpuTimes{};
}

TaskId Fusion::running_instead(const GuestCpu& cpu) const {
  if (cpu.state != VcpuState::Preempted) return kNoTask;
  const Engine& host = *machines_[cpu.host].engine;
  const TaskId thread = host.vms().vcpus()[cpu.vcpu].task;
  if (thread == kNoTask || host.tasks()[thread].cpu >= host.cpus().size()) return kNoTask;
  return host.cpus()[host.tasks()[thread].cpu].task;
}

Fusion::Running Fusion::running_on(size_t machine, CpuIndex cpu) const {
  Running running{machine, cpu, kNoTask};
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Engine& engine = *machines_[running.machine].engine;
    running.task = running.cpu < engine.cpus().size() ? engine.cpus()[running.cpu].task : kNoTask;
    if (running.task == kNoTask) return running;
    const VcpuIndex vcpu = engine.tasks()[running.task].vcpu;
    const std::vector<Place>& places = sides_[running.machine].places;
    if (vcpu == kNoVcpu || engine.vms().vcpus()[vcpu].state != VcpuState::Guest ||
        vcpu >= places.size() || places[vcpu].cpu == kNoCpu)
      return running;
    running = {places[vcpu].guest, places[vcpu].cpu, kNoTask};
  }
  return running;
}

}  // namespace strata::state
