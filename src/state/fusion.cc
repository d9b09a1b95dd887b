// SPDX-License-Identifier: Apache-2.0
#include "state/fusion.h"

#include <algorithm>
#include <utility>

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
      follow_host(sides_[side.places[vcpu].guest].cpus[side.places[vcpu].cpu], time);
  }
  side.changed.clear();
  if (side.is_guest) follow_guest(machine, cpu, time);
}

void Fusion::follow_guest(size_t machine, CpuIndex cpu, int64_t time) {
  Side& side = sides_[machine];
  const Engine& engine = *machines_[machine].engine;
  const uint64_t losses = engine.losses() + engine.missed_switches();
  if (side.losses != losses) [[unlikely]] {
    side.losses = losses;
    for (CpuIndex other = 0; other < side.cpus.size(); ++other) {
      if (other != cpu && (other >= engine.cpus().size() || engine.cpus()[other].task != kNoTask))
        continue;
      charge(side.cpus[other], time);
      side.cpus[other].pending = {};
      side.cpus[other].task = kNoTask;
    }
  }
  if (cpu >= side.cpus.size()) return;
  GuestCpu& fused = side.cpus[cpu];
  charge(fused, time);
  commit(side, fused);
  fused.task = cpu < engine.cpus().size() ? engine.cpus()[cpu].task : kNoTask;
}

void Fusion::follow_host(GuestCpu& cpu, int64_t time) {
  if (cpu.vcpu == kNoVcpu) return;
  const Vcpu& vcpu = machines_[cpu.host].engine->vms().vcpus()[cpu.vcpu];
  // After a loss, it was in another state already before.
  charge(cpu, std::min(time, vcpu.began));
  cpu.state = vcpu.state;
}

void Fusion::charge(GuestCpu& cpu, int64_t time) {
  if (time <= cpu.since) return;
  const auto ns = static_cast<uint64_t>(time - cpu.since);
  cpu.since = time;
  cpu.ns[static_cast<size_t>(cpu.state)] += ns;
  cpu.pending[static_cast<size_t>(cpu.state)] += ns;
}

void Fusion::commit(Side& side, GuestCpu& cpu) {
  const VcpuTimes ns = std::exchange(cpu.pending, {});
  if (cpu.task == kNoTask) return;
  if (cpu.task >= side.tasks.size()) side.tasks.resize(cpu.task + 1);
  for (size_t state = 0; state < ns.size(); ++state) side.tasks[cpu.task][state] += ns[state];
}

void Fusion::settle(int64_t time) {
  for (Side& side : sides_) {
    for (GuestCpu& cpu : side.cpus) {
      charge(cpu, time);
      commit(side, cpu);
    }
  }
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
    if (number >= side.cpus.size()) add_cpus(guest, number + 1, time);
    GuestCpu& cpu = side.cpus[number];
    if (cpu.host != host || cpu.vcpu != vcpu) {
      charge(cpu, time);
      cpu.host = host;
      cpu.vcpu = vcpu;
      cpu.state = vms.vcpus()[vcpu].state;
    }
    sides_[host].places[vcpu] = {guest, number};
    if (machines_[host].index)
      machines_[host].index->vcpu_guest({vcpu, machines_[guest].name, number});
  }
}

// Of what they ran before, nothing was told by the host: it is unknown in any case.
void Fusion::add_cpus(size_t guest, CpuIndex count, int64_t time) {
  Side& side = sides_[guest];
  const std::vector<Cpu>& known = machines_[guest].engine->cpus();
  while (side.cpus.size() < count) {
    const size_t number = side.cpus.size();
    GuestCpu& cpu = side.cpus.emplace_back(GuestCpu{.since = begin_});
    charge(cpu, time);
    cpu.pending = {};
    if (number < known.size()) cpu.task = known[number].task;
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

std::vector<GuestCpuName> Fusion::guests_of(size_t host) const {
  std::vector<GuestCpuName> guests;
  const std::vector<Place>& places = sides_[host].places;
  for (VcpuIndex vcpu = 0; vcpu < places.size(); ++vcpu)
    if (places[vcpu].cpu != kNoCpu)
      guests.push_back({vcpu, machines_[places[vcpu].guest].name, places[vcpu].cpu});
  return guests;
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
