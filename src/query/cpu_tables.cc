// SPDX-License-Identifier: Apache-2.0
#include "query/state_cells.h"
#include "query/state_tables.h"

namespace strata::query {
namespace {

using history::Interval;
using state::Mode;
using enum ColumnType;

Mode mode_of(history::State state) { return state < state::kModes ? Mode{state} : Mode::Unknown; }

struct OneCpu {
  Machine* machine;
  state::CpuIndex cpu;
  std::array<uint64_t, history::kStates> ns;
};

template <Mode kMode>
void show_time(const OneCpu& one, Cell& cell) {
  show_sum(one.ns, cell, kMode);
}

std::unique_ptr<Table> cpu_table(Machines& machines) {
  using Parts = std::vector<ListTable<OneCpu>::Part>;
  return std::make_unique<ListTable<OneCpu>>(
      "cpu", "the CPUs, and how long each was in which mode, in ns",
      Parts{
          {{"machine", Text, "the host's name"},
           [](const OneCpu& one, Cell& cell) { cell.lasting_text(one.machine->name()); }},
          {{"cpu", Integer, "its number"},
           [](const OneCpu& one, Cell& cell) { cell.integer(one.cpu); }},
          {{"unknown_ns", Integer, "nobody told, or events were lost"}, show_time<Mode::Unknown>},
          {{"idle_ns", Integer, "it had nothing to do"}, show_time<Mode::Idle>},
          {{"user_ns", Integer, "programs' own code"}, show_time<Mode::User>},
          {{"syscall_ns", Integer, "the kernel, on a program's behalf"}, show_time<Mode::Syscall>},
          {{"trap_ns", Integer, "the kernel, at a page fault or the like"}, show_time<Mode::Trap>},
          {{"irq_ns", Integer, "interrupts"}, show_time<Mode::Irq>},
          {{"softirq_ns", Integer, "what interrupts left to be done"}, show_time<Mode::Softirq>},
          {{"virt_ns", Integer, "guests' code"}, show_time<Mode::Virt>},
          {{"kernel_ns", Integer, "threads of the kernel's own"}, show_time<Mode::Kernel>},
      },
      [&machines] {
        return of_all_machines<OneCpu>(machines, [](Machine& machine, std::vector<OneCpu>& rows) {
          for (const auto& [cpu, of_cpu] : machine.index().cpus())
            rows.push_back({&machine, cpu, machine.times(of_cpu.mode).ns});
        });
      });
}

std::vector<Subject> modes_of_cpus(Machine& machine) {
  std::vector<Subject> all;
  for (const auto& [cpu, rows] : machine.index().cpus())
    all.push_back({&machine, cpu, int64_t{cpu}, rows.mode});
  return all;
}

std::vector<Subject> tasks_of_cpus(Machine& machine) {
  std::vector<Subject> all;
  for (const auto& [cpu, rows] : machine.index().cpus())
    all.push_back({&machine, cpu, int64_t{cpu}, rows.task});
  return all;
}

void show_mode(const IntervalTable::Row& row, Cell& cell) {
  cell.lasting_text(name_of(mode_of(row.span.state)));
}

void show_submode(const IntervalTable::Row& row, Cell& cell) {
  show_name(row.subject.machine->index().name(row.span.info), cell);
}

// The task's number is kept plus 1.
state::TaskId task_of(const IntervalTable::Row& row) { return row.span.info - 1; }

std::unique_ptr<Table> cpu_state_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "cpu_state",
          .about = "what each CPU was doing at every moment",
          .number = {"cpu", Integer, "the CPU"},
          .parts = {{{"mode", Text,
                      "IDLE, USER, SYSCALL, TRAP, IRQ, SOFTIRQ, VIRT, KERNEL; UNKNOWN"},
                     show_mode},
                    {{"submode", Text, "which system call, interrupt, exit"}, show_submode}},
          .subjects = modes_of_cpus,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>([](const Interval&) { return true; });
          }});
}

std::unique_ptr<Table> irq_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "irq",
          .about = "interrupts and softirqs; one that is interrupted itself is several rows",
          .number = {"cpu", Integer, "the CPU"},
          .parts = {{{"mode", Text, "IRQ or SOFTIRQ"}, show_mode},
                    {{"name", Text, "which line, or vector"}, show_submode}},
          .subjects = modes_of_cpus,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>(
                [](const Interval& interval) { return is_interrupt(mode_of(interval.state)); });
          }});
}

std::unique_ptr<Table> sched_slice_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "sched_slice",
          .about = "from when to when a CPU ran a thread, the idle task included",
          .number = {"cpu", Integer, "the CPU"},
          .parts = {{{"tid", Integer, "the thread; 0: idle"},
                     [](const IntervalTable::Row& row, Cell& cell) {
                       show_task_tid(*row.subject.machine, task_of(row), cell);
                     }},
                    {{"pid", Integer, "its process; NULL: not told"},
                     [](const IntervalTable::Row& row, Cell& cell) {
                       show_tid(row.subject.machine->process(task_of(row), row.span.begin), cell);
                     }},
                    {{"comm", Text, "the thread's name then"},
                     [](const IntervalTable::Row& row, Cell& cell) {
                       show_name(row.subject.machine->task_name(task_of(row), row.span.begin),
                                 cell);
                     }}},
          .subjects = tasks_of_cpus,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>(
                [](const Interval& interval) { return interval.info != 0; });
          }});
}

}  // namespace

std::vector<std::unique_ptr<Table>> cpu_tables(Machines& machines) {
  std::vector<std::unique_ptr<Table>> all;
  all.push_back(cpu_table(machines));
  all.push_back(cpu_state_table(machines));
  all.push_back(sched_slice_table(machines));
  all.push_back(irq_table(machines));
  return all;
}

}  // namespace strata::query
