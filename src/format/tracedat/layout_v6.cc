// SPDX-License-Identifier: Apache-2.0
//
// Version 6: one thing after the other, in a fixed order.
#include "format/tracedat/layout_reader.h"
#include "trace/clock.h"

namespace strata::tracedat {
namespace {

constexpr uint64_t kTagSize = 10;
constexpr std::string_view kOptionsTag{"options  \0", kTagSize};
constexpr std::string_view kFlyrecordTag{"flyrecord\0", kTagSize};
constexpr std::string_view kLatencyTag{"latency  \0", kTagSize};
constexpr uint32_t kMaxCpus = 1 << 16;

}  // namespace

std::optional<Error> LayoutReader::read_version_6(ByteReader& in) {
  if (auto error = header_info(in)) return error;
  if (auto error = ftrace_events(in)) return error;
  if (auto error = event_formats(in)) return error;
  if (auto error = kallsyms(in)) return error;
  if (auto error = printk(in)) return error;
  if (auto error = cmdlines(in)) return error;
  layout_.cpus = in.u32();
  if (!in.ok()) return in.truncated(file_.path(), "the number of CPUs");

  const std::optional<Error> main_error = buffer_6(in, "");
  if (main_error && layout_.buffers.empty() && layout_.latency_text.empty()) return main_error;
  if (main_error) note(*main_error);

  // Instances come as options that say where their own data blocks are.
  const std::vector<Option> options = layout_.options;
  for (const Option& option : options) {
    if (option.id != OptionId::Buffer) continue;
    ByteReader instance(option.data, layout_.target.order, option.offset);
    const uint64_t offset = instance.u64();
    const std::string name(instance.string());
    if (!instance.ok()) {
      note(instance.truncated(file_.path(), "the option of a buffer"));
      continue;
    }
    ByteReader block = reader_at(offset);
    if (auto error = buffer_6(block, name)) note(*error);
  }
  return std::nullopt;
}

std::optional<Error> LayoutReader::options_6(ByteReader& in) {
  while (true) {
    const auto id = static_cast<OptionId>(in.u16());
    if (!in.ok()) return in.truncated(file_.path(), "the options");
    if (id == OptionId::Done) return std::nullopt;
    const uint32_t size = in.u32();
    const uint64_t offset = in.file_offset();
    const Bytes data = in.take(size);
    if (!in.ok()) return in.truncated(file_.path(), "the options");
    layout_.options.push_back({id, data, offset});
    if (id == OptionId::CpuCount) {
      ByteReader count(data, layout_.target.order, offset);
      if (const uint32_t cpus = count.u32(); count.ok()) layout_.cpus = cpus;
    }
  }
}

std::optional<Error> LayoutReader::buffer_6(ByteReader& in, std::string name) {
  uint64_t at = in.file_offset();
  std::string_view tag = as_text(in.take(kTagSize));
  if (tag == kOptionsTag) {
    if (auto error = options_6(in)) return error;
    at = in.file_offset();
    tag = as_text(in.take(kTagSize));
  }
  if (!in.ok()) return in.truncated(file_.path(), "the tag before the data");
  if (tag == kLatencyTag) {
    layout_.latency_text = as_text(in.take(in.remaining()));
    return std::nullopt;
  }
  if (tag != kFlyrecordTag) return fail(at, "expected \"options\", \"flyrecord\" or \"latency\"");
  if (layout_.cpus > kMaxCpus) return fail(at, "more CPUs than any machine has");

  Buffer buffer;
  buffer.name = std::move(name);
  buffer.page_size = layout_.page_size;
  for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu) {
    const uint64_t offset = in.u64();
    const uint64_t size = in.u64();
    if (!in.ok()) break;
    if (size > 0) buffer.cpus.push_back({cpu, offset, size});
  }
  if (const Option* clock = layout_.find(OptionId::TraceClock))
    buffer.clock = trace::selected_clock(as_text(clock->data));
  layout_.buffers.push_back(std::move(buffer));
  if (!in.ok()) return in.truncated(file_.path(), "the list of where each CPU's data are");
  return std::nullopt;
}

}  // namespace strata::tracedat
