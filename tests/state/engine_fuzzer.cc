// SPDX-License-Identifier: Apache-2.0
//
// Events in an order that no kernel would write: whatever comes, every nanosecond is charged once.
#include <cstdlib>
#include <numeric>

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

void tell(Told& told, Input& input) {
  const int64_t value = input.next();
  const auto tid = static_cast<int32_t>(value % 16);
  switch (input.next() % 22) {
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
      return told.engine.settle_all(told.engine.now() + value);
    default:
      return (void)told.event("irq_vectors", "local_timer_entry", {{"vector", value}});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Told told(1000);
  int64_t time = 1000;
  while (!input.empty()) {
    const uint8_t where = input.next();
    time += static_cast<int8_t>(input.next());
    if (where >= 0xf0) told.lost();
    told.at(time, where % 4, static_cast<int32_t>(where / 4 % 16) - 1);
    tell(told, input);
  }
  const Engine& engine = told.engine;
  told.engine.settle_all(engine.now());
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
