// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "base/units.h"
#include "trace/event.h"
#include "trace/filter.h"
#include "trace/task_names.h"
#include "trace/type_table.h"

namespace strata::trace {

// [SYSTEM:]EVENT, both globs; a bare word is a system or an event.
class EventPattern {
 public:
  explicit EventPattern(std::string_view text);
  bool matches(const EventType& type) const { return matches(type.system, type.name); }
  bool matches(std::string_view system, std::string_view name) const;

 private:
  std::optional<Glob> system_;
  Glob name_;
};

// Which events are wanted: -e, -F, --cpu, --tid and a period of time. What depends on the type
// alone is decided once per type; without any conditions nothing is asked at all (is_everything()).
class Selection {
 public:
  // The events of a pattern; further conditions that are to hold for them alone.
  struct Wanted {
    EventPattern pattern;
    std::vector<Filter> filters;
  };

  std::vector<Wanted> wanted;   // none: all; an event needs to be wanted by one of them
  std::vector<Filter> filters;  // for all
  std::vector<std::pair<uint32_t, uint32_t>> cpus;  // ranges, both ends included; none: all
  std::vector<Tid> tids;
  std::optional<Nanoseconds> begin;
  std::optional<Nanoseconds> end;  // included

  bool is_everything() const {
    return wanted.empty() && filters.empty() && cpus.empty() && tids.empty() && !begin && !end;
  }

  bool has_cpu(CpuId cpu) const;
  // Whether an event of this type can be wanted at all.
  bool has_type(const EventType& type);
  bool matches(const Event& event, const TaskNames& names) {
    if ((begin && event.time < *begin) || (end && event.time > *end)) return false;
    return matches_rest(event, names);
  }

 private:
  // By the patterns alone.
  struct Verdict {
    bool never = false;
    bool always = false;                // wanted without further conditions
    std::vector<uint32_t> conditional;  // wanted by these, if their filters agree
  };
  Verdict& verdict(const EventType* type);
  bool matches_rest(const Event& event, const TaskNames& names);

  TypeTable<Verdict> verdicts_;
};

// "0-3,8": ranges of CPUs.
Result<std::vector<std::pair<uint32_t, uint32_t>>> parse_cpu_list(std::string_view text);

}  // namespace strata::trace
