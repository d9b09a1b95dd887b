// SPDX-License-Identifier: Apache-2.0
#include "cli/vm_exits.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/time_text.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::Engine;
using state::ExitSum;
using state::Vcpu;
using state::VcpuState;

// The reasons of a virtual CPU's exits, those first that cost most.
std::vector<std::pair<std::string, ExitSum>> exits_of(const Engine& engine, const Vcpu& vcpu) {
  std::vector<std::pair<std::string, ExitSum>> exits;
  for (const auto& [reason, sum] : vcpu.exits)
    exits.emplace_back(
        reason == state::kNoName ? "(before the first)" : engine.names().text(reason), sum);
  std::ranges::stable_sort(exits, std::ranges::greater(), [](const auto& exit) {
    return exit.second.kernel_ns + exit.second.user_ns;
  });
  return exits;
}

std::string time_of(uint64_t ns) { return duration_text(Nanoseconds{static_cast<int64_t>(ns)}); }

void add_exits(const std::string& machine, const Engine& engine, const Vcpu& vcpu, Table& table) {
  for (const auto& [reason, sum] : exits_of(engine, vcpu)) {
    const uint64_t ns = sum.kernel_ns + sum.user_ns;
    table.add({machine, engine.vm_name(vcpu.vm), std::to_string(vcpu.number), reason,
               grouped(sum.count), time_of(sum.kernel_ns), time_of(sum.user_ns),
               sum.count == 0 ? "" : time_of(ns / sum.count)});
  }
}

void add_vcpu(const std::string& machine, const Engine& engine, const Vcpu& vcpu, Table& table) {
  std::vector<std::string> cells = {machine, engine.vm_name(vcpu.vm), std::to_string(vcpu.number)};
  for (const uint64_t ns : vcpu.ns) cells.push_back(time_of(ns));
  for (const uint64_t count : vcpu.events) cells.push_back(grouped(count));
  table.add(std::move(cells));
}

}  // namespace

void put_vm_exits(const state::Pass& pass, const Style& style, TextBuffer& out) {
  std::vector<std::string> headings = {"machine", "vm", "vcpu"};
  for (size_t state = 0; state < state::kVcpuStates; ++state)
    headings.emplace_back(name_of(VcpuState(state)));
  for (size_t event = 0; event < state::kVcpuEvents; ++event)
    headings.emplace_back(name_of(state::VcpuEvent(event)));
  Table vcpus(std::move(headings));
  Table exits({"machine", "vm", "vcpu", "exit", "count", "kernel", "user space", "mean"});
  vcpus.align_left(1);
  for (const size_t column : {1u, 3u}) exits.align_left(column);
  for (const state::Machine& machine : pass.machines()) {
    for (const Vcpu& vcpu : machine.engine->vms().vcpus()) {
      add_vcpu(machine.name, *machine.engine, vcpu, vcpus);
      add_exits(machine.name, *machine.engine, vcpu, exits);
    }
  }
  if (vcpus.empty()) {
    out.put("no virtual CPU\n");
    return;
  }
  vcpus.put(style, 0, out);
  out.put('\n');
  exits.put(style, 0, out);
}

Json vm_exits_json(const state::Pass& pass) {
  Json all = Json::array();
  for (const state::Machine& machine : pass.machines()) {
    const Engine& engine = *machine.engine;
    for (const Vcpu& vcpu : engine.vms().vcpus()) {
      Json line = {
          {"machine", machine.name},
          {"vm", engine.vm_name(vcpu.vm)},
          {"vcpu", vcpu.number},
          {"tid", vcpu.task == state::kNoTask ? Json() : Json(raw(engine.tasks()[vcpu.task].tid))}};
      Json& states = line["state_ns"] = Json::object();
      for (size_t state = 0; state < state::kVcpuStates; ++state)
        states[std::string(name_of(VcpuState(state)))] = vcpu.ns[state];
      for (size_t event = 0; event < state::kVcpuEvents; ++event)
        line[std::string(name_of(state::VcpuEvent(event)))] = vcpu.events[event];
      Json& exits = line["exits"] = Json::array();
      for (const auto& [reason, sum] : exits_of(engine, vcpu))
        exits.push_back({{"reason", reason},
                         {"count", sum.count},
                         {"kernel_ns", sum.kernel_ns},
                         {"user_ns", sum.user_ns}});
      all.push_back(std::move(line));
    }
  }
  return all;
}

}  // namespace strata::cli
