// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "support/ring_page_maker.h"

namespace strata::tracedat {

using PageBytes = std::vector<std::byte>;

// A trace.dat put together byte by byte, as trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5) define it:
// what the reader is held against. It shares no code with the project's own writer.
struct DatMaker {
  enum class Packing : uint8_t { None, Zlib, Zstd };
  struct Cpu {
    uint32_t cpu = 0;
    std::vector<PageBytes> pages;
  };
  struct Buffer {
    std::string name;
    std::string clock = "local";
    uint32_t page_size = 4096;
    std::vector<Cpu> cpus;
  };
  struct Option {
    uint16_t id = 0;
    std::vector<std::byte> data;
  };

  ByteOrder order = ByteOrder::Little;
  uint8_t long_size = 8;
  uint32_t page_size = 4096;
  std::vector<std::string> ftrace_formats;
  std::vector<std::pair<std::string, std::vector<std::string>>> systems;
  std::string kallsyms = "ffffffff81000000 T _text\n";
  std::string printk = "0xffffffff82000000 : \"hello\"\n";
  std::string cmdlines = "17 seventeen\n18 eighteen\n";
  std::vector<Option> options;
  std::vector<Buffer> buffers;  // the first is the main one

  // Version 7 only.
  Packing packing = Packing::None;
  uint32_t chunk_pages = 10;
  // Writers disagree on whether a CPU's size counts the number of chunks before them.
  bool size_counts_chunk_count = true;
  std::vector<Option> later_options;  // in a second section of options

  void add_option(uint16_t id, std::string_view text);
  void add_option(uint16_t id, const std::function<void(ByteWriter&)>& fill);

  std::string header_page() const;
  static std::string header_event();

  std::vector<std::byte> version_6() const;
  std::vector<std::byte> version_7() const;
};

// The events of these tests. test:number is a number; test:text a located text.
constexpr uint16_t kNumberId = 100;
constexpr uint16_t kTextId = 101;
std::string number_format();
std::string text_format();
PageBytes number_record(uint64_t value, ByteOrder order = ByteOrder::Little, int32_t pid = 17);
PageBytes text_record(std::string_view text, ByteOrder order = ByteOrder::Little, int32_t pid = 18);

// A file with the formats of these events and an empty main buffer.
DatMaker empty_dat(ByteOrder order = ByteOrder::Little, uint8_t long_size = 8);

// A page of test:number, from `first` on, each value the time of its event and `step` after the one
// before.
PageBytes page_of_numbers(const DatMaker& dat, uint64_t first, unsigned count, uint32_t step = 10,
                          size_t page_size = 4096);

// CPUs 0 to cpus-1 with so many pages of `per_page` events each; no two events at the same time.
DatMaker dat_of_numbers(unsigned cpus, unsigned pages, unsigned per_page,
                        ByteOrder order = ByteOrder::Little, uint8_t long_size = 8);

}  // namespace strata::tracedat
