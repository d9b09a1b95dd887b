// SPDX-License-Identifier: Apache-2.0
#include "live/machine_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "live/since.h"

namespace strata::live {
namespace {

using period::Column;

constexpr std::string_view kBlanks = " \t";
constexpr uint64_t kSector = 512;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint32_t kMinorBits = 20;

FileDescriptor open_file(const char* path) {
  return FileDescriptor(open(path, O_RDONLY | O_CLOEXEC));
}

// Cut off from the text.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::optional<uint64_t> number(std::string_view word) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// As many as there have to be.
template <size_t kCount>
std::optional<std::array<uint64_t, kCount>> numbers(std::string_view text) {
  std::array<uint64_t, kCount> values;
  for (uint64_t& value : values) {
    const std::optional<uint64_t> next = number(next_word(text));
    if (!next) return std::nullopt;
    value = *next;
  }
  return values;
}

}  // namespace

std::optional<uint64_t> snmp_number(std::string_view text, std::string_view protocol,
                                    std::string_view heading) {
  while (!text.empty()) {
    std::string_view headings = next_line(text);
    if (next_word(headings) != protocol) continue;
    std::string_view values = next_line(text);
    if (next_word(values) != protocol) return std::nullopt;
    while (!headings.empty() && !values.empty()) {
      const std::string_view value = next_word(values);
      if (next_word(headings) == heading) return number(value);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<period::DeviceRow> parse_device(std::string_view line) {
  const std::optional<uint64_t> major = number(next_word(line));
  const std::optional<uint64_t> minor = number(next_word(line));
  if (!major || !minor || *minor >> kMinorBits != 0) return std::nullopt;
  period::DeviceRow row{.number = static_cast<uint32_t>(*major << kMinorBits | *minor),
                        .name = std::string(next_word(line))};
  const auto values = numbers<11>(line);
  if (!values) return std::nullopt;
  const auto& [reads, reads_merged, sectors_read, reading_ms, writes, writes_merged,
               sectors_written, writing_ms, in_flight, busy_ms, depth_ms] = *values;
  row.values.set(Column::Requests, reads + writes);
  row.values.set(Column::ReadBytes, sectors_read * kSector);
  row.values.set(Column::WrittenBytes, sectors_written * kSector);
  row.values.set(Column::InFlight, in_flight);
  row.values.set(Column::Busy, busy_ms * kMillisecond);
  row.values.set(Column::Depth, depth_ms * kMillisecond);
  return row;
}

MachineFiles::MachineFiles()
    : open_files_{open_file("/proc/sys/fs/file-nr")},
      connections_{open_file("/proc/net/snmp")},
      devices_{open_file("/proc/diskstats")} {}

// Such files tell a page at a time, and their end by an empty one.
std::string_view MachineFiles::read(File& file) {
  constexpr size_t kMost = size_t{1} << 16;
  file.text.resize(kMost);
  size_t size = 0;
  while (size < kMost) {
    const ssize_t got =
        pread(file.fd.get(), file.text.data() + size, kMost - size, static_cast<off_t>(size));
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  return std::string_view(file.text).substr(0, size);
}

void MachineFiles::tell(period::Machine& machine) {
  std::string_view open_files = read(open_files_);
  const std::optional<uint64_t> opened = number(next_word(open_files));
  machine.values.set(Column::OpenFiles, opened.value_or(period::kUnknownCell));
  machine.values.set(
      Column::Connections,
      snmp_number(read(connections_), "Tcp:", "CurrEstab").value_or(period::kUnknownCell));
  tell_devices(read(devices_), machine);
}

void MachineFiles::tell_devices(std::string_view text, period::Machine& machine) {
  std::map<uint32_t, period::DeviceRow::Values> now;
  while (!text.empty()) {
    const std::optional<period::DeviceRow> row = parse_device(next_line(text));
    // What nobody has ever used is not worth a line; what is part of another, counted there.
    if (!row || row->values.is_zero() || is_partition(row->number)) continue;
    now[row->number] = row->values;
    machine.devices.push_back(since(*row, devices_before_[row->number]));
  }
  devices_before_ = std::move(now);
}

bool MachineFiles::is_partition(uint32_t device) {
  const auto [found, is_new] = partitions_.emplace(device, false);
  if (is_new) {
    const std::string path = "/sys/dev/block/" + std::to_string(device >> kMinorBits) + ':' +
                             std::to_string(device & ((1u << kMinorBits) - 1)) + "/partition";
    found->second = access(path.c_str(), F_OK) == 0;
  }
  return found->second;
}

}  // namespace strata::live
