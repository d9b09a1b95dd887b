// SPDX-License-Identifier: Apache-2.0
#include "top/screens.h"

#include <array>

namespace strata::top {
namespace {

using period::Group;
using period::Groups;

struct Info {
  std::string_view name;
  std::string_view label;
  KeyCode key;
  Groups groups;
};

constexpr std::array<Info, kScreens> kInfos = {{
    {"cpu", "CPU", KeyCode::F2, {}},
    {"perf", "Perf", KeyCode::F3, {Group::Counters}},
    {"io", "I/O", KeyCode::F4, {Group::Calls, Group::Io}},
    {"vm", "VM", KeyCode::F5, {Group::Vms}},
    {"latency", "Latency", KeyCode::F6, {Group::Latencies}},
    {"files", "Files", KeyCode::F7, {Group::Calls, Group::Io}},
    {"tree", "Tree", KeyCode::F8, {}},
}};

const Info& info_of(Screen screen) { return kInfos[static_cast<size_t>(screen)]; }

}  // namespace

std::string_view name_of(Screen screen) { return info_of(screen).name; }
std::string_view label_of(Screen screen) { return info_of(screen).label; }
KeyCode key_of(Screen screen) { return info_of(screen).key; }
Groups groups_of(Screen screen) { return info_of(screen).groups; }

std::optional<Screen> screen_called(std::string_view name) {
  for (size_t i = 0; i < kScreens; ++i)
    if (kInfos[i].name == name) return Screen(i);
  return std::nullopt;
}

bool is_of_tasks(Screen screen) {
  return screen == Screen::Cpu || screen == Screen::Perf || screen == Screen::Io ||
         screen == Screen::Tree;
}

// Columns from the left by how much they are asked for: a narrow screen has the first of them.
List list_of(Screen screen) {
  switch (screen) {
    case Screen::Perf:
      return {{"pid",         "user",      "cpu",       "ipc",      "cycles",     "instr",
               "misses",      "missrate",  "mispred",   "misprate", "cache",      "branches",
               "nofetch",     "stalled",   "refcycles", "clock",    "pagefaults", "minor",
               "majorfaults", "switched",  "migrated",  "aligned",  "emulated",   "cgroups",
               "cpuclock",    "buscycles", "container", "vm",       "name"},
              "cpu"};
    case Screen::Io:
      return {{"pid", "user", "read", "write", "ops", "lat", "dread", "dwrite", "in", "out", "io",
               "cpu", "block", "on", "major", "container", "vm", "name"},
              "io"};
    case Screen::Vm:
      return {
          {"pid", "vcpu", "state", "guest", "hyp", "usr", "halted", "preempted", "exits",   "block",
           "by",  "inj",  "ipis",  "mmio",  "pio", "msr", "faults", "tid",       "unknown", "name"},
          "guest"};
    case Screen::Latency:
      return {{"what", "of", "count", "avg", "p50", "p99", "total", "shape"}, "total"};
    case Screen::Files:
      return {{"kind", "read", "write", "reads", "writes", "lat", "opens", "busy", "queue", "io",
               "refused", "name"},
              "io"};
    case Screen::Tree:
      return {{"pid", "user", "state", "cpu", "usr", "sys", "wait", "io", "mem", "threads", "block",
               "on", "container", "vm", "name"},
              "pid"};
    default:
      return {{"pid",       "user",    "state", "cpu",       "usr", "sys",   "wait",   "block",
               "on",        "mem",     "moves", "wakes",     "irq", "guest", "faults", "calls",
               "preempted", "threads", "last",  "container", "vm",  "name"},
              "cpu"};
  }
}

}  // namespace strata::top
