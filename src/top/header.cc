// SPDX-License-Identifier: Apache-2.0
#include "top/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "base/time_text.h"
#include "top/cell_values.h"

namespace strata::top {
namespace {

using period::Certainty;
using period::Column;
using period::CpuRow;
using period::Machine;
using period::RowKind;

// What CPUs do, in the order in which it stands in a bar.
struct Part {
  Style style;
  char letter;  // tells them apart without colours
  std::array<Column, 4> columns;
  size_t count;
};
constexpr std::array<Part, 5> kParts = {{
    {Style::User, 'u', {Column::User}, 1},
    {Style::System, 's', {Column::Syscall, Column::Trap, Column::Kernel}, 3},
    {Style::Irq, 'i', {Column::Irq, Column::Softirq}, 2},
    {Style::Virt, 'v', {Column::Virt}, 1},
    {Style::Unknown, '?', {Column::Unknown}, 1},
}};
constexpr unsigned kMostBarRows = 4;

template <typename Values>
uint64_t sum_of(const Values& values, const Part& part) {
  uint64_t sum = 0;
  for (size_t i = 0; i < part.count; ++i)
    if (values[part.columns[i]] != period::kUnknownCell) sum += values[part.columns[i]];
  return sum;
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(whole);
}

// Writes one piece of text after the other.
class Line {
 public:
  Line(Grid& grid, unsigned row, unsigned column = 0) : grid_(grid), row_(row), at_(column) {}
  Line& put(std::string_view text, Style style = Style::Plain) {
    at_ = grid_.put(row_, at_, text, style);
    return *this;
  }
  Line& to(unsigned column) {
    at_ = std::max(at_, column);
    return *this;
  }
  unsigned at() const { return at_; }

 private:
  Grid& grid_;
  unsigned row_;
  unsigned at_;
};

void draw_bar(const CpuRow& cpu, uint64_t length, Grid& grid, unsigned row, unsigned column,
              unsigned width) {
  const std::string number = fmt::format("{:>3}", cpu.number);
  unsigned at = grid.put(row, column, number, Style::Dim);
  const uint64_t idle = std::min(cpu.values[Column::Idle], length);
  const std::string load = fmt::format("{:.1f}%", percent(length - idle, length));
  at = grid.put(row, at, "[", Style::Bold);
  const unsigned end = column + width - 2;
  const unsigned inside = end > at ? end - at : 0;
  // Rounded at each edge, so that the pieces together are as long as their sum.
  uint64_t sum = 0;
  unsigned drawn = 0;
  for (const Part& part : kParts) {
    sum += sum_of(cpu.values, part);
    const auto until =
        std::min(inside, static_cast<unsigned>(percent(sum, length) * inside / 100 + 0.5));
    for (; drawn < until; ++drawn)
      grid.put(row, at + drawn, std::string_view(&part.letter, 1), part.style);
  }
  if (load.size() < inside)
    grid.put(row, end - static_cast<unsigned>(load.size()), load,
             idle == length ? Style::Dim : Style::Plain);
  grid.put(row, end, "]", Style::Bold);
}

// Every CPU has a bar while there is room, otherwise a digit of its load.
unsigned draw_cpus(const Machine& machine, uint64_t length, Grid& grid, unsigned row) {
  const auto count = static_cast<unsigned>(machine.cpus.size());
  if (count == 0) return row;
  const unsigned most = std::max(1u, std::min(kMostBarRows, grid.height() / 8));
  constexpr unsigned kLeastBar = 20;
  unsigned across = std::max(1u, (count + most - 1) / most);
  if (count > 1) across = std::max(across, grid.width() >= 2 * kLeastBar ? 2u : 1u);
  if (grid.width() / across >= kLeastBar) {
    const unsigned width = grid.width() / across;
    for (unsigned i = 0; i < count; ++i)
      draw_bar(machine.cpus[i], length, grid, row + i / across, i % across * width, width);
    return row + (count + across - 1) / across;
  }
  unsigned at = grid.put(row, 0, "load of each CPU, in tenths ", Style::Dim);
  const unsigned end = row + most;
  for (const CpuRow& cpu : machine.cpus) {
    if (at >= grid.width()) {
      if (row + 1 == end) break;  // the line below has the sum of all
      ++row;
      at = 0;
    }
    const uint64_t idle = std::min(cpu.values[Column::Idle], length);
    const auto tenth = std::min(9u, static_cast<unsigned>(percent(length - idle, length) / 10));
    const char digit = static_cast<char>('0' + tenth);
    at = grid.put(row, at, std::string_view(&digit, 1),
                  tenth == 0   ? Style::Dim
                  : tenth >= 9 ? Style::Error
                  : tenth >= 5 ? Style::Warning
                               : Style::Good);
  }
  return row + 1;
}

void draw_modes(const Machine& machine, uint64_t length, Grid& grid, unsigned row) {
  const uint64_t all = length * std::max<size_t>(machine.cpus.size(), 1);
  constexpr std::array<std::string_view, 5> kNames = {"user", "system", "irq", "VIRT", "unknown"};
  Line line(grid, row);
  line.put(fmt::format("{} CPUs: ", machine.cpus.size()), Style::Dim);
  for (size_t i = 0; i < kParts.size(); ++i) {
    const Certainty certainty = machine.marks.of(RowKind::Cpu, kParts[i].columns[0]);
    const uint64_t ns = sum_of(machine.values, kParts[i]);
    std::string text = "?";
    if (certainty != Certainty::Unknown)
      text =
          fmt::format("{}{:.1f}", certainty == Certainty::Estimated ? "~" : "", percent(ns, all));
    const bool is_alarm = kParts[i].style == Style::Unknown && ns > 0;
    line.put(kNames[i], kParts[i].style)
        .put(" ")
        .put(text, is_alarm ? Style::Warning : Style::Bold);
    line.put("  ");
  }
  line.put("idle ", Style::Idle)
      .put(fmt::format("{:.1f}", percent(machine.values[Column::Idle], all)), Style::Bold)
      .put(" %", Style::Dim);
}

std::string change_text(uint64_t now, uint64_t before) {
  if (now == before) return "";
  return now > before ? fmt::format(" (+{})", now - before) : fmt::format(" (-{})", before - now);
}

// Numbers with what they are of, one after the other.
class Counts {
 public:
  Counts(const Machine& machine, const Scale& scale, Grid& grid, unsigned row)
      : machine_(machine), scale_(scale), line_(grid, row) {}

  Counts& put(Column column, std::string_view what,
              const std::optional<uint64_t>& before = std::nullopt) {
    return put(cell_value(machine_, machine_, column), what, before);
  }
  Counts& put(const Value& value, std::string_view what,
              const std::optional<uint64_t>& before = std::nullopt) {
    const bool is_known = value.kind == Value::Kind::Number;
    const std::string number = is_known ? grouped(value.number) : "?";
    line_.put(value.is_estimated ? "~" : "").put(number, is_known ? Style::Bold : Style::Unknown);
    line_.put(" ").put(what, Style::Dim);
    if (before && is_known) line_.put(change_text(value.number, *before), Style::Warning);
    line_.put("  ");
    return *this;
  }
  // In and out through all rows of a kind, by the second.
  template <typename Row>
  Counts& put_traffic(std::string_view what, const std::vector<Row>& rows) {
    line_.put(what, Style::Dim).put(" in ", Style::Dim);
    line_.put(bandwidth(rows, Column::ReadBytes), Style::Read).put(" out ", Style::Dim);
    line_.put(bandwidth(rows, Column::WrittenBytes), Style::Written).put(" B/s  ", Style::Dim);
    return *this;
  }

 private:
  template <typename Row>
  std::string bandwidth(const std::vector<Row>& rows, Column column) const {
    const bool is_told =
        machine_.marks.of(Row::kKind, column) != Certainty::Unknown && !rows.empty();
    Value sum = is_told ? Value::of(0) : Value::unknown();
    for (const Row& row : rows) {
      const Value more = cell_value(machine_, row, column);
      if (more.kind != Value::Kind::Number) continue;
      sum.number += more.number;
      sum.is_estimated = sum.is_estimated || more.is_estimated;
    }
    return text_of(sum, Shown::BytesPerSecond, scale_);
  }

  const Machine& machine_;
  const Scale& scale_;
  Line line_;
};

// Nobody looked for them where nobody knows about guests' code.
Value machines_in(const Machine& machine) {
  const bool is_told = machine.marks.of(RowKind::Cpu, Column::Virt) != Certainty::Unknown;
  return is_told || !machine.vms.empty() ? Value::of(machine.vms.size()) : Value::unknown();
}

// What was seen and what was not, and what seeing it cost.
void draw_watching(const Machine& machine, const Scale& scale, Grid& grid, unsigned row) {
  const auto& values = machine.values;
  Line line(grid, row);
  const Value events = cell_value(machine, machine, Column::Events);
  line.put(text_of(events, Shown::PerSecond, scale),
           events.kind == Value::Kind::Unknown ? Style::Unknown : Style::Bold);
  line.put(" events/s  ", Style::Dim);
  const auto alarm = [&](Column column, std::string_view before, std::string_view behind,
                         Style style = Style::Error) {
    if (values[column] == 0 || values[column] == period::kUnknownCell) return;
    line.put(fmt::format("{}{}{}  ", before, grouped(values[column]), behind), style);
  };
  if (values[Column::LostEvents] + values[Column::Losses] == 0) line.put("lost 0  ", Style::Dim);
  alarm(Column::LostEvents, "lost ", "");
  if (values[Column::LostEvents] == 0) alarm(Column::Losses, "lost some, ", " times");
  // The kernel did not tell of them; what they left unknown is in the unknown time.
  alarm(Column::MissedSwitches, "missed ", " switches", Style::Warning);
  alarm(Column::NoRoom, "no room for ", "");
  if (values[Column::Observer] == 0 || values[Column::Observer] == period::kUnknownCell) return;
  // In percent of one CPU.
  const auto cost = [&](Column column, std::string_view what) {
    const Value value = cell_value(machine, machine, column);
    const std::string text = fmt::format("{}{:.2f}", value.is_estimated ? "~" : "",
                                         percent(value.number, scale.length_ns));
    line.put(value.kind == Value::Kind::Number ? text : "?", Style::Bold).put(what, Style::Dim);
  };
  line.put("cost: ", Style::Dim);
  cost(Column::Observer, " % here, ");
  cost(Column::Observing, " % in all others");
}

std::string going_text(const Moment& moment) {
  switch (moment.going) {
    case Going::Printed:
      break;
    case Going::Live:
      return "LIVE";
    case Going::Played:
      return moment.speed == 1 ? "PLAYING" : fmt::format("PLAYING x{:g}", moment.speed);
    case Going::Paused:
      return moment.behind > 0 ? fmt::format("PAUSED -{}", moment.behind) : "PAUSED";
    case Going::Ended:
      return "END";
  }
  return {};
}

// The name may be long; the period and what goes on are always there.
void draw_title(const period::Table& table, const Machine& machine, const Moment& moment,
                Grid& grid) {
  const std::string begin = time_text(table.begin, table.clock);
  std::string end = time_text(table.end, table.clock);
  // The day is said once.
  if (table.clock == "epoch" && begin.substr(0, 10) == end.substr(0, 10)) end.erase(0, 11);
  const std::string period = begin + " – " + end;
  const std::string going = going_text(moment) + (moment.beside.empty() ? "" : " " + moment.beside);
  const size_t taken = period.size() - 2 + going.size() + 2;  // a dash is three bytes
  const auto most = static_cast<unsigned>(grid.width() > taken + 4 ? grid.width() - taken : 4);
  const unsigned at = grid.put(0, 0, machine.name.empty() ? "?" : machine.name, Style::Bold, most);
  const bool goes_on = moment.going == Going::Live || moment.going == Going::Played;
  Line(grid, 0, at + 1).put(period).put(" ").put(going, goes_on ? Style::Good : Style::Warning);
}

}  // namespace

std::string time_text(int64_t ns, const std::string& clock) {
  if (clock == "epoch") return WallClock(true).text(Nanoseconds{ns});
  const int64_t second = 1'000'000'000;
  return fmt::format("{}.{:09}", ns / second, ns % second < 0 ? 0 : ns % second);
}

unsigned draw_header(const period::Table& table, const Machine& machine, const Moment& moment,
                     const std::optional<Population>& before, Grid& grid) {
  const Scale scale{static_cast<uint64_t>(std::max<int64_t>(table.length(), 1))};
  draw_title(table, machine, moment, grid);
  unsigned row = draw_cpus(machine, scale.length_ns, grid, 1);
  draw_modes(machine, scale.length_ns, grid, row++);
  Counts(machine, scale, grid, row++)
      .put(Column::Processes, "processes", before ? std::optional(before->processes) : std::nullopt)
      .put(Column::Threads, "threads", before ? std::optional(before->threads) : std::nullopt)
      .put(Column::Born, "born")
      .put(Column::Ended, "ended")
      .put(machines_in(machine), "VMs");
  Counts(machine, scale, grid, row++)
      .put(Column::OpenFiles, "files")
      .put(Column::Connections, "connections")
      .put_traffic("net", machine.interfaces)
      .put_traffic("disk", machine.devices);
  draw_watching(machine, scale, grid, row++);
  return row;
}

}  // namespace strata::top
