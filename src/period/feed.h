// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "period/table.h"

namespace strata::period {

// What somebody wants to know. Who watches a running machine collects this and no more: each of
// these costs those who are watched.
enum class Group : uint8_t {
  Tasks,      // what tasks and CPUs do, interrupts; always there
  Calls,      // system calls: user and system time exactly, what tasks wait for
  Io,         // files, descriptors, devices and interfaces; has Calls in it
  Vms,        // virtual machines and their exits
  Counters,   // performance counters
  Latencies,  // how long things take, as histograms
  Totals,     // open files, connections and block devices, as the machine counts them anyway
  Count_,
};
std::string_view name_of(Group group);  // "io"

class Groups {
 public:
  // What a console's head shows: tasks, and the machine's totals.
  constexpr Groups() = default;
  static constexpr Groups least() {
    Groups groups;
    groups.bits_ = bit(Group::Tasks);
    return groups;
  }
  constexpr Groups(std::initializer_list<Group> groups) {
    for (const Group group : groups) add(group);
  }
  static constexpr Groups all() {
    Groups groups;
    groups.bits_ = (1u << static_cast<unsigned>(Group::Count_)) - 1;
    return groups;
  }
  constexpr bool has(Group group) const { return (bits_ & bit(group)) != 0; }
  constexpr void add(Group group) { bits_ |= bit(group); }
  constexpr bool operator==(const Groups&) const = default;

 private:
  static constexpr uint32_t bit(Group group) { return 1u << static_cast<unsigned>(group); }
  uint32_t bits_ = bit(Group::Tasks) | bit(Group::Totals);
};
// "cpu,io", as somebody typed it: these and no more but for tasks; "all" is all of them.
Result<Groups> groups_from(std::string_view names);

// Where tables of periods come from: the running machine, traces, lines that were saved. Each table
// begins where the one before it ended. Who shows them does not know which of these it is, but for
// when to ask: a running machine's table ends at the moment in which it is asked for.
class Feed {
 public:
  virtual ~Feed() = default;

  virtual bool is_live() const = 0;
  // The next table; empty: there is no more. What was given before an error is right.
  virtual Result<std::optional<Table>> next() = 0;
  // The next table is the first again. Refused by a running machine.
  virtual Status restart() = 0;

  // What to tell of from now on. An error says what it is that cannot be had, and why; all else is
  // then there.
  virtual Status want(Groups groups) = 0;
  // Which performance counters of a running machine to tell, where they are wanted: by perf's
  // names; none: whichever there are as a rule. An error is as of want(). Traces tell those that
  // were recorded.
  virtual Status choose_counters(const std::vector<std::string>& names) {
    static_cast<void>(names);
    return {};
  }
  // What it tells of now.
  virtual Groups told() const = 0;
  // What is missing in what it tells, and why: sentences for people.
  virtual std::vector<std::string> shortfalls() const = 0;
};

}  // namespace strata::period
