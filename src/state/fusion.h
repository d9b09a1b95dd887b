// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "state/guest_links.h"
#include "state/machine.h"

namespace strata::state {

// How long something was in each state of a virtual CPU.
using VcpuTimes = std::array<uint64_t, kVcpuStates>;

// Hosts and their guests, seen together.
//
// A guest's CPU is a virtual CPU of its host: a thread there. The guest does not see that thread
// lose its processor, or the hypervisor at work: for it, a task that it runs goes on running. Only
// both traces together tell whether it does: it runs while the virtual CPU is in VcpuState::Guest,
// is preempted, by a task of the host's, or waits for the hypervisor.
//
// Fusion stands beside the machines' engines and follows them event by event. Before it is known
// which virtual CPU a CPU is (the host tells at its first entry into the guest), and in a guest
// whose host's trace is not there, the state is Unknown. What a guest's CPU ran before the guest
// lost events is no task's, from its last event on.
class Fusion {
 public:
  // The machines and their engines must outlive it.
  Fusion(std::span<const Machine> machines, std::vector<GuestLink> links, int64_t begin);
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;
  ~Fusion();

  // To be called when an event on this CPU of this machine has gone through its engine.
  void follow(size_t machine, CpuIndex cpu, int64_t time);
  // Charges everything up to `time`.
  void settle(int64_t time);
  // Times begin here.
  void reset(int64_t time);

  // A CPU of a guest, as its host knows it.
  struct GuestCpu {
    size_t host = 0;
    VcpuIndex vcpu = kNoVcpu;  // of the host's engine; kNoVcpu: not known
    TaskId task = kNoTask;     // that the guest runs on it
    VcpuState state = VcpuState::Unknown;
    int64_t since = 0;  // what was before is in `ns`
    VcpuTimes ns = {};
    VcpuTimes pending = {};  // since the guest's last event on it: the task's, if none was lost
  };
  bool is_guest(size_t machine) const { return sides_[machine].is_guest; }
  // Null: nothing is known of it.
  const GuestCpu* guest_cpu(size_t machine, CpuIndex cpu) const;
  // Where the time went in which a guest had a task on a CPU. All 0: it never had.
  VcpuTimes task_times(size_t machine, TaskId task) const;
  // Which virtual CPUs of a machine are CPUs of others.
  std::vector<GuestCpuName> guests_of(size_t host) const;
  // The task that has the processor which a preempted virtual CPU waits for.
  TaskId running_instead(const GuestCpu& cpu) const;

  // Whose code a CPU runs: the machine's own, or a guest's, or a guest's of a guest.
  struct Running {
    size_t machine = 0;
    CpuIndex cpu = kNoCpu;  // of that machine
    TaskId task = kNoTask;  // of that machine's engine
  };
  Running running_on(size_t machine, CpuIndex cpu) const;

 private:
  struct Place {  // which guest's CPU a virtual CPU is
    size_t guest = 0;
    CpuIndex cpu = kNoCpu;
  };
  // A machine, as a guest and as a host.
  struct Side {
    bool is_guest = false;
    std::vector<GuestCpu> cpus;      // by their numbers in the guest
    std::vector<VcpuTimes> tasks;    // by TaskId
    std::vector<Place> places;       // by VcpuIndex
    std::vector<VcpuIndex> changed;  // since the last event
    uint64_t version = UINT64_MAX;   // of what the engine knows of its virtual machines
    uint64_t losses = 0;
  };

  void place_all(size_t host, int64_t time);
  VmIndex vm_of(const GuestLink& link) const;
  void place(size_t host, VmIndex vm, size_t guest, int64_t time);
  void add_cpus(size_t guest, CpuIndex count, int64_t time);
  void follow_guest(size_t machine, CpuIndex cpu, int64_t time);
  void follow_host(GuestCpu& cpu, int64_t time);
  static void charge(GuestCpu& cpu, int64_t time);
  static void commit(Side& side, GuestCpu& cpu);

  std::span<const Machine> machines_;
  std::vector<GuestLink> links_;
  std::vector<Side> sides_;  // by machine
  int64_t begin_;
};

}  // namespace strata::state
