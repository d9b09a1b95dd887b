// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/layout.h"

#include <algorithm>
#include <charconv>

#include "format/tracedat/layout_reader.h"
#include "ftrace/ring_page.h"

namespace strata::tracedat {
namespace {

constexpr std::string_view kMagic = "\x17\x08\x44tracing";

// The kernel's own size of a long, which is not that of the program that recorded: the size of
// `commit` in the header of its pages.
uint8_t long_size_of(std::string_view header_page, uint8_t fallback) {
  size_t at = header_page.find("commit;");
  if (at == std::string_view::npos) return fallback;
  at = header_page.find("size:", at);
  if (at == std::string_view::npos) return fallback;
  const char* digits = header_page.data() + at + 5;
  unsigned size = 0;
  std::from_chars(digits, header_page.data() + header_page.size(), size);
  return size == 4 || size == 8 ? static_cast<uint8_t>(size) : fallback;
}

}  // namespace

const Option* Layout::find(OptionId id) const {
  const auto it = std::ranges::find(options, id, &Option::id);
  return it == options.end() ? nullptr : &*it;
}

ByteReader LayoutReader::reader_at(uint64_t offset) const {
  const uint64_t start = std::min<uint64_t>(offset, file_.size());
  return {file_.bytes().subspan(start), layout_.target.order, start};
}

std::optional<Error> LayoutReader::header_info(ByteReader& in) {
  for (const auto& [name, text] : {std::pair{"header_page", &layout_.header_page},
                                   std::pair{"header_event", &layout_.header_event}}) {
    const uint64_t at = in.file_offset();
    if (in.string() != name) {
      if (!in.ok()) return in.truncated(file_.path(), name);
      return fail(at, std::string("expected \"") + name + "\"");
    }
    *text = as_text(in.take(in.u64()));
    if (!in.ok()) return in.truncated(file_.path(), name);
  }
  layout_.target.long_size = long_size_of(layout_.header_page, layout_.user_long_size);
  return std::nullopt;
}

std::optional<Error> LayoutReader::ftrace_events(ByteReader& in) {
  const uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::string_view text = as_text(in.take(in.u64()));
    if (in.ok()) layout_.formats.push_back({"ftrace", text});
  }
  if (!in.ok()) return in.truncated(file_.path(), "the formats of ftrace's own events");
  return std::nullopt;
}

std::optional<Error> LayoutReader::event_formats(ByteReader& in) {
  const uint32_t systems = in.u32();
  for (uint32_t i = 0; i < systems && in.ok(); ++i) {
    const std::string_view system = in.string();
    const uint32_t count = in.u32();
    for (uint32_t k = 0; k < count && in.ok(); ++k) {
      const std::string_view text = as_text(in.take(in.u64()));
      if (in.ok()) layout_.formats.push_back({system, text});
    }
  }
  if (!in.ok()) return in.truncated(file_.path(), "the formats of events");
  return std::nullopt;
}

std::optional<Error> LayoutReader::kallsyms(ByteReader& in) {
  layout_.kallsyms = as_text(in.take(in.u32()));
  if (!in.ok()) return in.truncated(file_.path(), "the kernel's symbols");
  return std::nullopt;
}

std::optional<Error> LayoutReader::printk(ByteReader& in) {
  layout_.printk_formats = as_text(in.take(in.u32()));
  if (!in.ok()) return in.truncated(file_.path(), "the kernel's printk formats");
  return std::nullopt;
}

std::optional<Error> LayoutReader::cmdlines(ByteReader& in) {
  layout_.cmdlines = as_text(in.take(in.u64()));
  if (!in.ok()) return in.truncated(file_.path(), "the names of tasks");
  return std::nullopt;
}

Result<Layout> read_layout(const MappedFile& file) {
  Layout layout;
  ByteReader in(file.bytes(), kNativeOrder);
  if (as_text(in.take(kMagic.size())) != kMagic)
    return Error{file.path(), 0, "not a trace.dat file: it does not begin as one"};
  const std::string_view version = in.string();
  const uint8_t order = in.u8();
  if (!in.ok()) return in.truncated(file.path(), "the file's first bytes");
  if (version != "6" && version != "7") {
    return Error{file.path(), kMagic.size(),
                 "version " + std::string(version.substr(0, 16)) + " is neither 6 nor 7"};
  }
  if (order > 1) return Error{file.path(), in.position() - 1, "no byte order has this number"};
  layout.version = version == "6" ? 6 : 7;
  layout.target.order = order == 0 ? ByteOrder::Little : ByteOrder::Big;

  ByteReader ordered(file.bytes(), layout.target.order);
  ordered.seek(in.position());
  layout.user_long_size = ordered.u8();
  layout.page_size = ordered.u32();
  if (!ordered.ok()) return ordered.truncated(file.path(), "the file's first bytes");
  layout.target.long_size = layout.user_long_size == 4 ? 4 : 8;
  if (layout.page_size < 64 || layout.page_size > ftrace::kMaxPageSize)
    return Error{file.path(), ordered.position() - 4, "no kernel has pages of this size"};

  LayoutReader reader(file, layout);
  const std::optional<Error> error =
      layout.version == 6 ? reader.read_version_6(ordered) : reader.read_version_7(ordered);
  if (file.shrank()) return file.shrank_error();
  if (error) {
    // Without event formats and a buffer there is nothing to show; with them there is.
    if (layout.buffers.empty() && layout.latency_text.empty()) return *error;
    layout.problems.push_back(*error);
  }
  for (const Buffer& buffer : layout.buffers) {
    for (const CpuData& data : buffer.cpus) layout.cpus = std::max(layout.cpus, data.cpu + 1);
  }
  return layout;
}

}  // namespace strata::tracedat
