// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/number_text.h"
#include "base/time_text.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/input_output.h"
#include "cli/json_output.h"
#include "cli/period.h"
#include "cli/periods.h"
#include "cli/terminal.h"
#include "cli/vm_exits.h"
#include "state/stat_rows.h"
#include "trace/text_filter.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::StatKey;
using state::StatRow;

constexpr size_t kMostRows = 20;

// What all machines together were doing, and for how long nobody knows.
struct Totals {
  uint64_t span_ns = 0;
  uint64_t cpu_ns = 0;           // of all CPUs together
  uint64_t unknown_ns = 0;       // in which mode is not known
  uint64_t unknown_task_ns = 0;  // not even whose it was
  uint64_t losses = 0;
  uint64_t missed_switches = 0;
};

Totals totals_of(const state::Pass& pass) {
  Totals totals;
  for (const state::Machine& machine : pass.machines()) {
    const state::Engine& engine = *machine.engine;
    totals.span_ns = std::max(totals.span_ns, static_cast<uint64_t>(engine.now() - engine.begin()));
    totals.losses += engine.losses();
    totals.missed_switches += engine.missed_switches();
    for (const state::Cpu& cpu : engine.cpus())
      for (const uint64_t ns : cpu.ns) totals.cpu_ns += ns;
    for (const state::Slot& slot : engine.statistics().slots()) {
      if (slot.mode != state::Mode::Unknown) continue;
      totals.unknown_ns += slot.cpu_ns;
      if (slot.task == state::kNoTask) totals.unknown_task_ns += slot.cpu_ns;
    }
  }
  return totals;
}

// A virtual CPU may be called by its machine and number: vm=web1/0.
bool matches(const trace::TextFilter& filter, const StatRow& row) {
  const std::string vcpu = row[StatKey::Vm] + '/' + row[StatKey::Vcpu];
  const auto with = [&](bool whole_name) {
    return filter.matches([&](std::string_view field) -> std::optional<std::string_view> {
      const std::optional<StatKey> key = state::stat_key(field);
      if (!key || row[*key].empty()) return std::nullopt;
      return *key == StatKey::Vm && whole_name ? vcpu : row[*key];
    });
  };
  return with(false) || (!row[StatKey::Vm].empty() && with(true));
}

// What was asked for: how rows are told apart, and which count.
struct Question {
  std::vector<StatKey> by;
  std::optional<trace::TextFilter> filter;
};

std::vector<StatRow> rows_of(const state::Pass& pass, const std::vector<StatKey>& by,
                             const Question& question) {
  state::StatFilter wanted;
  if (question.filter) wanted = [&](const StatRow& row) { return matches(*question.filter, row); };
  std::vector<StatRow> all;
  for (const state::Machine& machine : pass.machines()) {
    std::vector<StatRow> rows = state::stat_rows(*machine.engine, machine.name, by, wanted);
    std::ranges::move(rows, std::back_inserter(all));
  }
  return all;
}

size_t most_rows(const StatsArguments& arguments) {
  return arguments.limit == 0 ? SIZE_MAX : arguments.limit.value_or(kMostRows);
}

std::string seconds_text(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9);
  return text;
}

std::string share_text(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f",
                100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string seconds_text(const std::optional<uint64_t>& ns) {
  return ns ? seconds_text(*ns) : std::string();
}

// Of all rows; a row has those that are not 0.
std::set<std::string> counters_of(const std::vector<StatRow>& rows) {
  std::set<std::string> names;
  for (const StatRow& row : rows)
    for (const auto& [name, count] : row.counters) names.insert(name);
  return names;
}

uint64_t counted(const StatRow& row, const std::string& counter) {
  const auto found = row.counters.find(counter);
  return found == row.counters.end() ? 0 : found->second;
}

void put_table(const std::vector<StatRow>& rows, const std::vector<StatKey>& by, uint64_t whole,
               size_t most, const Style& style, TextBuffer& out) {
  std::vector<std::string> headings;
  for (const StatKey key : by) headings.emplace_back(name_of(key));
  const size_t texts = headings.size();
  for (const char* heading :
       {"events", "CPU s", "%", "elapsed s", "cumulative s", "waiting s", "cgroup throttled s"})
    headings.emplace_back(heading);
  const std::set<std::string> counters = counters_of(rows);
  std::ranges::copy(counters, std::back_inserter(headings));
  Table table(std::move(headings));
  for (size_t i = 1; i < texts; ++i) table.align_left(i);
  for (size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const StatRow& row = rows[i];
    std::vector<std::string> cells;
    for (const StatKey key : by) cells.push_back(row[key]);
    cells.push_back(grouped(row.count));
    cells.push_back(seconds_text(row.cpu_ns));
    cells.push_back(share_text(row.cpu_ns, whole));
    cells.push_back(seconds_text(row.elapsed_ns));
    cells.push_back(seconds_text(row.cumulative_ns));
    cells.push_back(seconds_text(row.waiting_ns));
    cells.push_back(seconds_text(row.throttled_ns));
    for (const std::string& counter : counters) cells.push_back(grouped(counted(row, counter)));
    table.add(std::move(cells));
  }
  table.put(style, 0, out);
  if (rows.size() > most)
    out.put("and " + grouped(rows.size() - most) + " more (--limit 0 shows all)\n");
}

void put_text(const state::Pass& pass, const StatsArguments& arguments, const Question& question,
              TextBuffer& out) {
  const Style style(STDOUT_FILENO);
  const Totals totals = totals_of(pass);
  out.put("span " + duration_text(Nanoseconds{static_cast<int64_t>(totals.span_ns)}) +
          ", CPU time of all CPUs " + seconds_text(totals.cpu_ns) + " s");
  const std::string unknown = "mode unknown " + share_text(totals.unknown_ns, totals.cpu_ns) +
                              " %, of that whose " +
                              share_text(totals.unknown_task_ns, totals.cpu_ns) + " %";
  out.put(", " + unknown + "\n");
  if (totals.losses > 0)
    out.put(style.alarm("events were lost " + grouped(totals.losses) + " times") + "\n");
  if (totals.missed_switches > 0)
    out.put(grouped(totals.missed_switches) +
            " switches between tasks were not recorded; the time around them is unknown\n");
  const size_t most = most_rows(arguments);
  std::vector<std::vector<StatKey>> tables = {question.by};
  if (question.by.empty()) {
    tables = {{StatKey::Mode},
              {StatKey::Cpu, StatKey::Mode},
              {StatKey::Pid, StatKey::Tid, StatKey::Comm},
              {StatKey::Mode, StatKey::Submode},
              {StatKey::Event}};
    if (pass.machines().size() > 1)
      for (std::vector<StatKey>& keys : tables) keys.insert(keys.begin(), StatKey::Machine);
  }
  for (const std::vector<StatKey>& keys : tables) {
    out.put('\n');
    put_table(rows_of(pass, keys, question), keys, totals.cpu_ns, most, style, out);
  }
}

Json json_key(const StatRow& row, StatKey key) {
  const std::string& text = row[key];
  if (text.empty()) return nullptr;
  switch (key) {
    case StatKey::Cpu:
    case StatKey::Pid:
    case StatKey::Tid:
    case StatKey::Vcpu:
    case StatKey::User:
      return std::stoll(text);
    default:
      return text;
  }
}

void put_json(const state::Pass& pass, const Question& question, TextBuffer& out) {
  const Totals totals = totals_of(pass);
  Json json = {{"span_ns", totals.span_ns},       {"cpu_ns", totals.cpu_ns},
               {"unknown_ns", totals.unknown_ns}, {"unknown_task_ns", totals.unknown_task_ns},
               {"losses", totals.losses},         {"missed_switches", totals.missed_switches}};
  Json& rows = json["rows"] = Json::array();
  for (const StatRow& row : rows_of(pass, question.by, question)) {
    Json line = Json::object();
    for (size_t key = 0; key < state::kStatKeys; ++key)
      line[std::string(name_of(StatKey(key)))] = json_key(row, StatKey(key));
    line["count"] = row.count;
    line["cpu_ns"] = row.cpu_ns;
    line["elapsed_ns"] = row.elapsed_ns;
    line["cumulative_ns"] = row.cumulative_ns;
    if (row.waiting_ns) line["waiting_ns"] = *row.waiting_ns;
    if (row.throttled_ns) line["throttled_ns"] = *row.throttled_ns;
    if (!row.counters.empty()) line["counters"] = row.counters;
    rows.push_back(std::move(line));
  }
  put_json_object(json, out);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void put_csv(const state::Pass& pass, const Question& question, TextBuffer& out) {
  for (const StatKey key : question.by) out.put(std::string(name_of(key)) + ',');
  const std::vector<StatRow> rows = rows_of(pass, question.by, question);
  const std::set<std::string> counters = counters_of(rows);
  out.put("count,cpu_ns,elapsed_ns,cumulative_ns,waiting_ns,throttled_ns");
  for (const std::string& counter : counters) out.put(',' + csv_cell(counter));
  out.put('\n');
  const auto known = [](const std::optional<uint64_t>& ns) {
    return ',' + (ns ? std::to_string(*ns) : std::string());
  };
  for (const StatRow& row : rows) {
    for (const StatKey key : question.by) out.put(csv_cell(row[key]) + ',');
    out.put(std::to_string(row.count) + ',' + std::to_string(row.cpu_ns) + ',' +
            std::to_string(row.elapsed_ns) + ',' + std::to_string(row.cumulative_ns) +
            known(row.waiting_ns) + known(row.throttled_ns));
    for (const std::string& counter : counters)
      out.put(',' + std::to_string(counted(row, counter)));
    out.put('\n');
  }
}

// False: wrong usage, which was told.
bool parse_question(const StatsArguments& arguments, Question& question) {
  std::vector<StatKey>& by = question.by;
  for (const std::string& name : arguments.by) {
    const std::optional<StatKey> key = state::stat_key(name);
    if (!key) {
      complain("--by: there is no '" + name + "'");
      return false;
    }
    by.push_back(*key);
  }
  // Programs get everything told apart.
  if (by.empty() && (arguments.json || arguments.csv))
    for (size_t key = 0; key < state::kStatKeys; ++key) by.push_back(StatKey(key));
  if (arguments.filter.empty()) return true;
  Result<trace::TextFilter> filter = trace::TextFilter::parse(arguments.filter);
  if (!filter) {
    complain_at("-F", arguments.filter, filter.error());
    return false;
  }
  for (const std::string& field : filter->fields()) {
    if (state::stat_key(field)) continue;
    complain("-F: there is no '" + field + "'");
    return false;
  }
  question.filter = *std::move(filter);
  return true;
}

}  // namespace

int run(const StatsArguments& arguments) {
  if (!arguments.period.empty()) return run_periods(arguments);
  Question question;
  if (!parse_question(arguments, question)) return kExitUsage;
  return ask(
      arguments.paths,
      [&](const Traces& traces, state::Pass& pass) {
        return resolve_period(arguments.begin, arguments.end, traces, pass.begin, pass.end);
      },
      [&](const state::Pass& pass, TextBuffer& out) {
        if (arguments.input_output && arguments.json)
          put_json_object({{"machines", input_output_json(pass)}}, out);
        else if (arguments.input_output)
          put_input_output(pass, most_rows(arguments), Style(STDOUT_FILENO), out);
        else if (arguments.exits && arguments.json)
          put_json_object({{"vcpus", vm_exits_json(pass)}}, out);
        else if (arguments.exits)
          put_vm_exits(pass, Style(STDOUT_FILENO), out);
        else if (arguments.json)
          put_json(pass, question, out);
        else if (arguments.csv)
          put_csv(pass, question, out);
        else
          put_text(pass, arguments, question, out);
      });
}

}  // namespace strata::cli
