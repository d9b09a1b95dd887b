// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "format/tracedat/layout.h"
#include "format/tracedat/packed_pages.h"

namespace strata::tracedat {

struct WriteOptions {
  Compression compression = Compression::Zstd;  // or None
  // Pages in a compressed chunk; 0: default_chunk_pages().
  uint32_t chunk_pages = 0;
};

struct NewOption {
  OptionId id{};
  std::vector<std::byte> data;
};

// One that is a text, as most are.
NewOption text_option(OptionId id, std::string_view text);

struct PlannedBuffer {
  std::string name;  // "" for the main one
  std::string clock;
  uint32_t page_size = 4096;
  std::vector<uint32_t> cpus;  // in the order in which their pages will come
};

// Everything a file holds but its events.
struct Head {
  ftrace::Target target;
  uint32_t page_size = 4096;
  std::string_view header_page;
  std::string_view header_event;
  std::vector<EventFormat> formats;  // those of one system side by side
  std::string_view kallsyms;
  std::string_view printk_formats;
  std::string_view cmdlines;
  // Without those that say where something is: the writer adds them.
  std::vector<NewOption> options;
  std::vector<PlannedBuffer> buffers;
};

// Writes trace.dat, version 7. What the file is made of comes first and the events last, so that a
// file that was cut off still opens with the events that are there.
//
// Pages come buffer by buffer and CPU by CPU as the head plans them:
//
//     writer.begin_cpu(); writer.add_page(...); ... writer.begin_cpu(); ... writer.finish();
class Writer {
 public:
  static Result<Writer> create(const std::string& path, const Head& head, WriteOptions options);

  // The next CPU in the plan; where a buffer's are done, the next buffer's first.
  Status begin_cpu();
  // Of the buffer's page size.
  Status add_page(Bytes page);
  // All at once, from the start of a file; only where nothing is compressed.
  Status add_pages_of(const std::string& path, uint64_t size) {
    return file_.append_file(path, size);
  }
  // The same where they are compressed: the CPU's first pages, packed before.
  Status add_packed(const PackedPages& packed);
  // The file is whole, and there.
  Status finish();
  // To be called before finish(); see NewFile.
  void be_durable() { file_.be_durable(); }

 private:
  // Where a buffer's option and section are in the file, to be completed at the end.
  struct OpenBuffer {
    PlannedBuffer plan;
    uint64_t option_offset = 0;
    uint64_t section_offset = 0;
    uint64_t section_end = 0;
    std::vector<CpuData> done;
  };

  Writer(NewFile file, const Head& head, WriteOptions options);
  Status write_head(const Head& head);
  Result<uint64_t> write_section(OptionId id, Bytes body);
  Status write_options(const Head& head, const std::vector<NewOption>& sections);
  Status end_cpu();
  Status write_chunk();
  std::vector<std::byte> buffer_option(const OpenBuffer& buffer) const;

  NewFile file_;
  ftrace::Target target_;
  WriteOptions options_;
  std::vector<OpenBuffer> buffers_;
  size_t buffer_ = 0;
  bool in_cpu_ = false;
  uint64_t cpu_offset_ = 0;
  uint32_t chunks_ = 0;
  std::vector<std::byte> chunk_;
  std::vector<std::byte> packed_;  // and its header
};

// Adds options to a finished file of version 7: a section at its end first, then the link to it, so
// that the file is whole at every moment.
Status append_options(const std::string& path, const std::vector<NewOption>& options);

}  // namespace strata::tracedat
