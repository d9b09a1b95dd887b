// SPDX-License-Identifier: Apache-2.0
#include "trace/selection.h"

#include <algorithm>
#include <charconv>

namespace strata::trace {

EventPattern::EventPattern(std::string_view text) : name_("") {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    name_ = Glob(std::string(text));
    return;
  }
  system_ = Glob(std::string(text.substr(0, colon)));
  std::string_view name = text.substr(colon + 1);
  name_ = Glob(name.empty() ? "*" : std::string(name));
}

bool EventPattern::matches(std::string_view system, std::string_view name) const {
  if (system_) return system_->matches(system) && name_.matches(name);
  return name_.matches(name) || name_.matches(system);
}

bool Selection::has_cpu(CpuId cpu) const {
  if (cpus.empty()) return true;
  return std::any_of(cpus.begin(), cpus.end(), [&](const auto& range) {
    return range.first <= raw(cpu) && raw(cpu) <= range.second;
  });
}

Selection::Verdict& Selection::verdict(const EventType* type) {
  if (Verdict* known = verdicts_.find(type)) [[likely]]
    return *known;
  Verdict verdict;
  verdict.always = wanted.empty();
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].pattern.matches(*type)) continue;
    if (wanted[i].filters.empty()) {
      verdict.always = true;
    } else if (std::none_of(wanted[i].filters.begin(), wanted[i].filters.end(),
                            [&](const Filter& filter) { return filter.rejects(*type); })) {
      verdict.conditional.push_back(i);
    }
  }
  verdict.never = !verdict.always && verdict.conditional.empty();
  for (const Filter& filter : filters) verdict.never |= filter.rejects(*type);
  return *verdicts_.add(type, std::move(verdict));
}

bool Selection::has_type(const EventType& type) { return !verdict(&type).never; }

bool Selection::matches_rest(const Event& event, const TaskNames& names) {
  const Verdict& of_type = verdict(event.type);
  if (of_type.never) return false;
  if (!tids.empty() && std::find(tids.begin(), tids.end(), event.tid()) == tids.end()) return false;
  if (!has_cpu(event.cpu)) return false;
  auto agree = [&](const std::vector<Filter>& all) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Filter& filter) { return filter.matches(event, names); });
  };
  if (!agree(filters)) return false;
  return of_type.always || std::any_of(of_type.conditional.begin(), of_type.conditional.end(),
                                       [&](uint32_t i) { return agree(wanted[i].filters); });
}

Result<std::vector<std::pair<uint32_t, uint32_t>>> parse_cpu_list(std::string_view text) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  auto bad = [&] {
    return Error{"", std::nullopt,
                 "'" + std::string(text) + "' is not a list of CPUs such as 0-3,8"};
  };
  std::string_view rest = text;
  auto number = [&](uint32_t& out) {
    auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), out);
    if (problem != std::errc()) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return true;
  };
  do {
    if (!ranges.empty()) rest.remove_prefix(1);
    uint32_t first = 0;
    if (!number(first)) return bad();
    uint32_t last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      if (!number(last) || last < first) return bad();
    }
    ranges.emplace_back(first, last);
  } while (rest.starts_with(','));
  if (!rest.empty()) return bad();
  return ranges;
}

}  // namespace strata::trace
