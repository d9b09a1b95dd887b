// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "period/table.h"

namespace strata::period {

template <typename Row, RowKind kind>
concept RowOf = std::remove_const_t<Row>::kKind == kind;
template <typename Row>
concept HasCorrections = requires(Row& row) {
  row.corrections;
};
template <typename Row>
concept HasHistogram = requires(Row& row) {
  row.histogram;
};

// Everything that rows have besides their values and corrections, by its name: in one place for
// whoever writes, reads or packs them. `visit` gets a name and the member.
void each_field(RowOf<RowKind::Task> auto& row, auto&& visit) {
  visit("pid", row.pid);
  visit("tid", row.tid);
  visit("start_ns", row.start);
  visit("parent", row.parent);
  visit("name", row.name);
  visit("user", row.user);
  visit("container", row.container);
  visit("cgroup", row.cgroup);
  visit("vm", row.vm);
  visit("vcpu", row.vcpu);
  visit("kernel", row.is_kernel);
  visit("born_here", row.was_born);
  visit("ended_here", row.has_ended);
  visit("exit_code", row.exit_code);
  visit("exit_signal", row.exit_signal);
  visit("cpu", row.cpu);
  visit("state_before", row.state_before);
  visit("state", row.state);
}

void each_field(RowOf<RowKind::Cpu> auto& row, auto&& visit) {
  visit("cpu", row.number);
  visit("tid", row.tid);
}

void each_field(RowOf<RowKind::Vm> auto& row, auto&& visit) {
  visit("pid", row.pid);
  visit("name", row.name);
  visit("vcpus", row.vcpus);
}

void each_field(RowOf<RowKind::Vcpu> auto& row, auto&& visit) {
  visit("tid", row.tid);
  visit("pid", row.pid);
  visit("vm", row.vm);
  visit("vcpu", row.number);
  visit("state", row.state);
  visit("preempter", row.preempter);
}

void each_field(RowOf<RowKind::Exit> auto& row, auto&& visit) {
  visit("pid", row.pid);
  visit("reason", row.reason);
}

void each_field(RowOf<RowKind::File> auto& row, auto&& visit) {
  visit("identity", row.identity);
  visit("device", row.device);
  visit("number", row.number);
  visit("kind", row.kind);
  visit("name", row.name);
}

void each_field(RowOf<RowKind::Descriptor> auto& row, auto&& visit) {
  visit("pid", row.pid);
  visit("descriptor", row.number);
  visit("identity", row.identity);
  visit("device", row.device);
  visit("number", row.inode);
  visit("kind", row.kind);
  visit("name", row.name);
}

void each_field(RowOf<RowKind::Device> auto& row, auto&& visit) {
  visit("device", row.number);
  visit("name", row.name);
}

void each_field(RowOf<RowKind::Interface> auto& row, auto&& visit) { visit("name", row.name); }

void each_field(RowOf<RowKind::Latency> auto& row, auto&& visit) {
  visit("what", row.what);
  visit("name", row.name);
}

// All lists of rows of a machine.
void each_list(auto& machine, auto&& visit) {
  visit("cpus", machine.cpus);
  visit("tasks", machine.tasks);
  visit("vms", machine.vms);
  visit("vcpus", machine.vcpus);
  visit("exits", machine.exits);
  visit("files", machine.files);
  visit("descriptors", machine.descriptors);
  visit("devices", machine.devices);
  visit("interfaces", machine.interfaces);
  visit("latencies", machine.latencies);
}

}  // namespace strata::period
