// SPDX-License-Identifier: Apache-2.0
//
// Events in an order that no kernel would write: whatever comes, every nanosecond is charged once.
#include <cstdlib>
#include <numeric>

#include "state/period_cutter.h"
#include "state/period_sums.h"
#include "state/told_events.h"

namespace {

using namespace strata::state;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  uint8_t next() { return empty() ? 0 : *at_++; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// Calls of descriptors, and what the starting state tells of them.
void tell_files(Told& told, Input& input, int64_t value) {
  constexpr const char* kCalls[] = {"clone", "close",    "close_range", "dup2",   "fcntl",
                                    "open",  "pwrite64", "sendfile64",  "socket", "unshare"};
  const std::string call = kCalls[static_cast<size_t>(value) % std::size(kCalls)];
  const auto fd = [&] { return static_cast<int64_t>(input.next() % 8) - 1; };
  switch (input.next() % 4) {
    case 0:
      return (void)told.event("syscalls", "sys_enter_" + call,
                              {{"__syscall_nr", 0}, {"a", fd()}, {"b", fd()}, {"c", fd() * 512}});
    case 1:
      return (void)told.event("syscalls", "sys_exit_" + call, {{"ret", fd()}});
    case 2:
      return (void)told.event("", "lttng_statedump_process_state",
                              {{"tid", value % 16},
                               {"pid", value / 16},
                               {"name", 0, "t"},
                               {"file_table_address", input.next() % 4}});
    default:
      return (void)told.event("", "lttng_statedump_file_descriptor",
                              {{"pid", value % 16 - 1},
                               {"file_table_address", input.next() % 4},
                               {"fd", fd()},
                               {"filename", 0, "pipe:[1]"}});
  }
}

void tell_devices(Told& told, Input& input, int64_t value) {
  constexpr const char* kBlock[] = {
      "block_bio_queue", "block_bio_backmerge", "block_bio_frontmerge", "block_bio_remap",
      "block_rq_insert", "block_rq_issue",      "block_rq_complete"};
  if (value < 32)
    return (void)told.event("kmem", "rss_stat",
                            {{"mm_id", input.next() % 4},
                             {"curr", value % 2},
                             {"member", input.next() % 5},
                             {"size", (input.next() - 100) * (int64_t{1} << 55)}});
  told.event("block", kBlock[static_cast<size_t>(value) % std::size(kBlock)],
             {{"dev", input.next() % 2},
              {"sector", input.next() % 32 - 4},
              {"nr_sector", input.next() % 8},
              {"old_dev", input.next() % 2},
              {"old_sector", input.next() % 32}});
}

// Cuts what is told into periods, and adds them up again.
class Cutting {
 public:
  explicit Cutting(Told& told) : told_(told), cutter_(told.engine, told.engine.begin()) {
    told.before = [this](const strata::trace::Event& event) { cutter_.count(event); };
    sum_.begin = sum_.end = told.engine.begin();
  }
  void cut() {
    strata::period::Table table{.begin = sum_.end, .end = told_.engine.now()};
    table.machines.push_back(cutter_.cut(table.end, "m"));
    if (!sum_.append(table)) std::abort();
  }
  void check() const {
    const PeriodSums sums(sum_.machines.at(0), told_.engine);
    if (sums.difference().empty()) return;
    std::fprintf(stderr, "%s\n", sums.difference().c_str());
    std::abort();
  }

 private:
  Told& told_;
  PeriodCutter cutter_;
  strata::period::Table sum_;
};

void tell(Told& told, Input& input, Cutting& cutting) {
  const int64_t value = input.next();
  const auto tid = static_cast<int32_t>(value % 16);
  switch (input.next() % 24) {
    case 0:
      return (void)told.switches(static_cast<int32_t>(input.next() % 16), input.next(), tid);
    case 1:
      return (void)told.wakes(tid);
    case 2:
      return (void)told.calls(value % 2 == 0 ? "read" : "sched_setaffinity");
    case 3:
      return (void)told.returns("read");
    case 4:
      return (void)told.event("irq", "irq_handler_entry", {{"irq", value}, {"name", 0, "disk"}});
    case 5:
      return (void)told.event("irq", "irq_handler_exit", {{"irq", value}});
    case 6:
      return (void)told.event("irq", "softirq_entry", {{"vec", value}});
    case 7:
      return (void)told.event("irq", "softirq_exit", {{"vec", value}});
    case 8:
      return (void)told.event("kvm", "kvm_entry", {{"vcpu_id", value}});
    case 9:
      return (void)told.event("kvm", "kvm_exit",
                              {{"vcpu_id", value}, {"exit_reason", input.next()}, {"isa", 1}});
    case 10:
      return (void)told.event("task", "task_newtask",
                              {{"pid", tid}, {"comm", 0, "t"}, {"clone_flags", value << 12}});
    case 11:
      return (void)told.event("sched", "sched_process_exit", {{"pid", tid}, {"comm", 0, "t"}});
    case 12:
      return (void)told.event("sched", "sched_process_free", {{"pid", tid}, {"comm", 0, "t"}});
    case 13:
      return (void)told.event("sched", "sched_process_exec", {{"pid", tid}});
    case 14:
      return (void)told.event("sched", "sched_migrate_task",
                              {{"pid", tid}, {"orig_cpu", 0}, {"dest_cpu", value}});
    case 15:
      return (void)told.event("power", "cpu_idle",
                              {{"state", value - 1}, {"cpu_id", input.next()}});
    case 16:
      return (void)told.event("power", "cpu_frequency",
                              {{"state", value}, {"cpu_id", input.next()}});
    case 17:
      return (void)told.event("exceptions", "page_fault_user", {{"address", value}});
    case 18:
      return (void)told.event("task", "task_rename",
                              {{"pid", tid}, {"oldcomm", 0, "a"}, {"newcomm", 0, "kworker/0"}});
    case 19:
      return (void)told.event("raw_syscalls", "sys_enter", {{"id", value << (value % 50)}});
    case 20:
      // Periods end where everything is settled.
      told.engine.settle_all(told.engine.now() + value);
      return cutting.cut();
    case 21:
      return tell_files(told, input, value);
    case 22:
      return tell_devices(told, input, value);
    default:
      return (void)told.event("irq_vectors", "local_timer_entry", {{"vector", value}});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Told told(1000);
  Cutting cutting(told);
  int64_t time = 1000;
  while (!input.empty()) {
    const uint8_t where = input.next();
    time += static_cast<int8_t>(input.next());
    if (where >= 0xf0) told.lost();
    told.at(time, where % 4, static_cast<int32_t>(where / 4 % 16) - 1);
    tell(told, input, cutting);
    if (where % 8 == 0) cutting.cut();
  }
  const Engine& engine = told.engine;
  told.engine.settle_all(engine.now());
  cutting.cut();
  cutting.check();
  const auto span = static_cast<uint64_t>(engine.now() - engine.begin());
  uint64_t all = 0;
  for (const Cpu& cpu : engine.cpus()) {
    const uint64_t sum = std::accumulate(cpu.ns.begin(), cpu.ns.end(), uint64_t{0});
    if (cpu.is_there && sum != span) std::abort();
    all += sum;
  }
  for (const Slot& slot : engine.statistics().slots()) all -= slot.cpu_ns;
  if (all != 0) std::abort();
  for (const Task& task : engine.tasks()) {
    const uint64_t sum = std::accumulate(task.ns.begin(), task.ns.end(), uint64_t{0});
    if (sum != static_cast<uint64_t>(engine.now() - task.born)) std::abort();
  }
  return 0;
}
