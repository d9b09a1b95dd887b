// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "period/table.h"

namespace strata::live {

// What the kernel counts for the whole machine anyway, in a few files that stay open: open files,
// TCP connections and block devices.
class MachineFiles {
 public:
  MachineFiles();

  // Now, less what it was at the last call; the first is that from which to count.
  void tell(period::Machine& machine);

 private:
  struct File {
    FileDescriptor fd;
    std::string text = {};
  };
  static std::string_view read(File& file);
  void tell_devices(std::string_view text, period::Machine& machine);
  bool is_partition(uint32_t device);

  File open_files_;
  File connections_;
  File devices_;
  std::map<uint32_t, period::DeviceRow::Values> devices_before_;
  std::map<uint32_t, bool> partitions_;
};

// The number in the row that the heading calls so, in the text of /proc/net/snmp: each protocol has
// a line of headings and one of numbers.
std::optional<uint64_t> snmp_number(std::string_view text, std::string_view protocol,
                                    std::string_view heading);
// Of a line of /proc/diskstats.
std::optional<period::DeviceRow> parse_device(std::string_view line);

}  // namespace strata::live
