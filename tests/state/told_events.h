// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "state/engine.h"
#include "trace/event_type.h"

namespace strata::state {

// An engine, and events for it as ftrace would write them: each field 8 bytes wide, names 16. Those
// without a system have LTTng's names.
class Told {
 public:
  explicit Told(int64_t begin = 0, IndexWriter* index = nullptr) : engine(begin, index) {}

  // From now on events happen then, there, and in this thread; kNoTid: they do not tell in which.
  Told& at(int64_t time, uint32_t cpu, int32_t tid) {
    time_ = time;
    cpu_ = cpu;
    tid_ = tid;
    return *this;
  }
  // The next event comes after so many that were lost.
  Told& lost(uint64_t events = 1) {
    lost_ = events;
    return *this;
  }

  struct Value {
    std::string_view name;
    int64_t number = 0;
    std::string_view text = {};
  };
  Told& event(const std::string& system, const std::string& name,
              const std::vector<Value>& values = {}) {
    const trace::EventType& type = type_of(system, name, values);
    std::vector<std::byte> record(type.fields.back().offset + type.fields.back().size);
    put(record, 0, tid_);
    for (size_t i = 0; i < values.size(); ++i) {
      const trace::Field& field = type.fields[i + 1];
      if (field.kind == trace::ValueKind::Text)
        std::memcpy(record.data() + field.offset, values[i].text.data(),
                    std::min<size_t>(values[i].text.size(), 15));
      else
        put(record, field.offset, values[i].number);
    }
    trace::Event event;
    event.type = &type;
    event.record = record;
    event.time = Nanoseconds{time_};
    event.cpu = CpuId{cpu_};
    event.lost = std::exchange(lost_, 0);
    if (before) before(event);
    engine.take(event);
    return *this;
  }

  Told& switches(int32_t prev, int64_t prev_state, int32_t next, std::string_view next_name = "t") {
    return event("sched", "sched_switch",
                 {{"prev_comm", 0, "t"},
                  {"prev_pid", prev},
                  {"prev_state", prev_state},
                  {"next_comm", 0, next_name},
                  {"next_pid", next}});
  }
  Told& wakes(int32_t tid) {
    return event("sched", "sched_waking", {{"comm", 0, "t"}, {"pid", tid}});
  }
  Told& calls(const std::string& syscall) {
    return event("syscalls", "sys_enter_" + syscall, {{"__syscall_nr", 0}});
  }
  Told& returns(const std::string& syscall) {
    return event("syscalls", "sys_exit_" + syscall, {{"ret", 0}});
  }

  // The starting state: of which process a thread is.
  Told& state_of_task(int32_t tid, int32_t pid) {
    return event("", "lttng_statedump_process_state", {{"tid", tid}, {"pid", pid}});
  }

  const Task& task(int32_t tid) const { return engine.tasks()[engine.tasks().find(Tid{tid})]; }
  uint64_t task_ns(int32_t tid, TaskState state) const {
    return task(tid).ns[static_cast<size_t>(state)];
  }
  uint64_t cpu_ns(uint32_t cpu, Mode mode) const {
    return engine.cpus()[cpu].ns[static_cast<size_t>(mode)];
  }
  // All time that was charged to a task in a mode and submode, on whichever CPU.
  Slot sum(int32_t tid, Mode mode, std::string_view submode = "") const {
    Slot sum;
    for (const Slot& slot : engine.statistics().slots()) {
      const bool of_task = tid == raw(kNoTid)
                               ? slot.task == kNoTask
                               : slot.task != kNoTask && engine.tasks()[slot.task].tid == Tid{tid};
      if (!of_task || slot.mode != mode || engine.names().text(slot.submode) != submode) continue;
      sum.cpu_ns += slot.cpu_ns;
      sum.elapsed_ns += slot.elapsed_ns;
      sum.cumulative_ns += slot.cumulative_ns;
    }
    return sum;
  }

  // Sees each event before the engine does.
  std::function<void(const trace::Event&)> before;
  Engine engine;

 private:
  static void put(std::vector<std::byte>& record, size_t offset, int64_t value) {
    std::memcpy(record.data() + offset, &value, sizeof value);
  }
  const trace::EventType& type_of(const std::string& system, const std::string& name,
                                  const std::vector<Value>& values) {
    std::unique_ptr<trace::EventType>& type = types_[system + ':' + name];
    if (type) return *type;
    type = std::make_unique<trace::EventType>();
    type->system = system;
    type->name = name;
    uint32_t offset = 0;
    const auto add = [&](std::string_view field, bool is_text) {
      const uint32_t size = is_text ? 16 : 8;
      type->fields.push_back({std::string(field), "", offset, size, is_text ? 1u : 8u,
                              trace::Location::InPlace,
                              is_text ? trace::ValueKind::Text : trace::ValueKind::Integer, true});
      offset += size;
    };
    add("common_pid", false);
    for (const Value& value : values) add(value.name, !value.text.empty());
    type->tid = type->ref("common_pid");
    type->meaning =
        trace::bind(system.empty() ? trace::Tracer::Lttng : trace::Tracer::Ftrace, *type);
    return *type;
  }

  std::map<std::string, std::unique_ptr<trace::EventType>> types_;
  int64_t time_ = 0;
  uint32_t cpu_ = 0;
  int32_t tid_ = -1;
  uint64_t lost_ = 0;
};

}  // namespace strata::state
