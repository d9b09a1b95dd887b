// SPDX-License-Identifier: Apache-2.0
#include "lib/told.h"

#include <array>
#include <string_view>

namespace strata::lib {
namespace {

using period::Certainty;
using period::Column;
using period::Group;
using period::RowKind;

constexpr auto kGroups = static_cast<size_t>(Group::Count_);

// Where a group is missing.
constexpr std::array<std::string_view, kGroups> kMissing = {
    "",
    "no system calls were recorded: a program's own time and that in the kernel are not told "
    "apart, and what tasks wait for is estimated",
    "neither system calls nor what devices do were recorded: nothing is known of files, disks and "
    "interfaces",
    "nothing of virtual machines was recorded",
    "no performance counters were recorded",
    "nothing that takes time was recorded",
    "",
};

std::string times(uint64_t number, std::string_view one, std::string_view more) {
  return std::to_string(number) + ' ' + std::string(number == 1 ? one : more);
}

}  // namespace

void Told::count(const period::Table& table) {
  for (const period::Machine& machine : table.machines) {
    losses_ += machine.values[Column::Losses];
    lost_events_ += machine.values[Column::LostEvents];
    missed_switches_ += machine.values[Column::MissedSwitches];
  }
}

void Told::find_groups(const period::Table& table) {
  for (const period::Machine& machine : table.machines) {
    const auto tells = [&](Column column) {
      return machine.marks.of(RowKind::Task, column) != Certainty::Unknown;
    };
    if (tells(Column::Syscalls)) groups_.add(Group::Calls);
    if (tells(Column::Reads) || !machine.devices.empty() || !machine.interfaces.empty())
      groups_.add(Group::Io);
    if (!machine.vcpus.empty()) groups_.add(Group::Vms);
    for (const period::ColumnInfo& info : period::kColumns)
      if (is_counter(info.id) && tells(info.id)) groups_.add(Group::Counters);
    if (!machine.latencies.empty()) groups_.add(Group::Latencies);
  }
}

Status Told::want(period::Groups groups) const {
  std::string missing;
  for (size_t group = 0; group < kGroups; ++group) {
    if (!groups.has(Group(group)) || groups_.has(Group(group))) continue;
    if (!missing.empty()) missing += "; ";
    missing += std::string(period::name_of(Group(group))) + ": ";
    missing += kMissing[group];
  }
  if (missing.empty()) return {};
  return Error{{}, std::nullopt, missing};
}

std::vector<std::string> Told::shortfalls() const {
  std::vector<std::string> sentences;
  for (size_t group = 0; group < kGroups; ++group)
    if (!groups_.has(Group(group))) sentences.emplace_back(kMissing[group]);
  if (losses_ > 0)
    sentences.push_back("events were lost " + times(losses_, "time", "times") + ", " +
                        times(lost_events_, "event", "events") +
                        " as far as they were counted: times around that are unknown, and numbers "
                        "too low");
  if (missed_switches_ > 0)
    sentences.push_back(
        times(missed_switches_, "switch between tasks was", "switches between tasks were") +
        " not recorded: the time around that is unknown");
  return sentences;
}

}  // namespace strata::lib
