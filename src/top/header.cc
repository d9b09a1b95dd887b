// SPDX-License-Identifier: Apache-2.0
#include "top/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

// What a label is of, where it is known; estimated and unknown values are marked.
struct Told {
  std::string text;
  Style style = Style::Bold;
};

Told told(const Machine& machine, Column column, Shown shown, const Scale& scale) {
  const Value value = cell_value(machine, machine, column);
  return {text_of(value, shown, scale),
          value.kind == Value::Kind::Unknown ? Style::Unknown : Style::Bold};
}

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

void draw_population(const Machine& machine, const Scale& scale,
                     const std::optional<Population>& before, Grid& grid, unsigned row) {
  const auto& values = machine.values;
  Line line(grid, row);
  const auto count = [&](Column column, std::string_view what, const std::optional<uint64_t>& was) {
    Told number = told(machine, column, Shown::Count, scale);
    if (values[column] != period::kUnknownCell && number.style != Style::Unknown)
      number.text = (number.text.starts_with('~') ? "~" : "") + grouped_number(values[column]);
    line.put(number.text, number.style).put(" ").put(what, Style::Dim);
    if (was) line.put(change_text(values[column], *was), Style::Warning);
    line.put("  ");
  };
  count(Column::Processes, "processes", before ? std::optional(before->processes) : std::nullopt);
  count(Column::Threads, "threads", before ? std::optional(before->threads) : std::nullopt);
  count(Column::Born, "born", std::nullopt);
  count(Column::Ended, "ended", std::nullopt);
  count(Column::OpenFiles, "files", std::nullopt);
  count(Column::Connections, "connections", std::nullopt);
  line.put(grouped_number(machine.vms.size()), Style::Bold).put(" VMs", Style::Dim);
}

// Through all rows of a kind: what is known of them.
template <typename Row>
std::string bandwidth(const Machine& machine, const std::vector<Row>& rows, Column column,
                      const Scale& scale) {
  Value sum = machine.marks.of(Row::kKind, column) == Certainty::Unknown || rows.empty()
                  ? Value::unknown()
                  : Value::of(0);
  for (const Row& row : rows) {
    const Value more = cell_value(machine, row, column);
    if (more.kind != Value::Kind::Number) continue;
    sum.number += more.number;
    sum.is_estimated = sum.is_estimated || more.is_estimated;
  }
  return text_of(sum, Shown::BytesPerSecond, scale);
}

void draw_traffic(const Machine& machine, const Scale& scale, Grid& grid, unsigned row) {
  const auto& values = machine.values;
  Line line(grid, row);
  line.put("net in ", Style::Dim)
      .put(bandwidth(machine, machine.interfaces, Column::ReadBytes, scale), Style::Read)
      .put(" out ", Style::Dim)
      .put(bandwidth(machine, machine.interfaces, Column::WrittenBytes, scale), Style::Written)
      .put("  disk in ", Style::Dim)
      .put(bandwidth(machine, machine.devices, Column::ReadBytes, scale), Style::Read)
      .put(" out ", Style::Dim)
      .put(bandwidth(machine, machine.devices, Column::WrittenBytes, scale), Style::Written)
      .put(" B/s  ", Style::Dim);
  const Told events = told(machine, Column::Events, Shown::PerSecond, scale);
  line.put(events.text, events.style).put(" events/s  ", Style::Dim);
  const uint64_t lost = values[Column::LostEvents];
  const uint64_t losses = values[Column::Losses];
  const uint64_t no_room = values[Column::NoRoom];
  const bool has_lost = lost + losses > 0;
  line.put(has_lost ? fmt::format("lost {}", lost > 0 ? grouped_number(lost) : "some") : "lost 0",
           has_lost ? Style::Error : Style::Dim);
  if (no_room > 0 && no_room != period::kUnknownCell)
    line.put(fmt::format("  no room for {}", grouped_number(no_room)), Style::Error);
  // Switches that the kernel did not tell of; what they left unknown is in the unknown time.
  if (const uint64_t missed = values[Column::MissedSwitches]; missed > 0)
    line.put(fmt::format("  missed {}", grouped_number(missed)), Style::Warning);
  // Its own CPU time and what it costs all others, in percent of one CPU.
  const auto cost = [&](Column column, std::string_view label) {
    if (machine.marks.of(RowKind::Machine, column) == Certainty::Unknown) return;
    if (values[column] == period::kUnknownCell || values[column] == 0) return;
    line.put(label, Style::Dim)
        .put(fmt::format(
                 "{}{:.2f}%",
                 machine.marks.of(RowKind::Machine, column) == Certainty::Estimated ? "~" : "",
                 percent(values[column], scale.length_ns)),
             Style::Bold);
  };
  cost(Column::Observer, "  cost ");
  cost(Column::Observing, "+");
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
  const std::string going = going_text(moment);
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
  draw_population(machine, scale, before, grid, row++);
  draw_traffic(machine, scale, grid, row++);
  return row;
}

}  // namespace strata::top
