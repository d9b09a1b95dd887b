// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "period/table.h"

namespace strata::period {

// A task that sleeps for a timer at both ends and runs in between.
inline TaskRow sleeper(int32_t tid, uint64_t slept, uint64_t ran) {
  TaskRow row{.pid = tid, .tid = tid, .start = 5, .name = "sleeper"};
  row.state_before = row.state = Column::WaitTimer;
  row.values.set(Column::WaitTimer, slept);
  row.values.set(Column::User, ran);
  return row;
}

// A period of a machine with some of everything.
inline Table full_table(int64_t begin, int64_t end) {
  Table table{.begin = begin, .end = end, .source = Source::Live, .clock = "epoch"};
  Machine machine{.name = "host \"one\""};
  machine.values.set(Column::Events, 1234);
  machine.marks.set(RowKind::Task, Column::WaitOther, Certainty::Estimated);
  machine.marks.set(RowKind::Cpu, Column::Frequency, Certainty::Unknown);
  machine.marks.set(RowKind::Machine, Column::User, Certainty::Estimated);
  CpuRow& cpu = machine.cpus.emplace_back(CpuRow{.number = 3, .tid = 7});
  cpu.values.set(Column::User, 60);
  cpu.values.set(Column::Idle, 40);
  cpu.corrections = {{begin - 10, begin, Column::User, Column::Unknown}};
  TaskRow& task = machine.tasks.emplace_back(sleeper(7, 40, 60));
  task.user = 0;
  task.container = "web";
  task.cgroup = "/a/b";
  task.vm = "vm-7";
  task.vcpu = 0;
  task.parent = 6;
  task.is_kernel = task.was_born = task.has_ended = true;
  task.exit_code = 3;
  task.exit_signal = 9;
  task.cpu = 3;
  task.values.set(Column::Memory, kUnknownCell);
  task.corrections = {{begin - 3, begin, Column::WaitOther, Column::WaitPipe, 2},
                      {begin - 3, begin, std::nullopt, Column::WaitPipe}};
  VcpuRow& vcpu = machine.vcpus.emplace_back(VcpuRow{
      .tid = 7, .pid = 6, .vm = "vm-7", .number = 1, .state = Column::Halted, .preempter = "make"});
  vcpu.values.set(Column::Guest, 100);
  ExitRow& exit = machine.exits.emplace_back(ExitRow{.pid = 6, .reason = "HLT"});
  exit.values.set(Column::Exits, 2);
  FileRow& file = machine.files.emplace_back(FileRow{.identity = FileIdentity::Inode,
                                                     .device = 1,
                                                     .number = 99,
                                                     .kind = "file",
                                                     .name = "/tmp/\xc3\xa4"});
  file.values.set(Column::ReadBytes, 4096);
  DescriptorRow& descriptor =
      machine.descriptors.emplace_back(DescriptorRow{.pid = 7,
                                                     .number = 5,
                                                     .identity = FileIdentity::Cookie,
                                                     .inode = 4711,
                                                     .kind = "socket",
                                                     .name = "[::1]:80"});
  descriptor.values.set(Column::WrittenBytes, 17);
  descriptor.values.set(Column::InCalls, 2500);
  DeviceRow& device = machine.devices.emplace_back(DeviceRow{.number = 8, .name = "sda"});
  device.values.set(Column::Busy, 50);
  device.values.set(Column::InFlight, 1);
  InterfaceRow& interface = machine.interfaces.emplace_back(InterfaceRow{.name = "eth0"});
  interface.values.set(Column::PacketsIn, 5);
  LatencyRow& latency =
      machine.latencies.emplace_back(LatencyRow{.what = Latency::Syscall, .name = "read"});
  latency.histogram.add(0);
  latency.histogram.add(1000);
  machine.add_up();
  table.machines.push_back(std::move(machine));
  return table;
}

}  // namespace strata::period
