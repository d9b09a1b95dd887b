// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "ftrace/format_file.h"

namespace strata::tracedat {

// The options a file may carry, by the numbers of the format.
enum class OptionId : uint16_t {
  Done = 0,
  Date = 1,
  CpuStat = 2,
  Buffer = 3,
  TraceClock = 4,
  Uname = 5,
  Hook = 6,
  Offset = 7,
  CpuCount = 8,
  Version = 9,
  ProcMaps = 10,
  TraceId = 11,
  TimeShift = 12,
  Guest = 13,
  Tsc2Nsec = 14,
  Strings = 15,
  HeaderInfo = 16,
  FtraceEvents = 17,
  EventFormats = 18,
  Kallsyms = 19,
  Printk = 20,
  CmdLines = 21,
  BufferText = 22,
  BtfFile = 23,
  LastBootInfo = 24,
  ModulesFile = 25,
};

struct Option {
  OptionId id{};
  Bytes data;
  uint64_t offset = 0;  // of `data` in the file
};

enum class Compression : uint8_t { None, Zlib, Zstd };

// Where one CPU's pages are.
struct CpuData {
  uint32_t cpu = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  const MappedFile* file = nullptr;  // null: in the trace's own; see TraceDat::is_unfinished()
};

// One ring buffer's worth of CPUs: the main one (name "") or an instance.
struct Buffer {
  std::string name;
  std::string clock;
  uint32_t page_size = 0;
  bool compressed = false;
  std::vector<CpuData> cpus;
};

struct EventFormat {
  std::string_view system;
  std::string_view text;
};

// What is where in a file: the result of reading everything but the events. Both versions of the
// format give the same. Views point into the mapped file or into `unpacked`.
struct Layout {
  unsigned version = 0;
  ftrace::Target target;
  uint8_t user_long_size = 8;
  uint32_t page_size = 4096;
  Compression compression = Compression::None;
  std::string compression_name;
  std::string compression_version;

  std::string_view header_page;
  std::string_view header_event;
  std::vector<EventFormat> formats;
  std::string_view kallsyms;
  std::string_view printk_formats;
  std::string_view cmdlines;
  std::vector<Option> options;  // all of them, unknown ones too, in the file's order
  std::vector<Buffer> buffers;
  std::string_view latency_text;  // a "latency" file holds text instead of events
  uint32_t cpus = 0;
  // Version 7: where the last options section's DONE keeps its offset of the next section, so that
  // one can be appended.
  uint64_t last_done = 0;

  std::deque<std::string> unpacked;  // sections that were compressed
  std::vector<Error> problems;       // what could not be read of an otherwise readable file

  const Option* find(OptionId id) const;
};

// Fails only where there is nothing to be read: no trace.dat, or cut off before any event could be.
Result<Layout> read_layout(const MappedFile& file);

}  // namespace strata::tracedat
