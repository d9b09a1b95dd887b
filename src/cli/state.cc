// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/period.h"
#include "cli/terminal.h"
#include "state/snapshot.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::Engine;
using state::Snapshot;

std::string ago(int64_t now, int64_t since) { return duration_text(Nanoseconds{now - since}); }

std::string task_text(const Engine& engine, state::TaskId id) {
  if (id == state::kNoTask) return "";
  const state::Task& task = engine.tasks()[id];
  return engine.names().text(task.name) + ' ' + std::to_string(raw(task.tid));
}

bool is_worth_showing(const state::TaskAt& task) {
  return task.state != state::TaskState::Unknown && task.state != state::TaskState::Dead;
}

void put_text(const Engine& engine, const Snapshot& all, bool everything, const Style& style,
              TextBuffer& out) {
  Table cpus({"cpu", "mode", "in", "task", "for"});
  for (size_t column = 1; column < 4; ++column) cpus.align_left(column);
  for (const state::CpuAt& cpu : all.cpus)
    cpus.add({std::to_string(cpu.cpu), std::string(name_of(cpu.mode)), cpu.submode,
              task_text(engine, cpu.task), ago(engine.now(), cpu.since)});
  cpus.put(style, 0, out);

  Table vcpus({"vm", "vcpu", "state", "because", "for"});
  for (size_t column = 2; column < 4; ++column) vcpus.align_left(column);
  for (const state::VcpuAt& vcpu : all.vcpus)
    vcpus.add({engine.vm_name(engine.vms().vcpus()[vcpu.vcpu].vm), std::to_string(vcpu.number),
               std::string(name_of(vcpu.state)), vcpu.detail, ago(engine.now(), vcpu.since)});
  if (!vcpus.empty()) {
    out.put('\n');
    vcpus.put(style, 0, out);
  }

  Table tasks({"task", "tid", "pid", "state", "in", "for"});
  for (size_t column = 3; column < 5; ++column) tasks.align_left(column);
  size_t hidden = 0;
  for (const state::TaskAt& task : all.tasks) {
    if (!everything && !is_worth_showing(task)) {
      ++hidden;
      continue;
    }
    tasks.add({task.name, std::to_string(raw(task.tid)),
               task.pid == kNoTid ? "" : std::to_string(raw(task.pid)),
               std::string(name_of(task.state)), task.detail, ago(engine.now(), task.since)});
  }
  if (!tasks.empty()) {
    out.put('\n');
    tasks.put(style, 0, out);
  }
  if (hidden > 0)
    out.put("and " + grouped(hidden) + " that ended or of which nothing is known (--all)\n");
}

Json json_of(const std::string& machine, const Engine& engine, const Snapshot& all) {
  Json json = {{"machine", machine}, {"time_ns", engine.now()}};
  Json& cpus = json["cpus"] = Json::array();
  for (const state::CpuAt& cpu : all.cpus) {
    const bool known = cpu.task != state::kNoTask;
    cpus.push_back({{"cpu", cpu.cpu},
                    {"mode", name_of(cpu.mode)},
                    {"submode", cpu.submode},
                    {"tid", known ? Json(raw(engine.tasks()[cpu.task].tid)) : Json()},
                    {"since_ns", cpu.since}});
  }
  Json& tasks = json["tasks"] = Json::array();
  for (const state::TaskAt& task : all.tasks) {
    tasks.push_back({{"tid", raw(task.tid)},
                     {"pid", task.pid == kNoTid ? Json() : Json(raw(task.pid))},
                     {"comm", task.name},
                     {"state", name_of(task.state)},
                     {"detail", task.detail},
                     {"since_ns", task.since}});
  }
  Json& vcpus = json["vcpus"] = Json::array();
  for (const state::VcpuAt& vcpu : all.vcpus) {
    vcpus.push_back({{"vm", engine.vm_name(engine.vms().vcpus()[vcpu.vcpu].vm)},
                     {"vcpu", vcpu.number},
                     {"state", name_of(vcpu.state)},
                     {"detail", vcpu.detail},
                     {"since_ns", vcpu.since}});
  }
  return json;
}

}  // namespace

int run(const StateArguments& arguments) {
  return ask(
      arguments.paths,
      [&](const Traces& traces, state::Pass& pass) {
        return resolve("--at", arguments.at, traces, Side::End, pass.end);
      },
      [&](const state::Pass& pass, TextBuffer& out) {
        Json machines = Json::array();
        for (const state::Machine& machine : pass.machines()) {
          const Snapshot all = snapshot_of(*machine.engine);
          if (arguments.json) {
            machines.push_back(json_of(machine.name, *machine.engine, all));
            continue;
          }
          const Style style(STDOUT_FILENO);
          if (pass.machines().size() > 1) out.put(style.heading(machine.name) + '\n');
          put_text(*machine.engine, all, arguments.all, style, out);
        }
        if (arguments.json) put_json_object({{"machines", machines}}, out);
      });
}

}  // namespace strata::cli
