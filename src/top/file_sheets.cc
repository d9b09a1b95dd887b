// SPDX-License-Identifier: Apache-2.0
#include "top/file_sheets.h"

#include <array>

#include "top/cell_values.h"

namespace strata::top {
namespace {

using period::Column;
using period::Machine;

enum FileId : size_t {
  kKind,
  kRead,
  kWrite,
  kIo,
  kReads,
  kWrites,
  kLatency,
  kOpens,
  kBusy,
  kQueue,
  kPackets,
  kName,
  kFileColumns_
};

constexpr std::array<SheetColumn, kFileColumns_> kFileColumns = {{
    {"kind", "KIND", Shown::Text, "file, socket, pipe, ...; disk, interface", 9},
    {"read", "READ/s", Shown::BytesPerSecond, "bytes read, or received"},
    {"write", "WRIT/s", Shown::BytesPerSecond, "bytes written, or sent"},
    {"io", "I/O/s", Shown::BytesPerSecond, "both"},
    {"reads", "RD/s", Shown::PerSecond, "calls that read; of disks requests; packets in"},
    {"writes", "WR/s", Shown::PerSecond, "calls that wrote; packets out"},
    {"lat", "LAT", Shown::Duration, "how long a call took"},
    {"opens", "OPEN/s", Shown::PerSecond, "times that it was opened"},
    {"busy", "BUSY%", Shown::Share, "a disk had at least one request"},
    {"queue", "QUEUE", Shown::Share, "requests that a disk had at once: 100 is one"},
    {"refused", "REFU/s", Shown::PerSecond, "packets that an interface did not take"},
    {"name", "NAME", Shown::Text, "of the file, or the peer", 30},
}};

enum DescriptorId : size_t {
  kNumber,
  kDKind,
  kDRead,
  kDWrite,
  kDIo,
  kDReads,
  kDWrites,
  kDLatency,
  kDName,
  kDescriptorColumns_
};

constexpr std::array<SheetColumn, kDescriptorColumns_> kDescriptorColumns = {{
    {"fd", "FD", Shown::Id, "the descriptor"},
    {"kind", "KIND", Shown::Text, "file, socket, pipe, ...", 9},
    {"read", "READ/s", Shown::BytesPerSecond, "bytes read"},
    {"write", "WRIT/s", Shown::BytesPerSecond, "bytes written"},
    {"io", "I/O/s", Shown::BytesPerSecond, "both"},
    {"reads", "RD/s", Shown::PerSecond, "calls that read"},
    {"writes", "WR/s", Shown::PerSecond, "calls that wrote"},
    {"lat", "LAT", Shown::Duration, "how long a call took"},
    {"name", "NAME", Shown::Text, "of the file, or the peer", 30},
}};

std::string known(const std::string& text) { return text.empty() ? "?" : text; }

template <typename Row>
Value latency_of(const Machine& machine, const Row& row) {
  return quotient(cell_value(machine, row, Column::InCalls),
                  cell_sum(machine, row, {Column::Reads, Column::Writes}), 1);
}

Value value_of(const Machine& machine, const period::FileRow& row, size_t column) {
  switch (static_cast<FileId>(column)) {
    case kKind:
      return Value::of(row.kind);
    case kReads:
      return cell_value(machine, row, Column::Reads);
    case kWrites:
      return cell_value(machine, row, Column::Writes);
    case kLatency:
      return latency_of(machine, row);
    case kOpens:
      return cell_value(machine, row, Column::Opens);
    case kName:
      return Value::of(known(row.name));
    default:
      return {};
  }
}

Value value_of(const Machine& machine, const period::DeviceRow& row, size_t column) {
  switch (static_cast<FileId>(column)) {
    case kKind:
      return Value::of("disk");
    case kReads:
      return cell_value(machine, row, Column::Requests);
    case kBusy:
      return cell_value(machine, row, Column::Busy);
    case kQueue:
      return cell_value(machine, row, Column::Depth);
    case kName:
      return Value::of(known(row.name));
    default:
      return {};
  }
}

Value value_of(const Machine& machine, const period::InterfaceRow& row, size_t column) {
  switch (static_cast<FileId>(column)) {
    case kKind:
      return Value::of("interface");
    case kReads:
      return cell_value(machine, row, Column::PacketsIn);
    case kWrites:
      return cell_value(machine, row, Column::PacketsOut);
    case kPackets:
      return cell_value(machine, row, Column::PacketsRefused);
    case kName:
      return Value::of(known(row.name));
    default:
      return {};
  }
}

// Of all three kinds of rows.
template <typename Row>
Value traffic_of(const Machine& machine, const Row& row, size_t column) {
  switch (static_cast<FileId>(column)) {
    case kRead:
      return cell_value(machine, row, Column::ReadBytes);
    case kWrite:
      return cell_value(machine, row, Column::WrittenBytes);
    case kIo:
      return cell_sum(machine, row, {Column::ReadBytes, Column::WrittenBytes});
    default:
      return value_of(machine, row, column);
  }
}

// Whichever row a line is of.
auto with_row(const Machine& machine, size_t line, auto&& visit) {
  if (line < machine.files.size()) return visit(machine.files[line]);
  line -= machine.files.size();
  if (line < machine.devices.size()) return visit(machine.devices[line]);
  return visit(machine.interfaces[line - machine.devices.size()]);
}

LineKey key_of(const period::FileRow& row) {
  return key_of_texts(row.name, row.kind, row.number ^ row.device << 32);
}
LineKey key_of(const period::DeviceRow& row) { return {row.number, 1}; }
LineKey key_of(const period::InterfaceRow& row) { return key_of_texts(row.name, "interface"); }

}  // namespace

std::span<const SheetColumn> FileSheet::columns() const { return kFileColumns; }

Value FileSheet::value(size_t line, size_t column) const {
  return with_row(machine_, line,
                  [&](const auto& row) { return traffic_of(machine_, row, column); });
}

LineKey FileSheet::key(size_t line) const {
  return with_row(machine_, line, [](const auto& row) { return key_of(row); });
}

Style FileSheet::style(size_t, size_t column) const {
  if (column == kRead || column == kReads) return Style::Read;
  if (column == kWrite || column == kWrites) return Style::Written;
  return column == kBusy ? Style::Blocked : Style::Plain;
}

DescriptorSheet::DescriptorSheet(const Machine& machine, int32_t pid) : machine_(machine) {
  for (const period::DescriptorRow& row : machine.descriptors)
    if (row.pid == pid) rows_.push_back(&row);
}

std::span<const SheetColumn> DescriptorSheet::columns() const { return kDescriptorColumns; }

Value DescriptorSheet::value(size_t line, size_t column) const {
  const period::DescriptorRow& row = *rows_[line];
  switch (static_cast<DescriptorId>(column)) {
    case kNumber:
      return row.number < 0 ? Value() : Value::of(static_cast<uint64_t>(row.number));
    case kDKind:
      return Value::of(row.kind);
    case kDRead:
      return cell_value(machine_, row, Column::ReadBytes);
    case kDWrite:
      return cell_value(machine_, row, Column::WrittenBytes);
    case kDIo:
      return cell_sum(machine_, row, {Column::ReadBytes, Column::WrittenBytes});
    case kDReads:
      return cell_value(machine_, row, Column::Reads);
    case kDWrites:
      return cell_value(machine_, row, Column::Writes);
    case kDLatency:
      return latency_of(machine_, row);
    case kDName:
      return Value::of(known(row.name));
    case kDescriptorColumns_:
      break;
  }
  return {};
}

LineKey DescriptorSheet::key(size_t line) const {
  const period::DescriptorRow& row = *rows_[line];
  return key_of_texts(row.name, row.kind, static_cast<uint64_t>(row.number) ^ row.inode << 16);
}

Style DescriptorSheet::style(size_t, size_t column) const {
  if (column == kDRead || column == kDReads) return Style::Read;
  if (column == kDWrite || column == kDWrites) return Style::Written;
  return Style::Plain;
}

}  // namespace strata::top
