// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/convert.h"

#include <algorithm>

#include "ftrace/ring_page_builder.h"

namespace strata::tracedat {
namespace {

// Options that say where something is in the file they came from.
bool is_place(OptionId id) {
  switch (id) {
    case OptionId::Done:
    case OptionId::Buffer:
    case OptionId::Strings:
    case OptionId::HeaderInfo:
    case OptionId::FtraceEvents:
    case OptionId::EventFormats:
    case OptionId::Kallsyms:
    case OptionId::Printk:
    case OptionId::CmdLines:
    case OptionId::BufferText:
    case OptionId::BtfFile:
    case OptionId::ModulesFile:
      return true;
    default:
      return false;
  }
}

// How far along all CPUs' data the work is, told every so many pages.
class Meter {
 public:
  Meter(const TraceDat& trace, const Progress& progress) : progress_(progress) {
    for (const Buffer& buffer : trace.layout().buffers) {
      for (const CpuData& data : buffer.cpus) total_ += data.size;
    }
  }
  void at(uint64_t done_of_cpu) {
    if (progress_ && ++calls_ % 256 == 0) progress_(before_ + done_of_cpu, total_);
  }
  void cpu_done(uint64_t size) { before_ += size; }

 private:
  const Progress& progress_;
  uint64_t total_ = 0;
  uint64_t before_ = 0;
  uint64_t calls_ = 0;
};

// Writes one CPU's pages as they are; the first that cannot be read goes to `problem`.
Status copy_cpu(const TraceDat& trace, const Buffer& buffer, const CpuData& data, Writer& writer,
                Meter& meter, std::optional<Error>& problem) {
  CpuPages pages(trace.file_of(data), trace.layout(), buffer, data);
  CpuPages::Step step;
  while ((step = pages.next()) != CpuPages::Step::End) {
    if (step == CpuPages::Step::Bad) {
      if (!problem) problem = pages.error();
      continue;
    }
    meter.at(pages.bytes_done());
    std::vector<std::byte> whole;
    Bytes page = pages.page();
    if (page.size() < buffer.page_size) {
      // Cut off: what is there goes along, its header says how much should be.
      whole.assign(page.begin(), page.end());
      whole.resize(buffer.page_size);
      page = whole;
    }
    if (Status status = writer.add_page(page); !status) return status;
  }
  return {};
}

// Writes one CPU's events that lie in time.
Status trim_cpu(CpuStream& stream, const Buffer& buffer, ftrace::Target target, Nanoseconds begin,
                Nanoseconds end, Writer& writer, Meter& meter) {
  ftrace::RingPageBuilder page(buffer.page_size, target);
  const auto finish_page = [&] {
    meter.at(stream.bytes_done());
    return writer.add_page(page.finish());
  };
  stream.skip_to(begin);
  while (stream.next() == trace::Step::Event) {
    const trace::Event& event = stream.event();
    if (event.time < begin) continue;
    // Not the end of the loop: a clock may step back.
    if (event.time > end) {
      if (event.time.count - end.count > 1'000'000'000) break;
      continue;
    }
    if (event.lost > 0 || event.lost_unknown) {
      // A loss can be marked only before a page.
      if (!page.empty()) {
        if (Status status = finish_page(); !status) return status;
      }
      page.mark_lost(event.lost_unknown ? std::nullopt : std::optional(event.lost));
    }
    if (page.add(event.ticks, event.record)) continue;
    if (Status status = finish_page(); !status) return status;
    if (!page.add(event.ticks, event.record))
      return Error{"", std::nullopt, "an event that is larger than a page"};
  }
  return page.empty() ? Status() : finish_page();
}

// Writes a trace anew: `write_cpu(buffer, data, writer, meter, problem)` for each CPU's events.
template <typename WriteCpu>
Status rewrite(const TraceDat& trace, const std::string& path, WriteOptions options,
               const Progress& progress, WriteCpu write_cpu) {
  Result<Writer> writer = Writer::create(path, head_of(trace), options);
  if (!writer) return std::move(writer).error();
  std::optional<Error> problem;
  Meter meter(trace, progress);
  for (const Buffer& buffer : trace.layout().buffers) {
    for (const CpuData& data : buffer.cpus) {
      if (Status status = writer->begin_cpu(); !status) return status;
      if (Status status = write_cpu(buffer, data, *writer, meter, problem); !status) return status;
      meter.cpu_done(data.size);
    }
  }
  if (Status status = writer->finish(); !status) return status;
  return problem ? Status(*problem) : Status();
}

}  // namespace

Head head_of(const TraceDat& trace) {
  const Layout& layout = trace.layout();
  Head head;
  head.target = layout.target;
  head.page_size = layout.page_size;
  head.header_page = layout.header_page;
  head.header_event = layout.header_event;
  head.formats = layout.formats;
  head.kallsyms = layout.kallsyms;
  head.printk_formats = layout.printk_formats;
  head.cmdlines = layout.cmdlines;
  for (const Option& option : layout.options) {
    if (!is_place(option.id))
      head.options.push_back({option.id, {option.data.begin(), option.data.end()}});
  }
  for (const Buffer& buffer : layout.buffers) {
    PlannedBuffer plan{buffer.name, buffer.clock, buffer.page_size, {}};
    if (plan.clock.empty()) plan.clock = trace.info().clock.name;
    for (const CpuData& data : buffer.cpus) plan.cpus.push_back(data.cpu);
    head.buffers.push_back(std::move(plan));
  }
  return head;
}

Status convert(const TraceDat& trace, const std::string& path, WriteOptions options,
               const Progress& progress) {
  return rewrite(trace, path, options, progress,
                 [&](const Buffer& buffer, const CpuData& data, Writer& writer, Meter& meter,
                     std::optional<Error>& problem) {
                   return copy_cpu(trace, buffer, data, writer, meter, problem);
                 });
}

Status trim(const TraceDat& trace, Nanoseconds begin, Nanoseconds end, const std::string& path,
            WriteOptions options, const Progress& progress) {
  return rewrite(trace, path, options, progress,
                 [&](const Buffer& buffer, const CpuData& data, Writer& writer, Meter& meter,
                     std::optional<Error>& problem) {
                   const std::unique_ptr<CpuStream> stream = trace.open_stream(buffer, data);
                   Status status =
                       trim_cpu(*stream, buffer, trace.layout().target, begin, end, writer, meter);
                   if (!problem && stream->problem()) problem = stream->problem();
                   return status;
                 });
}

}  // namespace strata::tracedat
