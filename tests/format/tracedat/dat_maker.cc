// SPDX-License-Identifier: Apache-2.0
#include "dat_maker.h"

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

namespace strata::tracedat {
namespace {

constexpr uint32_t kNoString = 0xffffffff;

void put_text_64(ByteWriter& out, std::string_view text) {
  out.u64(text.size());
  out.text(text);
}
void put_text_32(ByteWriter& out, std::string_view text) {
  out.u32(static_cast<uint32_t>(text.size()));
  out.text(text);
}
void align(ByteWriter& out, uint64_t multiple) {
  while (out.size() % multiple != 0) out.u8(0);
}

void put_header_info(const DatMaker& dat, ByteWriter& out) {
  out.string("header_page");
  put_text_64(out, dat.header_page());
  out.string("header_event");
  put_text_64(out, DatMaker::header_event());
}
void put_ftrace_events(const DatMaker& dat, ByteWriter& out) {
  out.u32(static_cast<uint32_t>(dat.ftrace_formats.size()));
  for (const std::string& format : dat.ftrace_formats) put_text_64(out, format);
}
void put_event_formats(const DatMaker& dat, ByteWriter& out) {
  out.u32(static_cast<uint32_t>(dat.systems.size()));
  for (const auto& [name, formats] : dat.systems) {
    out.string(name);
    out.u32(static_cast<uint32_t>(formats.size()));
    for (const std::string& format : formats) put_text_64(out, format);
  }
}
void put_prefix(const DatMaker& dat, ByteWriter& out, std::string_view version) {
  out.text("\x17\x08\x44tracing");
  out.string(version);
  out.u8(dat.order == ByteOrder::Big ? 1 : 0);
  out.u8(dat.long_size);
  out.u32(dat.page_size);
}

std::vector<std::byte> pack(DatMaker::Packing packing, Bytes plain) {
  std::vector<std::byte> packed;
  if (packing == DatMaker::Packing::Zstd) {
    packed.resize(ZSTD_compressBound(plain.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  } else {
    uLongf size = compressBound(plain.size());
    packed.resize(size);
    if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                 reinterpret_cast<const Bytef*>(plain.data()), plain.size()) != Z_OK)
      throw std::runtime_error("zlib");
    packed.resize(size);
  }
  return packed;
}

// u32 packed size, u32 plain size, packed bytes
void put_packed(ByteWriter& out, DatMaker::Packing packing, Bytes plain) {
  const auto packed = pack(packing, plain);
  out.u32(static_cast<uint32_t>(packed.size()));
  out.u32(static_cast<uint32_t>(plain.size()));
  out.raw(packed);
}

void put_section_header(ByteWriter& out, uint16_t id, bool packed, uint64_t size) {
  out.u16(id);
  out.u16(packed ? 1 : 0);
  out.u32(kNoString);
  out.u64(size);
}

// Where it begins.
uint64_t put_section(const DatMaker& dat, ByteWriter& out, uint16_t id, Bytes body) {
  const uint64_t offset = out.size();
  if (dat.packing == DatMaker::Packing::None) {
    put_section_header(out, id, false, body.size());
    out.raw(body);
    return offset;
  }
  ByteWriter packed(dat.order);
  put_packed(packed, dat.packing, body);
  put_section_header(out, id, true, packed.size());
  out.raw(packed.bytes());
  return offset;
}

// One CPU's pages, as they lie in the file, and what the file says their size is.
std::pair<std::vector<std::byte>, uint64_t> cpu_data(const DatMaker& dat,
                                                     const DatMaker::Cpu& cpu) {
  std::vector<std::byte> plain;
  for (const PageBytes& page : cpu.pages) plain.insert(plain.end(), page.begin(), page.end());
  if (dat.packing == DatMaker::Packing::None) {
    const uint64_t size = plain.size();
    return {std::move(plain), size};
  }
  ByteWriter out(dat.order);
  const size_t pages = cpu.pages.size();
  const size_t chunks = (pages + dat.chunk_pages - 1) / dat.chunk_pages;
  out.u32(static_cast<uint32_t>(chunks));
  const size_t page_size = pages == 0 ? 0 : cpu.pages[0].size();
  for (size_t first = 0; first < pages; first += dat.chunk_pages) {
    const size_t count = std::min<size_t>(dat.chunk_pages, pages - first);
    put_packed(out, dat.packing, Bytes(plain).subspan(first * page_size, count * page_size));
  }
  const uint64_t size = out.size() - (dat.size_counts_chunk_count ? 0 : 4);
  return {std::move(out).bytes(), size};
}

}  // namespace

void DatMaker::add_option(uint16_t id, std::string_view text) {
  ByteWriter out(order);
  out.string(text);
  options.push_back({id, std::move(out).bytes()});
}

void DatMaker::add_option(uint16_t id, const std::function<void(ByteWriter&)>& fill) {
  ByteWriter out(order);
  fill(out);
  options.push_back({id, std::move(out).bytes()});
}

std::string DatMaker::header_page() const {
  const std::string size = std::to_string(long_size);
  const std::string data = std::to_string(8 + long_size);
  return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
         "\tfield: local_t commit;\toffset:8;\tsize:" +
         size +
         ";\tsigned:1;\n"
         "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
         "\tfield: char data;\toffset:" +
         data + ";\tsize:" + std::to_string(4096 - 8 - long_size) + ";\tsigned:1;\n";
}

std::string DatMaker::header_event() {
  return "# compressed entry header\n"
         "\ttype_len    :    5 bits\n"
         "\ttime_delta  :   27 bits\n"
         "\tarray       :   32 bits\n\n"
         "\tpadding     : type == 29\n"
         "\ttime_extend : type == 30\n"
         "\ttime_stamp : type == 31\n"
         "\tdata max type_len  == 28\n";
}

std::vector<std::byte> DatMaker::version_6() const {
  ByteWriter out(order);
  put_prefix(*this, out, "6");
  put_header_info(*this, out);
  put_ftrace_events(*this, out);
  put_event_formats(*this, out);
  put_text_32(out, kallsyms);
  put_text_32(out, printk);
  put_text_64(out, cmdlines);
  const Buffer& main = buffers.at(0);
  uint32_t cpus = 0;
  for (const Cpu& cpu : main.cpus) cpus = std::max(cpus, cpu.cpu + 1);
  out.u32(cpus);

  // Everything up to the data has a known size: so first that, then where the data are.
  uint64_t size_of_options = 10 + 2;
  for (const Option& option : options) size_of_options += 6 + option.data.size();
  for (size_t i = 1; i < buffers.size(); ++i) size_of_options += 6 + 8 + buffers[i].name.size() + 1;
  auto flyrecord_size = [&](uint32_t count) { return 10 + uint64_t{count} * 16; };
  const uint64_t blocks_begin = out.size() + size_of_options;
  uint64_t data = blocks_begin;
  std::vector<uint64_t> block_offsets;
  for (size_t i = 0; i < buffers.size(); ++i) {
    block_offsets.push_back(data);
    data += flyrecord_size(cpus);
  }
  data = (data + page_size - 1) / page_size * page_size;

  out.text(std::string_view("options  \0", 10));
  for (size_t i = 1; i < buffers.size(); ++i) {
    out.u16(3);
    out.u32(static_cast<uint32_t>(8 + buffers[i].name.size() + 1));
    out.u64(block_offsets[i]);
    out.string(buffers[i].name);
  }
  for (const Option& option : options) {
    out.u16(option.id);
    out.u32(static_cast<uint32_t>(option.data.size()));
    out.raw(option.data);
  }
  out.u16(0);
  ByteWriter pages(order);
  for (const Buffer& buffer : buffers) {
    out.text(std::string_view("flyrecord\0", 10));
    for (uint32_t id = 0; id < cpus; ++id) {
      const uint64_t begin = data + pages.size();
      for (const Cpu& cpu : buffer.cpus)
        if (cpu.cpu == id)
          for (const PageBytes& page : cpu.pages) pages.raw(page);
      out.u64(begin);
      out.u64(data + pages.size() - begin);
    }
  }
  align(out, page_size);
  out.raw(pages.bytes());
  return std::move(out).bytes();
}

std::vector<std::byte> DatMaker::version_7() const {
  ByteWriter out(order);
  put_prefix(*this, out, "7");
  out.string(packing == Packing::None ? "none" : packing == Packing::Zlib ? "zlib" : "zstd");
  out.string(packing == Packing::None ? "" : packing == Packing::Zlib ? "1.2.13" : "1.5.4");
  const uint64_t first_options_at = out.size();
  out.u64(0);

  auto body = [&](auto put) {
    ByteWriter section(order);
    put(section);
    return std::move(section).bytes();
  };
  std::vector<Option> all;
  auto add_section = [&](uint16_t id, const std::vector<std::byte>& bytes) {
    const uint64_t offset = put_section(*this, out, id, bytes);
    all.push_back({id, body([&](ByteWriter& o) { o.u64(offset); })});
  };
  add_section(16, body([&](ByteWriter& o) { put_header_info(*this, o); }));
  add_section(17, body([&](ByteWriter& o) { put_ftrace_events(*this, o); }));
  add_section(18, body([&](ByteWriter& o) { put_event_formats(*this, o); }));
  add_section(19, body([&](ByteWriter& o) { put_text_32(o, kallsyms); }));
  add_section(20, body([&](ByteWriter& o) { put_text_32(o, printk); }));
  add_section(21, body([&](ByteWriter& o) { put_text_64(o, cmdlines); }));
  for (const Option& option : options) all.push_back(option);

  // The names of sections, which nothing refers to here: one section that has no option.
  put_section(*this, out, 15, body([](ByteWriter& o) { o.string("cosmetic"); }));

  for (const Buffer& buffer : buffers) {
    const uint64_t section = out.size();
    ByteWriter data(order);
    const uint64_t header_end = section + 16;
    const uint64_t aligned = (header_end + buffer.page_size - 1) / buffer.page_size;
    const uint64_t begin = packing == Packing::None ? aligned * buffer.page_size : header_end;
    Option option{3, body([&](ByteWriter& o) {
                    o.u64(section);
                    o.string(buffer.name);
                    o.string(buffer.clock);
                    o.u32(buffer.page_size);
                    o.u32(static_cast<uint32_t>(buffer.cpus.size()));
                    for (const Cpu& cpu : buffer.cpus) {
                      const auto [bytes, size] = cpu_data(*this, cpu);
                      o.u32(cpu.cpu);
                      o.u64(begin + data.size());
                      o.u64(size);
                      data.raw(bytes);
                    }
                  })};
    put_section_header(out, 3, packing != Packing::None, begin + data.size() - header_end);
    while (out.size() < begin) out.u8(0);
    out.raw(data.bytes());
    all.push_back(std::move(option));
  }

  // Sections of options: a chain that ends with 0.
  auto options_body = [&](const std::vector<Option>& list, uint64_t next) {
    return body([&](ByteWriter& o) {
      for (const Option& option : list) {
        o.u16(option.id);
        o.u32(static_cast<uint32_t>(option.data.size()));
        o.raw(option.data);
      }
      o.u16(0);
      o.u32(8);
      o.u64(next);
    });
  };
  const uint64_t first = out.size();
  const uint64_t size = options_body(all, 0).size();
  const uint64_t second = later_options.empty() ? 0 : first + 16 + size;
  put_section_header(out, 0, false, size);
  out.raw(options_body(all, second));
  if (second != 0) {
    const auto later = options_body(later_options, 0);
    put_section_header(out, 0, false, later.size());
    out.raw(later);
  }
  std::vector<std::byte> bytes = std::move(out).bytes();
  ByteWriter patch(order);
  patch.u64(first);
  std::copy(patch.bytes().begin(), patch.bytes().end(),
            bytes.begin() + static_cast<ptrdiff_t>(first_options_at));
  return bytes;
}

namespace {

std::string format(std::string_view name, uint16_t id, std::string_view own,
                   std::string_view print) {
  return "name: " + std::string(name) + "\nID: " + std::to_string(id) +
         "\nformat:\n"
         "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
         "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
         "\n" +
         std::string(own) + "\nprint fmt: " + std::string(print) + "\n";
}

void put_common(ByteWriter& out, uint16_t id, int32_t pid) {
  out.u16(id);
  out.u8(0);
  out.u8(0);
  out.u32(static_cast<uint32_t>(pid));
}

}  // namespace

std::string number_format() {
  return format("number", kNumberId, "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n",
                "\"value=%llu\", (unsigned long long)REC->value");
}

std::string text_format() {
  return format("text", kTextId, "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n",
                "\"text=%s\", __get_str(text)");
}

PageBytes number_record(uint64_t value, ByteOrder order, int32_t pid) {
  ByteWriter out(order);
  put_common(out, kNumberId, pid);
  out.u64(value);
  return std::move(out).bytes();
}

PageBytes text_record(std::string_view text, ByteOrder order, int32_t pid) {
  ByteWriter out(order);
  put_common(out, kTextId, pid);
  out.u32(static_cast<uint32_t>((text.size() + 1) << 16 | 12));
  out.string(text);
  align(out, 4);
  return std::move(out).bytes();
}

DatMaker empty_dat(ByteOrder order, uint8_t long_size) {
  DatMaker dat;
  dat.order = order;
  dat.long_size = long_size;
  dat.ftrace_formats = {format("print", 5,
                               "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
                               "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n",
                               "\"%ps: %s\", (void *)REC->ip, REC->buf")};
  dat.systems = {{"test", {number_format(), text_format()}}};
  dat.buffers.resize(1);
  return dat;
}

PageBytes page_of_numbers(const DatMaker& dat, uint64_t first, unsigned count, uint32_t step,
                          size_t page_size) {
  test::RingPageMaker page(first, dat.order, dat.long_size);
  for (unsigned i = 0; i < count; ++i)
    page.data(i == 0 ? 0 : step, number_record(first + uint64_t{i} * step, dat.order));
  return page.page(page_size);
}

DatMaker dat_of_numbers(unsigned cpus, unsigned pages, unsigned per_page, ByteOrder order,
                        uint8_t long_size) {
  DatMaker dat = empty_dat(order, long_size);
  const uint32_t step = cpus;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    DatMaker::Cpu data{cpu, {}};
    for (unsigned page = 0; page < pages; ++page)
      data.pages.push_back(
          page_of_numbers(dat, 1'000'000 + cpu + uint64_t{page} * per_page * step, per_page, step));
    dat.buffers[0].cpus.push_back(std::move(data));
  }
  return dat;
}

}  // namespace strata::tracedat
