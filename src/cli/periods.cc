// SPDX-License-Identifier: Apache-2.0
#include "cli/periods.h"

#include <unistd.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/time_text.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/period.h"
#include "cli/terminal.h"
#include "period/json.h"

namespace strata::cli {
namespace {

using period::Column;
using period::Unit;

constexpr size_t kMostRows = 20;

std::string share_text(uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f",
                100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string cell_text(Column column, uint64_t value, uint64_t length) {
  if (value == period::kUnknownCell) return "?";
  if (value == 0) return "";
  switch (period::info_of(column).unit) {
    case Unit::Nanoseconds:
      return share_text(value, length);
    case Unit::Bytes:
      return size_text(value);
    default:
      return grouped(value);
  }
}

std::string heading_of(Column column) {
  const std::string heading(period::info_of(column).heading);
  return period::is_time(column) ? heading + " %" : heading;
}

std::string seconds_text(int64_t ns) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%09lld", static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000));
  return text;
}

// One machine in one period.
class Block {
 public:
  Block(const period::Machine& machine, uint64_t length, size_t most, const Style& style,
        TextBuffer& out)
      : machine_(machine), length_(length), most_(most), style_(style), out_(out) {}

  void put() {
    put_rows(machine_.cpus, {"CPU"}, [](const period::CpuRow& row) {
      return std::vector<std::string>{std::to_string(row.number)};
    });
    put_tasks();
    put_rows(machine_.vcpus, {"virtual machine", "virtual CPU", "TID"},
             [](const period::VcpuRow& row) {
               return std::vector<std::string>{row.vm, std::to_string(row.number),
                                               std::to_string(row.tid)};
             });
    put_rows(machine_.exits, {"exit", "PID"}, [](const period::ExitRow& row) {
      return std::vector<std::string>{row.reason, std::to_string(row.pid)};
    });
    put_rows(most_bytes_first(machine_.files), {"file, or peer", "kind"},
             [](const period::FileRow& row) {
               return std::vector<std::string>{row.name.empty() ? "?" : row.name, row.kind};
             });
    put_rows(used(machine_.devices), {"block device"},
             [](const period::DeviceRow& row) { return std::vector<std::string>{row.name}; });
    put_rows(used(machine_.interfaces), {"interface"},
             [](const period::InterfaceRow& row) { return std::vector<std::string>{row.name}; });
    put_latencies();
  }

 private:
  template <typename Row>
  void put_rows(const std::vector<Row>& rows, std::vector<std::string> headings, auto&& begin_of) {
    if (rows.empty()) return;
    const size_t texts = headings.size();
    for (const Column column : Row::Values::kOrder) headings.push_back(heading_of(column));
    Table table(std::move(headings));
    for (size_t i = 1; i < texts; ++i) table.align_left(i);
    for (size_t i = 0; i < std::min(rows.size(), most_); ++i) {
      std::vector<std::string> cells = begin_of(rows[i]);
      for (const Column column : Row::Values::kOrder)
        cells.push_back(cell_text(column, rows[i].values[column], length_));
      table.add(std::move(cells));
    }
    put_table(table, rows.size());
  }

  void put_table(const Table& table, size_t rows) {
    out_.put('\n');
    table.put(style_, 2, out_);
    if (rows > most_) out_.put("  and " + grouped(rows - most_) + " more (--limit 0 shows all)\n");
  }

  // Those that ran most; of the others those that could not most.
  void put_tasks() {
    std::vector<period::TaskRow> tasks = machine_.tasks;
    std::ranges::stable_sort(tasks, std::ranges::greater(), [](const period::TaskRow& row) {
      return std::pair(row.on_cpu_ns(), row.values[Column::WaitCpu]);
    });
    put_rows(tasks, {"task", "PID", "TID", "state", "ended", "CPU %"},
             [&](const period::TaskRow& row) {
               return std::vector<std::string>{
                   row.name.empty() ? "?" : row.name,
                   row.pid == period::kNoId ? "" : std::to_string(row.pid),
                   std::to_string(row.tid),
                   row.state ? std::string(period::state_name(*row.state)) : "dead",
                   row.has_ended ? (row.exit_code ? std::to_string(*row.exit_code) : "?") : "",
                   share_text(row.on_cpu_ns(), length_)};
             });
  }

  // A machine has many devices of which nobody makes use.
  template <typename Row>
  static std::vector<Row> used(std::vector<Row> rows) {
    std::erase_if(rows, [](const Row& row) { return row.values.is_zero(); });
    return rows;
  }

  static std::vector<period::FileRow> most_bytes_first(std::vector<period::FileRow> files) {
    std::ranges::stable_sort(files, std::ranges::greater(), [](const period::FileRow& row) {
      return row.values[Column::ReadBytes] + row.values[Column::WrittenBytes];
    });
    return files;
  }

  void put_latencies() {
    if (machine_.latencies.empty()) return;
    Table table({"latency", "of", "count", "average", "half below", "99 % below"});
    table.align_left(1);
    const auto text = [](uint64_t ns) {
      return duration_text(Nanoseconds{static_cast<int64_t>(ns)});
    };
    std::vector<period::LatencyRow> rows = machine_.latencies;
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [](const period::LatencyRow& row) { return row.histogram.sum_ns; });
    for (size_t i = 0; i < std::min(rows.size(), most_); ++i)
      table.add({std::string(period::name_of(rows[i].what)), rows[i].name,
                 grouped(rows[i].histogram.count), text(rows[i].histogram.average_ns()),
                 text(rows[i].histogram.below_ns(0.5)), text(rows[i].histogram.below_ns(0.99))});
    put_table(table, rows.size());
  }

  const period::Machine& machine_;
  uint64_t length_;
  size_t most_;
  const Style& style_;
  TextBuffer& out_;
};

void put_text(const period::Table& table, int64_t first, size_t most, const Style& style,
              TextBuffer& out) {
  for (const period::Machine& machine : table.machines) {
    const auto& values = machine.values;
    out.put(style.heading(seconds_text(table.begin - first) + " to " +
                          seconds_text(table.end - first) + " s"));
    if (!machine.name.empty()) out.put("  " + machine.name);
    out.put("  " + grouped(values[Column::Events]) + " events, " +
            grouped(values[Column::Threads]) + " threads, " + grouped(values[Column::Born]) +
            " born, " + grouped(values[Column::Ended]) + " ended");
    const auto length = static_cast<uint64_t>(table.length());
    const uint64_t all = length * machine.cpus.size();
    if (values[Column::Unknown] > 0)
      out.put(", mode unknown " + share_text(values[Column::Unknown], all) + " %");
    out.put('\n');
    if (values[Column::Losses] > 0)
      out.put(style.alarm("events were lost " + grouped(values[Column::Losses]) + " times") + "\n");
    Block(machine, length, most, style, out).put();
    out.put('\n');
  }
}

}  // namespace

int run_periods(const StatsArguments& arguments) {
  const Result<Nanoseconds> length = parse_duration(arguments.period);
  if (!length || length->count <= 0) {
    complain("--period: " +
             (length ? "a period takes longer than nothing" : length.error().text()));
    return kExitUsage;
  }
  const Style style(STDOUT_FILENO);
  const size_t most = arguments.limit == 0 ? SIZE_MAX : arguments.limit.value_or(kMostRows);
  Output out(STDOUT_FILENO);
  int64_t first = 0;
  Status written;
  const int status = ask(
      arguments.paths,
      [&](const Traces& traces, state::Pass& pass) {
        first = pass.span().begin.count;
        pass.periods = {*length, trace::time_base(traces.opened)};
        pass.at_period = [&](period::Table&& table) {
          if (arguments.json)
            period::put_json(table, out.text());
          else
            put_text(table, first, most, style, out.text());
          return out.drain();
        };
        return resolve_period(arguments.begin, arguments.end, traces, pass.begin, pass.end);
      },
      [&](const state::Pass&, TextBuffer&) { written = out.finish(); });
  if (written) return status;
  complain(written.error());
  return kExitInput;
}

}  // namespace strata::cli
