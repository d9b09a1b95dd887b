// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "period/table.h"
#include "top/grid.h"

namespace strata::top {

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;

// What stands in a row of a grid, without what is blank at its end.
inline std::string text_of_row(const Grid& grid, unsigned row) {
  std::string text;
  for (unsigned column = 0; column < grid.width(); ++column) {
    const char32_t glyph = grid.at(row, column).glyph;
    text += glyph < 0x80 ? static_cast<char>(glyph) : '#';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

inline std::string text_of_grid(const Grid& grid) {
  std::string text;
  for (unsigned row = 0; row < grid.height(); ++row) text += text_of_row(grid, row) + '\n';
  return text;
}

inline period::TaskRow task(int32_t pid, int32_t tid, std::string name, period::Column state) {
  period::TaskRow row{.pid = pid, .tid = tid, .start = tid, .name = std::move(name)};
  row.state_before = row.state = state;
  return row;
}

// A second of a machine with two CPUs: a database with two threads, a shell that made what ended,
// a program whose name would clear the screen, a virtual machine.
inline period::Table second_of_machine(int64_t begin) {
  using period::Column;
  period::Table table{.begin = begin, .end = begin + kSecond, .clock = "mono"};
  period::Machine machine{.name = "db1"};
  machine.values.set(Column::Processes, 5);
  machine.values.set(Column::Threads, 7);
  machine.values.set(Column::Events, 12'345);
  for (uint32_t number = 0; number < 2; ++number) {
    period::CpuRow& cpu = machine.cpus.emplace_back(period::CpuRow{.number = number});
    cpu.values.set(Column::User, 400 * kMs);
    cpu.values.set(Column::Syscall, 100 * kMs);
    cpu.values.set(Column::Idle, 500 * kMs);
  }
  period::TaskRow leader = task(100, 100, "mysqld", Column::WaitDisk);
  leader.user = 27;
  leader.values.set(Column::User, 300 * kMs);
  leader.values.set(Column::Syscall, 50 * kMs);
  leader.values.set(Column::WaitDisk, 650 * kMs);
  leader.values.set(Column::ReadBytes, 20'000'000);
  leader.values.set(Column::Memory, 512'000'000);
  period::TaskRow worker = task(100, 101, "worker", Column::User);
  worker.user = 27;
  worker.values.set(Column::User, 500 * kMs);
  worker.values.set(Column::WaitFutex, 500 * kMs);
  worker.values.set(Column::Memory, 512'000'000);
  period::TaskRow shell = task(200, 200, "sh", Column::WaitChild);
  shell.user = 0;
  shell.values.set(Column::WaitChild, 1000 * kMs);
  period::TaskRow ended = task(201, 201, "false", Column::Zombie);
  ended.parent = 200;
  ended.was_born = ended.has_ended = true;
  ended.exit_code = 3;
  ended.state.reset();
  ended.values.set(Column::User, 123'456'789);
  period::TaskRow evil = task(300, 300, "a\033[2J\xff\xe4\xb8\xad", Column::WaitTimer);
  evil.values.set(Column::WaitTimer, 1000 * kMs);
  machine.tasks = {leader, worker, shell, ended, evil};
  machine.files.push_back({.kind = "file", .name = "/var/lib/mysql/ibdata1"});
  machine.files[0].values.set(Column::ReadBytes, 20'000'000);
  machine.descriptors.push_back(
      {.pid = 100, .number = 7, .kind = "file", .name = "/var/lib/mysql/ibdata1"});
  machine.descriptors[0].values.set(Column::ReadBytes, 20'000'000);
  machine.devices.push_back({.number = 8, .name = "sda"});
  machine.devices[0].values.set(Column::Busy, 250 * kMs);
  machine.interfaces.push_back({.name = "eth0"});
  period::VcpuRow& vcpu = machine.vcpus.emplace_back(
      period::VcpuRow{.tid = 401, .pid = 400, .vm = "web1", .preempter = "mysqld"});
  vcpu.values.set(Column::Guest, 600 * kMs);
  vcpu.values.set(Column::Preempted, 400 * kMs);
  machine.exits.push_back({.pid = 400, .reason = "HLT"});
  machine.exits[0].values.set(Column::Exits, 42);
  period::LatencyRow& latency = machine.latencies.emplace_back(
      period::LatencyRow{.what = period::Latency::Syscall, .name = "fsync"});
  for (int i = 0; i < 3; ++i) latency.histogram.add(5'000'000);
  machine.add_up();
  table.machines.push_back(std::move(machine));
  return table;
}

}  // namespace strata::top
