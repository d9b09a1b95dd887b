// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "base/number_text.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/period.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "state/fused_snapshot.h"
#include "state/index_store.h"
#include "state/live_index.h"
#include "state/pass.h"
#include "state/snapshot.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::MachineAt;
using state::Snapshot;

std::string ago(int64_t now, int64_t since) { return duration_text(Nanoseconds{now - since}); }

bool is_worth_showing(const state::TaskAt& task) {
  return task.state != state::TaskState::Unknown && task.state != state::TaskState::Dead;
}

std::string task_text(const state::CpuAt& cpu) {
  return cpu.tid == kNoTid ? "" : cpu.name + ' ' + std::to_string(raw(cpu.tid));
}

// Which machine, CPU of it and task each CPU really ran, where there are guests.
void put_fused(int64_t now, std::span<const MachineAt> machines, const Style& style,
               TextBuffer& out) {
  for (const MachineAt& host : machines) {
    if (host.guests.empty()) continue;
    out.put(style.heading(host.name + " and its guests") + '\n');
    Table cpus({"cpu", "runs", "its cpu", "mode", "in", "task", "for"});
    for (const size_t column : {1u, 3u, 4u, 5u}) cpus.align_left(column);
    for (const state::CpuAt& cpu : host.snapshot.cpus) {
      const state::FusedCpuAt fused = fused_cpu(machines, host, cpu);
      cpus.add({std::to_string(cpu.cpu), fused.machine, std::to_string(fused.cpu),
                std::string(name_of(fused.at->mode)), fused.at->submode, task_text(*fused.at),
                ago(now, std::max(cpu.since, fused.at->since))});
    }
    cpus.put(style, 0, out);
    out.put('\n');
  }
}

// What a guest's CPUs really do, as its host tells.
void put_guest_cpus(int64_t now, std::span<const MachineAt> machines, const MachineAt& guest,
                    const Style& style, TextBuffer& out) {
  Table cpus({"cpu", "really", "because", "task", "for"});
  for (size_t column = 1; column < 4; ++column) cpus.align_left(column);
  for (const state::CpuAt& cpu : guest.snapshot.cpus) {
    const state::VcpuAt* vcpu = vcpu_behind(machines, guest.name, cpu.cpu);
    if (vcpu != nullptr)
      cpus.add({std::to_string(cpu.cpu), std::string(name_of(vcpu->state)), vcpu->detail,
                task_text(cpu), ago(now, vcpu->since)});
  }
  if (cpus.empty()) return;
  cpus.put(style, 0, out);
  out.put('\n');
}

void put_text(int64_t now, const Snapshot& all, bool everything, const Style& style,
              TextBuffer& out) {
  Table cpus({"cpu", "mode", "in", "task", "for"});
  for (size_t column = 1; column < 4; ++column) cpus.align_left(column);
  for (const state::CpuAt& cpu : all.cpus)
    cpus.add({std::to_string(cpu.cpu), std::string(name_of(cpu.mode)), cpu.submode, task_text(cpu),
              ago(now, cpu.since)});
  cpus.put(style, 0, out);

  Table vcpus({"vm", "vcpu", "state", "because", "for"});
  for (size_t column = 2; column < 4; ++column) vcpus.align_left(column);
  for (const state::VcpuAt& vcpu : all.vcpus)
    vcpus.add({vcpu.vm, std::to_string(vcpu.number), std::string(name_of(vcpu.state)), vcpu.detail,
               ago(now, vcpu.since)});
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
               std::string(name_of(task.state)), task.detail, ago(now, task.since)});
  }
  if (!tasks.empty()) {
    out.put('\n');
    tasks.put(style, 0, out);
  }
  if (hidden > 0)
    out.put("and " + grouped(hidden) + " that ended or of which nothing is known (--all)\n");
}

Json json_tid(Tid tid) { return tid == kNoTid ? Json() : Json(raw(tid)); }

// With `machines`, what is known of a CPU by its guest or its host.
Json json_of(std::span<const MachineAt> machines, const MachineAt& machine, int64_t now) {
  const Snapshot& all = machine.snapshot;
  Json json = {{"machine", machine.name}, {"time_ns", now}};
  Json& cpus = json["cpus"] = Json::array();
  for (const state::CpuAt& cpu : all.cpus) {
    Json line = {{"cpu", cpu.cpu},
                 {"mode", name_of(cpu.mode)},
                 {"submode", cpu.submode},
                 {"tid", json_tid(cpu.tid)},
                 {"since_ns", cpu.since}};
    if (const state::FusedCpuAt fused = fused_cpu(machines, machine, cpu); fused.at != &cpu)
      line["runs"] = {{"machine", fused.machine},
                      {"cpu", fused.cpu},
                      {"mode", name_of(fused.at->mode)},
                      {"submode", fused.at->submode},
                      {"tid", json_tid(fused.at->tid)}};
    if (const state::VcpuAt* vcpu = vcpu_behind(machines, machine.name, cpu.cpu))
      line["really"] = {
          {"state", name_of(vcpu->state)}, {"detail", vcpu->detail}, {"since_ns", vcpu->since}};
    cpus.push_back(std::move(line));
  }
  Json& tasks = json["tasks"] = Json::array();
  for (const state::TaskAt& task : all.tasks) {
    tasks.push_back({{"tid", raw(task.tid)},
                     {"pid", json_tid(task.pid)},
                     {"comm", task.name},
                     {"state", name_of(task.state)},
                     {"detail", task.detail},
                     {"since_ns", task.since}});
  }
  Json& vcpus = json["vcpus"] = Json::array();
  for (const state::VcpuAt& vcpu : all.vcpus) {
    vcpus.push_back({{"vm", vcpu.vm},
                     {"vcpu", vcpu.number},
                     {"state", name_of(vcpu.state)},
                     {"detail", vcpu.detail},
                     {"since_ns", vcpu.since}});
  }
  return json;
}

// What the engines of a pass know now.
std::vector<MachineAt> machines_now(const state::Pass& pass) {
  std::vector<MachineAt> machines;
  for (size_t i = 0; i < pass.machines().size(); ++i) {
    const state::Machine& machine = pass.machines()[i];
    machines.push_back({machine.name, snapshot_of(*machine.engine), {}});
    if (pass.fusion() != nullptr) machines.back().guests = pass.fusion()->guests_of(i);
  }
  return machines;
}

// From the index; where there can be none, from the events up to that time.
std::vector<MachineAt> machines_at(const Traces& traces, int64_t time,
                                   std::vector<Error>& problems) {
  Progress progress("reading", false);
  trace::ProgressCallback callback;
  if (progress.enabled())
    callback = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
  std::vector<MachineAt> machines;
  std::vector<Error> unreadable;
  Result<std::vector<state::IndexedMachine>> indexed =
      state::open_index(traces.opened, callback, unreadable);
  if (indexed) {
    std::ranges::move(unreadable, std::back_inserter(problems));
    for (state::IndexedMachine& machine : *indexed) {
      // What is at the very end is what was before it.
      Result<Snapshot> snapshot =
          machine.index.at(std::min(time, machine.index.history().end() - 1));
      if (snapshot)
        machines.push_back({machine.name, *std::move(snapshot), machine.index.guests()});
      else
        problems.push_back(snapshot.error());
    }
    return machines;
  }
  warn("no index: " + indexed.error().text());
  state::Pass pass(traces.opened);
  pass.end = Nanoseconds{time};
  pass.progress = callback;
  pass.run();
  std::ranges::copy(pass.problems(), std::back_inserter(problems));
  return machines_now(pass);
}

void put(std::span<const MachineAt> machines, int64_t time, const StateArguments& arguments,
         TextBuffer& out) {
  if (arguments.json) {
    Json all = Json::array();
    for (const MachineAt& machine : machines) all.push_back(json_of(machines, machine, time));
    if (arguments.follow)
      out.put(Json{{"machines", all}}.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
    else
      put_json_object({{"machines", all}}, out);
    return;
  }
  const Style style(STDOUT_FILENO);
  put_fused(time, machines, style, out);
  for (const MachineAt& machine : machines) {
    if (machines.size() > 1) out.put(style.heading(machine.name) + '\n');
    put_guest_cpus(time, machines, machine, style, out);
    put_text(time, machine.snapshot, arguments.all, style, out);
  }
  if (arguments.follow) out.put('\n');
}

constexpr auto kBetweenStates = std::chrono::seconds(1);
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// The running session, with an index that grows as it does.
int follow(const StateArguments& arguments) {
  size_t growing = 0;
  const Traces traces = follow_recording(arguments.paths.front(), growing);
  if (traces.opened.empty()) return kExitInput;
  state::Pass pass(traces.opened);
  pass.growing = {growing};
  Result<state::LiveIndex> index = state::LiveIndex::create(*traces.opened[growing]);
  Status indexing;
  if (!index)
    indexing = index.error();
  else if (pass.machines().size() == 1)
    indexing = pass.write_index([&](size_t) { return index->path(); }, index->source());
  if (!indexing) warn("no index: " + indexing.error().text());

  Output out(STDOUT_FILENO);
  int status = kExitFine;
  auto next = std::chrono::steady_clock::now();
  pass.at_pause = [&] {
    std::this_thread::sleep_for(kBetweenLooks);
    if (std::chrono::steady_clock::now() < next) return true;
    next = std::chrono::steady_clock::now() + kBetweenStates;
    const Result<int64_t> now = pass.checkpoint();
    if (!now) {
      complain(now.error());
      status = kExitInput;
      return false;
    }
    put(machines_now(pass), *now, arguments, out.text());
    return out.flush();
  };
  pass.run();
  if (const Status written = out.finish(); !written) {
    complain(written.error());
    return kExitInput;
  }
  return std::max(status, tell_problems(pass.problems()));
}

}  // namespace

int run(const StateArguments& arguments) {
  if (arguments.follow) {
    if (arguments.paths.size() == 1) return follow(arguments);
    complain("--follow: of one session");
    return kExitUsage;
  }
  if (arguments.at.empty()) {
    complain("which moment? --at TIME or --follow; strata state --help tells more");
    return kExitUsage;
  }
  const Traces traces = open_traces(arguments.paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  if (traces.opened.empty()) return status;
  std::optional<Nanoseconds> at;
  if (!resolve("--at", arguments.at, traces, Side::End, at)) return kExitUsage;
  const trace::Trace::Span span = traces.span().value_or(trace::Trace::Span{});
  const int64_t time = std::clamp(at->count, span.begin.count, span.end.count);

  Output out(STDOUT_FILENO);
  std::vector<Error> problems;
  for (const auto& trace : traces.opened)
    std::ranges::copy(trace->problems(), std::back_inserter(problems));
  std::vector<MachineAt> machines = machines_at(traces, time, problems);
  put(machines, time, arguments, out.text());
  const Status written = out.finish();
  if (!written) problems.push_back(written.error());
  return std::max(status, tell_problems(problems));
}

}  // namespace strata::cli
