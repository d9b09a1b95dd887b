// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "query/state_cells.h"
#include "query/state_tables.h"

namespace strata::query {
namespace {

using history::Interval;
using state::TaskState;
using enum ColumnType;
using Row = IntervalTable::Row;

TaskState state_of(history::State state) {
  return state < state::kTaskStates ? TaskState{state} : TaskState::Unknown;
}

// How long threads ran, waited for a CPU, and were blocked, in ns.
struct Times {
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t blocked = 0;

  void add(const std::array<uint64_t, history::kStates>& ns) {
    for (size_t i = 0; i < state::kTaskStates; ++i) {
      const auto part = static_cast<int64_t>(ns[i]);
      const auto state = static_cast<TaskState>(i);
      if (is_running(state)) running += part;
      if (state == TaskState::WaitCpu) waiting += part;
      if (is_blocked(state)) blocked += part;
    }
  }
};

struct OneThread {
  Machine* machine;
  state::TaskId id;
  Times times;

  int64_t end() const { return machine->history().end(); }
};

struct OneProcess {
  Machine* machine;
  Tid pid;
  state::TaskId first;  // its first thread, by which it is called
  int64_t threads = 0;
  Times times = {};
};

void add_threads(Machine& machine, std::vector<OneThread>& rows) {
  const auto& tasks = machine.index().tasks();
  for (state::TaskId id = 0; id < tasks.size(); ++id) {
    if (tasks[id].tid == Tid{0}) continue;
    OneThread& one = rows.emplace_back(OneThread{&machine, id, {}});
    one.times.add(machine.times(tasks[id].state).ns);
  }
}

void add_processes(Machine& machine, std::vector<OneProcess>& rows) {
  std::vector<OneThread> threads;
  add_threads(machine, threads);
  std::map<Tid, size_t> places;
  for (const OneThread& thread : threads) {
    const Tid pid = machine.process(thread.id, thread.end());
    if (pid == kNoTid) continue;
    const auto [place, is_new] = places.try_emplace(pid, rows.size());
    if (is_new) rows.push_back({&machine, pid, thread.id});
    OneProcess& one = rows[place->second];
    if (machine.index().tasks()[thread.id].tid == pid) one.first = thread.id;
    ++one.threads;
    one.times.running += thread.times.running;
    one.times.waiting += thread.times.waiting;
    one.times.blocked += thread.times.blocked;
  }
}

std::unique_ptr<Table> thread_table(Machines& machines) {
  using Parts = std::vector<ListTable<OneThread>::Part>;
  return std::make_unique<ListTable<OneThread>>(
      "thread", "the threads that were heard of; one whose tid comes again is another row",
      Parts{
          {{"machine", Text, "the host's name"},
           [](const OneThread& one, Cell& cell) { cell.lasting_text(one.machine->name()); }},
          {{"tid", Integer, "its number"},
           [](const OneThread& one, Cell& cell) { show_task_tid(*one.machine, one.id, cell); }},
          {{"pid", Integer, "its process; NULL: not told"},
           [](const OneThread& one, Cell& cell) {
             show_tid(one.machine->process(one.id, one.end()), cell);
           }},
          {{"comm", Text, "what it was called last"},
           [](const OneThread& one, Cell& cell) {
             show_name(one.machine->task_name(one.id, one.end()), cell);
           }},
          {{"begin", Integer, "when it was made, or first heard of"},
           [](const OneThread& one, Cell& cell) {
             cell.integer(one.machine->index().tasks()[one.id].born);
           }},
          {{"running_ns", Integer, "how long it ran"},
           [](const OneThread& one, Cell& cell) { cell.integer(one.times.running); }},
          {{"waiting_ns", Integer, "how long it could have run, but its CPU did something else"},
           [](const OneThread& one, Cell& cell) { cell.integer(one.times.waiting); }},
          {{"blocked_ns", Integer, "how long it waited for something else"},
           [](const OneThread& one, Cell& cell) { cell.integer(one.times.blocked); }},
      },
      [&machines] { return of_all_machines<OneThread>(machines, add_threads); });
}

std::unique_ptr<Table> process_table(Machines& machines) {
  using Parts = std::vector<ListTable<OneProcess>::Part>;
  return std::make_unique<ListTable<OneProcess>>(
      "process", "the processes of threads of which the process was told",
      Parts{
          {{"machine", Text, "the host's name"},
           [](const OneProcess& one, Cell& cell) { cell.lasting_text(one.machine->name()); }},
          {{"pid", Integer, "its number"},
           [](const OneProcess& one, Cell& cell) { show_tid(one.pid, cell); }},
          {{"comm", Text, "what its first thread was called last"},
           [](const OneProcess& one, Cell& cell) {
             show_name(one.machine->task_name(one.first, one.machine->history().end()), cell);
           }},
          {{"threads", Integer, "how many threads of it were heard of"},
           [](const OneProcess& one, Cell& cell) { cell.integer(one.threads); }},
          {{"running_ns", Integer, "how long they ran, added up"},
           [](const OneProcess& one, Cell& cell) { cell.integer(one.times.running); }},
          {{"waiting_ns", Integer, "how long they waited for CPUs"},
           [](const OneProcess& one, Cell& cell) { cell.integer(one.times.waiting); }},
          {{"blocked_ns", Integer, "how long they waited for something else"},
           [](const OneProcess& one, Cell& cell) { cell.integer(one.times.blocked); }},
      },
      [&machines] { return of_all_machines<OneProcess>(machines, add_processes); });
}

std::vector<Subject> states_of_tasks(Machine& machine) {
  std::vector<Subject> all;
  const auto& tasks = machine.index().tasks();
  for (state::TaskId id = 0; id < tasks.size(); ++id)
    if (tasks[id].tid != Tid{0})
      all.push_back({&machine, id, int64_t{raw(tasks[id].tid)}, tasks[id].state});
  return all;
}

std::vector<Subject> cpus_of_tasks(Machine& machine) {
  std::vector<Subject> all;
  for (Subject& subject : states_of_tasks(machine)) {
    const std::optional<history::Row> cpu = machine.index().tasks()[subject.id].cpu;
    if (!cpu) continue;
    subject.row = *cpu;
    all.push_back(subject);
  }
  return all;
}

void show_own_pid(const Row& row, Cell& cell) {
  show_tid(row.subject.machine->process(row.subject.id, row.span.begin), cell);
}

void show_own_name(const Row& row, Cell& cell) {
  show_name(row.subject.machine->task_name(row.subject.id, row.span.begin), cell);
}

const Column kTid{"tid", Integer, "the thread"};
const IntervalTable::Part kPid{{"pid", Integer, "its process; NULL: not told"}, show_own_pid};
const IntervalTable::Part kComm{{"comm", Text, "the thread's name then"}, show_own_name};

void show_detail(const Row& row, Cell& cell) {
  state::Index& index = row.subject.machine->index();
  if (state_of(row.span.state) != TaskState::WaitCpu)
    return show_name(index.name(row.span.info), cell);
  if (const Result<std::string> cause = index.cause_at(row.span.info, row.span.begin))
    show_name(*cause, cell);
}

std::unique_ptr<Table> state_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "state",
          .about = "what each thread was doing at every moment",
          .number = kTid,
          .parts = {kPid,
                    kComm,
                    {{"state", Text,
                      "user, syscall, ...: it runs; wait-cpu, wait-disk, ...: it does not"},
                     [](const Row& row, Cell& cell) {
                       cell.lasting_text(name_of(state_of(row.span.state)));
                     }},
                    {{"detail", Text,
                      "which system call, interrupt, exit; who woke or preempted it"},
                     show_detail}},
          .subjects = states_of_tasks,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>([](const Interval&) { return true; });
          }});
}

RunOfIntervals::Part part_of_syscall(const Interval& interval) {
  using Part = RunOfIntervals::Part;
  const TaskState state = state_of(interval.state);
  if (state == TaskState::User) return Part::Outside;
  if (state == TaskState::Syscall) return Part::Begins;
  const bool goes_on = is_blocked(state) || state == TaskState::WaitCpu ||
                       state == TaskState::Stopped || state == TaskState::Trap ||
                       state == TaskState::Irq || state == TaskState::Softirq ||
                       state == TaskState::Virt;
  return goes_on ? Part::Within : Part::Unknown;
}

Times times_of(const Row& row) {
  Times times;
  times.add(row.span.ns);
  return times;
}

std::unique_ptr<Table> syscall_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "syscall",
          .about = "system calls, from entry to exit; those of which both were seen",
          .number = kTid,
          .parts = {kPid,
                    kComm,
                    {{"name", Text, "which"},
                     [](const Row& row, Cell& cell) {
                       show_name(row.subject.machine->index().name(row.span.info), cell);
                     }},
                    {{"running_ns", Integer, "how long the thread ran in it, interrupts included"},
                     [](const Row& row, Cell& cell) { cell.integer(times_of(row).running); }},
                    {{"waiting_ns", Integer, "how long it waited for a CPU in it"},
                     [](const Row& row, Cell& cell) { cell.integer(times_of(row).waiting); }},
                    {{"blocked_ns", Integer, "how long it waited for something else in it"},
                     [](const Row& row, Cell& cell) { cell.integer(times_of(row).blocked); }}},
          .subjects = states_of_tasks,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<RunOfIntervals>(part_of_syscall);
          },
          .is_run = true});
}

state::Cause cause_of(const Row& row) { return state::Cause::unpacked(row.span.info); }

bool is_wakeup(const Interval& interval) {
  return state_of(interval.state) == TaskState::WaitCpu &&
         state::Cause::unpacked(interval.info).context != state::WakeContext::Preempted;
}

void show_context(const Row& row, Cell& cell) {
  switch (cause_of(row).context) {
    case state::WakeContext::Irq:
      return cell.lasting_text("irq");
    case state::WakeContext::Softirq:
      return cell.lasting_text("softirq");
    case state::WakeContext::Task:
    case state::WakeContext::Preempted:
      return cell.lasting_text("task");
  }
}

std::unique_ptr<Table> wakeup_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "wakeup",
          .about = "who woke whom; its duration is how long the woken thread waited for a CPU",
          .number = {"tid", Integer, "the thread that was woken"},
          .parts = {kPid,
                    kComm,
                    {{"waker_tid", Integer, "who ran where it was woken; NULL: not known"},
                     [](const Row& row, Cell& cell) {
                       show_task_tid(*row.subject.machine, cause_of(row).task, cell);
                     }},
                    {{"waker_comm", Text, "that thread's name"},
                     [](const Row& row, Cell& cell) {
                       show_name(row.subject.machine->task_name(cause_of(row).task, row.span.begin),
                                 cell);
                     }},
                    {{"context", Text, "from where: task, irq, softirq"}, show_context}},
          .subjects = states_of_tasks,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>(is_wakeup);
          }});
}

std::unique_ptr<Table> migration_table(Machines& machines) {
  return std::make_unique<IntervalTable>(
      machines,
      IntervalTable::Plan{
          .name = "migration",
          .about = "a thread moved to another CPU; its duration is how long it stayed there",
          .number = kTid,
          .parts = {kPid,
                    kComm,
                    {{"from_cpu", Integer, "from where"},
                     [](const Row& row, Cell& cell) { cell.integer(row.span.before); }},
                    {{"to_cpu", Integer, "to where"},
                     [](const Row& row, Cell& cell) { cell.integer(row.span.info); }},
                    {{"cause", Text, "why: wakeup, balance, affinity"},
                     [](const Row& row, Cell& cell) {
                       cell.lasting_text(
                           name_of(static_cast<state::MigrationCause>(row.span.state)));
                     }}},
          .subjects = cpus_of_tasks,
          .shape = []() -> std::unique_ptr<Shape> {
            return std::make_unique<EachInterval>([](const Interval& interval) {
              return interval.state != 0 &&
                     interval.state < static_cast<uint8_t>(state::MigrationCause::Count_);
            });
          }});
}

}  // namespace

std::vector<std::unique_ptr<Table>> task_tables(Machines& machines) {
  std::vector<std::unique_ptr<Table>> all;
  all.push_back(process_table(machines));
  all.push_back(thread_table(machines));
  all.push_back(state_table(machines));
  all.push_back(syscall_table(machines));
  all.push_back(wakeup_table(machines));
  all.push_back(migration_table(machines));
  return all;
}

}  // namespace strata::query
