// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/period.h"
#include "cli/terminal.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::Engine;
using state::Task;
using state::TaskId;
using state::TaskState;
using state::VcpuState;

// The tasks of a machine as a tree: processes below whoever made them, threads below their process.
class Tree {
 public:
  Tree(const Engine& engine, bool threads, bool ended) : engine_(engine) {
    std::map<Tid, TaskId> by_tid;
    for (TaskId id = 0; id < engine.tasks().size(); ++id) {
      const Task& task = engine.tasks()[id];
      if (task.is_idle_task() || (task.state == TaskState::Dead && !ended)) continue;
      if (!threads && task.tgid != kNoTid && task.tgid != task.tid) continue;
      by_tid[task.tid] = id;
    }
    for (const auto& [tid, id] : by_tid) {
      const Task& task = engine.tasks()[id];
      const bool is_thread = task.tgid != kNoTid && task.tgid != tid;
      const auto above = by_tid.find(is_thread ? task.tgid : task.parent);
      if (above == by_tid.end() || above->second == id)
        roots_.push_back(id);
      else
        children_[above->second].push_back(id);
    }
  }

  // Parents before their children, with how deep they are.
  template <typename F>
  void each(F&& visit) const {
    std::vector<bool> seen(engine_.tasks().size());
    for (const TaskId id : roots_) walk(id, 0, seen, visit);
    // Those that are each other's ancestors, by ids that were given anew.
    for (const auto& [id, below] : children_)
      if (!seen[id]) walk(id, 0, seen, visit);
  }

 private:
  template <typename F>
  void walk(TaskId id, size_t depth, std::vector<bool>& seen, F&& visit) const {
    if (seen[id] || depth > kDeepest) return;
    seen[id] = true;
    visit(id, depth);
    if (const auto below = children_.find(id); below != children_.end())
      for (const TaskId child : below->second) walk(child, depth + 1, seen, visit);
  }
  static constexpr size_t kDeepest = 200;

  const Engine& engine_;
  std::vector<TaskId> roots_;
  std::map<TaskId, std::vector<TaskId>> children_;
};

// What performance counters counted while the task ran, by their names.
std::map<std::string, uint64_t> counters_of(const Engine& engine, TaskId id) {
  std::map<std::string, uint64_t> counters;
  const std::vector<uint64_t> counts = engine.counters().of(id);
  for (size_t i = 0; i < counts.size(); ++i) counters[engine.counters().names()[i]] = counts[i];
  return counters;
}

// Of the task's cgroup, where that has a CPU limit: it is no sum of its tasks' waiting.
std::optional<uint64_t> throttled_ns(const Engine& engine, const Task& task) {
  const state::Owner* owner = engine.owner(task.tgid);
  if (owner == nullptr) return std::nullopt;
  const auto& cgroups = engine.throttling().cgroups();
  const auto found = cgroups.find(owner->cgroup);
  return found == cgroups.end() ? std::nullopt : std::optional(found->second.throttled_ns);
}

std::string number_text(Tid tid) { return tid == kNoTid ? "" : std::to_string(raw(tid)); }

uint64_t ns_in(const Task& task, TaskState state) { return task.ns[static_cast<size_t>(state)]; }

uint64_t blocked_ns(const Task& task) {
  uint64_t ns = 0;
  for (size_t state = 0; state < state::kTaskStates; ++state)
    if (is_blocked(TaskState(state))) ns += task.ns[state];
  return ns;
}

std::string ms_text(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e6);
  return text;
}

// Of the time in which a guest had its tasks on CPUs, what its host tells of it.
class HostView {
 public:
  HostView(const state::Pass& pass, size_t machine) : fusion_(pass.fusion()), machine_(machine) {}

  bool is_there() const { return fusion_ != nullptr && fusion_->is_guest(machine_); }
  state::VcpuTimes times(TaskId id) const { return fusion_->task_times(machine_, id); }
  uint64_t preempted_ns(TaskId id) const {
    return times(id)[static_cast<size_t>(VcpuState::Preempted)];
  }
  uint64_t hypervisor_ns(TaskId id) const {
    const state::VcpuTimes ns = times(id);
    return ns[static_cast<size_t>(VcpuState::Hypervisor)] +
           ns[static_cast<size_t>(VcpuState::UserSpace)];
  }

 private:
  const state::Fusion* fusion_;
  size_t machine_;
};

void put_text(const Engine& engine, const HostView& host, const PsArguments& arguments,
              const Style& style, TextBuffer& out) {
  std::vector<std::string> headings = {
      "name",   "pid",        "tid",        "state",  "user",  "container",          "vm",
      "CPU ms", "waiting ms", "blocked ms", "faults", "major", "cgroup throttled ms"};
  std::ranges::copy(engine.counters().names(), std::back_inserter(headings));
  if (host.is_there()) {
    headings.emplace_back("preempted ms");
    headings.emplace_back("hypervisor ms");
  }
  Table table(std::move(headings));
  for (size_t column = 3; column < 7; ++column) table.align_left(column);
  Tree(engine, arguments.threads, arguments.all).each([&](TaskId id, size_t depth) {
    const Task& task = engine.tasks()[id];
    const state::Owner* owner = engine.owner(task.tgid);
    std::string vm;
    if (task.vcpu != state::kNoVcpu) {
      const state::Vcpu& vcpu = engine.vms().vcpus()[task.vcpu];
      vm = engine.vm_name(vcpu.vm) + '/' + std::to_string(vcpu.number);
    }
    std::vector<std::string> cells = {
        std::string(2 * depth, ' ') + engine.names().text(task.name),
        number_text(task.tgid),
        number_text(task.tid),
        std::string(name_of(task.state)),
        owner != nullptr && owner->user ? std::to_string(*owner->user) : "",
        owner != nullptr ? engine.names().text(owner->container) : "",
        vm,
        ms_text(task.cpu_ns),
        ms_text(ns_in(task, TaskState::WaitCpu)),
        ms_text(blocked_ns(task)),
        grouped(task.faults),
        grouped(task.major_faults)};
    const std::optional<uint64_t> throttled = throttled_ns(engine, task);
    cells.push_back(throttled ? ms_text(*throttled) : std::string());
    for (const uint64_t count : engine.counters().of(id)) cells.push_back(grouped(count));
    if (host.is_there()) {
      cells.push_back(ms_text(host.preempted_ns(id)));
      cells.push_back(ms_text(host.hypervisor_ns(id)));
    }
    table.add(std::move(cells));
  });
  table.put(style, 0, out);
}

// Of processes, since threads share theirs: calls `visit` with each descriptor and its file.
template <typename F>
void each_descriptor(const Engine& engine, TaskId id, F&& visit) {
  const Task& task = engine.tasks()[id];
  if (task.tgid != kNoTid && task.tgid != task.tid) return;
  const state::Descriptors& all = engine.descriptors();
  for (const state::Descriptor& one : all.of(id))
    visit(one, all.files().files()[all.files()[one.open].file]);
}

std::string_view maker_of(const state::Descriptor& descriptor) {
  return descriptor.made_by == nullptr ? "" : descriptor.made_by->name;
}

void put_files(const Engine& engine, const PsArguments& arguments, const Style& style,
               TextBuffer& out) {
  Table table({"name", "pid", "fd", "kind", "leads to", "reads", "bytes read", "writes",
               "bytes written", "opened by", "exec closes"});
  for (const size_t column : {3u, 4u, 9u, 10u}) table.align_left(column);
  Tree(engine, false, arguments.all).each([&](TaskId id, size_t) {
    const Task& task = engine.tasks()[id];
    each_descriptor(engine, id, [&](const state::Descriptor& one, const state::File& file) {
      table.add({engine.names().text(task.name), number_text(task.tid), std::to_string(one.fd),
                 std::string(name_of(file.kind)), engine.names().text(file.name),
                 grouped(one.traffic.reads), grouped(one.traffic.read_bytes),
                 grouped(one.traffic.writes), grouped(one.traffic.written_bytes),
                 std::string(maker_of(one)), one.close_on_exec ? "yes" : ""});
    });
  });
  table.put(style, 0, out);
}

Json files_of(const Engine& engine, TaskId id) {
  Json files = Json::array();
  each_descriptor(engine, id, [&](const state::Descriptor& one, const state::File& file) {
    files.push_back({{"fd", one.fd},
                     {"kind", name_of(file.kind)},
                     {"name", engine.names().text(file.name)},
                     {"inode", file.inode == 0 ? Json() : Json(file.inode)},
                     {"reads", one.traffic.reads},
                     {"read_bytes", one.traffic.read_bytes},
                     {"writes", one.traffic.writes},
                     {"written_bytes", one.traffic.written_bytes},
                     {"opened_by", maker_of(one)},
                     {"since_ns", one.since},
                     {"close_on_exec", one.close_on_exec}});
  });
  return files;
}

Json json_of(const std::string& machine, const Engine& engine, const HostView& host,
             const PsArguments& arguments) {
  Json json = {{"machine", machine}, {"time_ns", engine.now()}};
  Json& tasks = json["tasks"] = Json::array();
  Tree(engine, arguments.threads, arguments.all).each([&](TaskId id, size_t) {
    const Task& task = engine.tasks()[id];
    const auto number = [](Tid tid) { return tid == kNoTid ? Json() : Json(raw(tid)); };
    const state::Owner* owner = engine.owner(task.tgid);
    Json states = Json::object();
    for (size_t state = 0; state < state::kTaskStates; ++state)
      if (task.ns[state] != 0) states[std::string(name_of(TaskState(state)))] = task.ns[state];
    tasks.push_back({{"tid", number(task.tid)},
                     {"pid", number(task.tgid)},
                     {"parent", number(task.parent)},
                     {"comm", engine.names().text(task.name)},
                     {"state", name_of(task.state)},
                     {"user", owner != nullptr && owner->user ? Json(*owner->user) : Json()},
                     {"container", owner != nullptr ? engine.names().text(owner->container) : ""},
                     {"cgroup", owner != nullptr ? engine.names().text(owner->cgroup) : ""},
                     {"cpu_ns", task.cpu_ns},
                     {"state_ns", states},
                     {"faults", task.faults},
                     {"major_faults", task.major_faults},
                     {"migrations", task.migrations},
                     {"wakeups", task.wakeups}});
    if (const auto throttled = throttled_ns(engine, task))
      tasks.back()["cgroup_throttled_ns"] = *throttled;
    if (!engine.counters().names().empty()) tasks.back()["counters"] = counters_of(engine, id);
    if (task.vcpu != state::kNoVcpu) {
      const state::Vcpu& vcpu = engine.vms().vcpus()[task.vcpu];
      tasks.back()["vm"] = engine.vm_name(vcpu.vm);
      tasks.back()["vcpu"] = vcpu.number;
    }
    if (arguments.files) tasks.back()["files"] = files_of(engine, id);
    if (!host.is_there()) return;
    Json& really = tasks.back()["really_ns"] = Json::object();
    const state::VcpuTimes times = host.times(id);
    for (size_t state = 0; state < state::kVcpuStates; ++state)
      if (times[state] != 0) really[std::string(name_of(VcpuState(state)))] = times[state];
  });
  return json;
}

}  // namespace

int run(const PsArguments& arguments) {
  return ask(
      arguments.paths,
      [&](const Traces& traces, state::Pass& pass) {
        return resolve("--at", arguments.at, traces, Side::End, pass.end);
      },
      [&](const state::Pass& pass, TextBuffer& out) {
        Json machines = Json::array();
        for (size_t i = 0; i < pass.machines().size(); ++i) {
          const state::Machine& machine = pass.machines()[i];
          const HostView host(pass, i);
          if (arguments.json) {
            machines.push_back(json_of(machine.name, *machine.engine, host, arguments));
            continue;
          }
          const Style style(STDOUT_FILENO);
          if (pass.machines().size() > 1) out.put(style.heading(machine.name) + '\n');
          if (arguments.files)
            put_files(*machine.engine, arguments, style, out);
          else
            put_text(*machine.engine, host, arguments, style, out);
        }
        if (arguments.json) put_json_object({{"machines", machines}}, out);
      });
}

}  // namespace strata::cli
