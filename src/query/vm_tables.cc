// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "query/state_cells.h"
#include "query/state_tables.h"

namespace strata::query {
namespace {

using history::Interval;
using state::VcpuState;
using enum ColumnType;
using Row = IntervalTable::Row;

struct OneVm {
  Machine* machine;
  Tid process;
  int64_t vcpus = 0;
};

struct OneVcpu {
  Machine* machine;
  const state::Index::VcpuRows* vcpu;
  std::array<uint64_t, history::kStates> ns;
};

std::unique_ptr<Table> vm_table(Machines& machines) {
  using Parts = std::vector<ListTable<OneVm>::Part>;
  return std::make_unique<ListTable<OneVm>>(
      "vm", "the virtual machines that ran",
      Parts{{{"machine", Text, "the host's name"},
             [](const OneVm& one, Cell& cell) { cell.lasting_text(one.machine->name()); }},
            {{"vm", Text, "what it is called, or vm- and its process"},
             [](const OneVm& one, Cell& cell) {
               cell.text(one.machine->index().vm_name(one.process));
             }},
            {{"pid", Integer, "the process that emulates it"},
             [](const OneVm& one, Cell& cell) { show_tid(one.process, cell); }},
            {{"vcpus", Integer, "how many of its virtual CPUs were heard of"},
             [](const OneVm& one, Cell& cell) { cell.integer(one.vcpus); }}},
      [&machines] {
        return of_all_machines<OneVm>(machines, [](Machine& machine, std::vector<OneVm>& rows) {
          std::map<Tid, int64_t> vcpus;
          for (const state::Index::VcpuRows& vcpu : machine.index().vcpus()) ++vcpus[vcpu.process];
          for (const auto& [process, count] : vcpus) rows.push_back({&machine, process, count});
        });
      });
}

template <VcpuState kState>
void show_time(const OneVcpu& one, Cell& cell) {
  show_sum(one.ns, cell, kState);
}

std::unique_ptr<Table> vcpu_table(Machines& machines) {
  using Parts = std::vector<ListTable<OneVcpu>::Part>;
  return std::make_unique<ListTable<OneVcpu>>(
      "vcpu", "the virtual CPUs, and how long each was in which state, in ns",
      Parts{
          {{"machine", Text, "the host's name"},
           [](const OneVcpu& one, Cell& cell) { cell.lasting_text(one.machine->name()); }},
          {{"vm", Text, "its virtual machine"},
           [](const OneVcpu& one, Cell& cell) {
             cell.text(one.machine->index().vm_name(one.vcpu->process));
           }},
          {{"vcpu", Integer, "its number there"},
           [](const OneVcpu& one, Cell& cell) { cell.integer(one.vcpu->number); }},
          {{"tid", Integer, "the thread that it is on the host"},
           [](const OneVcpu& one, Cell& cell) { show_tid(one.vcpu->tid, cell); }},
          {{"guest_ns", Integer, "it ran the guest's code"}, show_time<VcpuState::Guest>},
          {{"hypervisor_ns", Integer, "the host's kernel handled an exit"},
           show_time<VcpuState::Hypervisor>},
          {{"user_ns", Integer, "the program that emulates the machine did"},
           show_time<VcpuState::UserSpace>},
          {{"halted_ns", Integer, "the guest had nothing to do"}, show_time<VcpuState::Halted>},
          {{"preempted_ns", Integer, "it could have run, but its CPU ran another"},
           show_time<VcpuState::Preempted>},
          {{"blocked_ns", Integer, "its thread waited for something"},
           show_time<VcpuState::Blocked>},
          {{"unknown_ns", Integer, "nobody told, or events were lost"},
           show_time<VcpuState::Unknown>},
      },
      [&machines] {
        return of_all_machines<OneVcpu>(machines, [](Machine& machine, std::vector<OneVcpu>& rows) {
          for (const state::Index::VcpuRows& vcpu : machine.index().vcpus())
            rows.push_back({&machine, &vcpu, machine.times(vcpu.state).ns});
        });
      });
}

std::vector<Subject> states_of_vcpus(Machine& machine) {
  std::vector<Subject> all;
  const auto& vcpus = machine.index().vcpus();
  for (state::VcpuIndex id = 0; id < vcpus.size(); ++id)
    all.push_back({&machine, id, int64_t{raw(vcpus[id].tid)}, vcpus[id].state});
  return all;
}

VcpuState state_of(const Row& row) {
  return row.span.state < state::kVcpuStates ? VcpuState{row.span.state} : VcpuState::Unknown;
}

const state::Index::VcpuRows& vcpu_of(const Row& row) {
  return row.subject.machine->index().vcpus()[row.subject.id];
}

const Column kTid{"tid", Integer, "the thread that it is on the host"};
const IntervalTable::Part kVm{
    {"vm", Text, "the virtual machine"}, [](const Row& row, Cell& cell) {
      cell.text(row.subject.machine->index().vm_name(vcpu_of(row).process));
    }};
const IntervalTable::Part kVcpu{
    {"vcpu", Integer, "the virtual CPU's number there"},
    [](const Row& row, Cell& cell) { cell.integer(vcpu_of(row).number); }};

void show_detail(const Row& row, Cell& cell) {
  state::Index& index = row.subject.machine->index();
  if (state_of(row) != VcpuState::Preempted) return show_name(index.name(row.span.info), cell);
  if (const Result<std::string> cause = index.cause_at(row.span.info, row.span.begin))
    show_name(*cause, cell);
}

std::unique_ptr<Table> vcpu_state_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "vcpu_state",
          .about = "what each virtual CPU was doing at every moment, seen from the host",
          .number = kTid,
          .parts = {kVm,
                    kVcpu,
                    {{"state", Text, "guest, hypervisor, ...: see the table vcpu"},
                     [](const Row& row, Cell& cell) { cell.lasting_text(name_of(state_of(row))); }},
                    {{"detail", Text, "which exit led there; who preempted it"}, show_detail}},
          .subjects = states_of_vcpus,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>([](const Interval&) { return true; });
          }});
}

RunOfIntervals::Part part_of_exit(const Interval& interval) {
  using Part = RunOfIntervals::Part;
  switch (static_cast<VcpuState>(interval.state)) {
    case VcpuState::Guest:
      return Part::Outside;
    case VcpuState::Hypervisor:  // without a reason it is the call that enters the guest
      return interval.info != state::kNoName ? Part::Begins : Part::Within;
    case VcpuState::UserSpace:
    case VcpuState::Halted:
    case VcpuState::Preempted:
    case VcpuState::Blocked:
      return Part::Within;
    default:
      return Part::Unknown;
  }
}

template <VcpuState kState>
void show_part(const Row& row, Cell& cell) {
  show_sum(row.span.ns, cell, kState);
}

std::unique_ptr<Table> vm_exit_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "vm_exit",
          .about = "exits of virtual CPUs, until the guest's code runs again",
          .number = kTid,
          .parts = {kVm,
                    kVcpu,
                    {{"reason", Text, "why it left the guest, in the processor's words"},
                     [](const Row& row, Cell& cell) {
                       show_name(row.subject.machine->index().name(row.span.info), cell);
                     }},
                    {{"hypervisor_ns", Integer, "how long the host's kernel handled it"},
                     show_part<VcpuState::Hypervisor>},
                    {{"user_ns", Integer, "how long the program that emulates the machine did"},
                     show_part<VcpuState::UserSpace>},
                    {{"halted_ns", Integer, "how long the guest had nothing to do"},
                     show_part<VcpuState::Halted>},
                    {{"preempted_ns", Integer, "how long its CPU ran another"},
                     show_part<VcpuState::Preempted>},
                    {{"blocked_ns", Integer, "how long its thread waited for something"},
                     show_part<VcpuState::Blocked>}},
          .subjects = states_of_vcpus,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<RunOfIntervals>(part_of_exit);
          },
          .is_run = true});
}

}  // namespace

std::vector<std::unique_ptr<Table>> vm_tables(Machines& machines) {
  std::vector<std::unique_ptr<Table>> all;
  all.push_back(vm_table(machines));
  all.push_back(vcpu_table(machines));
  all.push_back(vcpu_state_table(machines));
  all.push_back(vm_exit_table(machines));
  return all;
}

}  // namespace strata::query
