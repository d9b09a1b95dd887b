// SPDX-License-Identifier: Apache-2.0
#include "recording/to_tracedat.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>

#include "ftrace/ring_page_builder.h"
#include "recording/clock_base.h"
#include "recording/tracedat_event.h"
#include "trace/learned_names.h"
#include "trace/merge.h"
#include "trace/type_table.h"

namespace strata::recording {
namespace {

using Streams = std::vector<std::unique_ptr<trace::Stream>>;

constexpr uint64_t kProgressEvents = 1 << 16;
// Beyond those of ftrace's own events, which readers know by number.
constexpr uint32_t kFirstId = 100;
constexpr uint32_t kLastId = 0xffff;
// More than any kernel is built for; readers keep something for each.
constexpr uint32_t kMostCpus = 1 << 16;
constexpr uint32_t kPageHead = 16;
constexpr uint32_t kRecordHead = 24;  // with its length, a record of time and a count of losses

constexpr std::string_view kHeaderEvent =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

std::string header_page(uint32_t page_size) {
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:16;\tsize:{};\tsigned:1;\n",
      page_size - kPageHead);
}

std::vector<std::byte> text_option(const std::string& text) {
  const Bytes bytes = as_bytes(text);
  std::vector<std::byte> data(bytes.begin(), bytes.end());
  data.push_back(std::byte{0});
  return data;
}

class Conversion {
 public:
  Conversion(const trace::Trace& trace, const std::function<void(uint64_t, uint64_t)>& progress)
      : trace_(trace), progress_(progress), base_(clock_base(trace)), names_(trace) {}

  Status run(const std::string& path, tracedat::WriteOptions options) {
    if (Status status = make_types(); !status) return status;
    if (Status status = look_through(); !status) return status;
    Result<tracedat::Writer> writer = tracedat::Writer::create(path, head(), options);
    if (!writer) return std::move(writer).error();
    // In the order of look_through(), which is that of the head.
    for (const uint32_t cpu : cpus_) {
      if (Status status = writer->begin_cpu(); !status) return status;
      trace::Merge events(streams_of(cpu));
      if (Status status = write_cpu(events, *writer); !status) return status;
    }
    return writer->finish();
  }

  // What could not be read or said.
  std::optional<Error> problem(const std::string& path) const {
    if (problem_) return problem_;
    if (cut_ > 0)
      return Error{path, std::nullopt,
                   std::to_string(cut_) +
                       " events hold more than the 64 KiB that trace.dat has "
                       "for one: their last fields are cut off"};
    if (lost_behind_)
      return Error{path, std::nullopt,
                   "events were lost behind the last one of a CPU, where trace.dat cannot tell it"};
    return std::nullopt;
  }

 private:
  Status make_types();
  Status look_through();
  tracedat::Head head();
  Streams streams_of(uint32_t cpu) const;
  Status write_cpu(trace::Merge& events, tracedat::Writer& writer);
  void tell_progress(uint64_t done_of_cpu) {
    if (++events_ % kProgressEvents == 0 && progress_)
      progress_(bytes_before_ + done_of_cpu, 2 * bytes_total_);
  }
  Ticks reading(Nanoseconds time) const {
    return Ticks{time.count > base_ ? static_cast<uint64_t>(time.count - base_) : 0};
  }

  const trace::Trace& trace_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  int64_t base_;
  trace::LearnedNames names_;
  struct Known {
    std::string system;
    std::unique_ptr<TracedatEvent> event;
  };
  std::map<std::string, std::vector<const TracedatEvent*>> systems_;
  trace::TypeTable<Known> types_;
  std::vector<uint32_t> cpus_;
  uint32_t page_size_ = 4096;
  // Of the head, which has views.
  std::string header_page_;
  std::string cmdlines_;
  uint64_t cut_ = 0;
  bool lost_behind_ = false;
  std::optional<Error> problem_;
  uint64_t events_ = 0;
  uint64_t bytes_before_ = 0;
  uint64_t bytes_total_ = 0;
};

Status Conversion::make_types() {
  std::map<std::string, std::set<std::string>> taken;
  uint32_t id = kFirstId;
  for (const trace::EventType* type : trace_.event_types()) {
    if (id > kLastId)
      return Error{trace_.info().path, std::nullopt,
                   "more event types than the 16 bits of trace.dat can number"};
    const std::string system = type->system.empty() ? "ctf" : c_name(type->system);
    std::string name = c_name(type->name);
    while (!taken[system].insert(name).second) name += "_";
    auto event = std::make_unique<TracedatEvent>(trace_, *type, static_cast<uint16_t>(id++), name);
    systems_[system].push_back(event.get());
    types_.add(type, {system, std::move(event)});
  }
  return {};
}

// Which CPUs there are, how long the longest record is, what threads are called.
Status Conversion::look_through() {
  std::set<uint32_t> cpus;
  size_t longest = 0;
  Streams streams = trace_.open_streams();
  for (const auto& stream : streams) {
    bytes_total_ += stream->bytes_total();
    cpus.insert(raw(stream->cpu()));
  }
  if (!cpus.empty() && *cpus.rbegin() >= kMostCpus)
    return Error{trace_.info().path, std::nullopt,
                 fmt::format("CPU {} is beyond what trace.dat is made for", *cpus.rbegin())};
  cpus_.assign(cpus.begin(), cpus.end());
  trace::Merge events(std::move(streams));
  while (events.next() == trace::Step::Event) {
    const trace::Event& event = events.event();
    names_.learn_running(event);
    names_.learn(event);
    TracedatEvent& as = *types_.find(event.type)->event;
    if (!as.encode(event)) ++cut_;
    longest = std::max(longest, as.record().size());
    tell_progress(events.stream().bytes_done());
  }
  page_size_ = std::max<uint32_t>(
      page_size_, std::bit_ceil(static_cast<uint32_t>(longest) + kRecordHead + kPageHead));
  bytes_before_ = bytes_total_;
  return {};
}

tracedat::Head Conversion::head() {
  const trace::TraceInfo& info = trace_.info();
  tracedat::Head head;
  head.page_size = page_size_;
  header_page_ = header_page(page_size_);
  head.header_page = header_page_;
  head.header_event = kHeaderEvent;
  for (const auto& [system, events] : systems_) {
    for (const TracedatEvent* event : events) head.formats.push_back({system, event->format()});
  }
  std::map<int32_t, std::string_view> names;
  for (const auto& [tid, name] : names_.names().all()) names[raw(tid)] = name;
  for (const auto& [tid, name] : names)
    if (tid > 0) cmdlines_ += fmt::format("{} {}\n", tid, name);
  head.cmdlines = cmdlines_;

  // DATE counts microseconds and says that the time is that of day; OFFSET adds nanoseconds.
  if (info.since_epoch)
    head.options.push_back(
        {tracedat::OptionId::Date, text_option(fmt::format("{}", base_ / 1000))});
  const int64_t rest = info.since_epoch ? base_ % 1000 : base_;
  if (rest != 0)
    head.options.push_back({tracedat::OptionId::Offset, text_option(fmt::format("{}", rest))});
  const std::string clock = info.in_nanoseconds ? "mono" : "counter";
  head.options.push_back({tracedat::OptionId::TraceClock, text_option(fmt::format("[{}]", clock))});
  if (!info.machine.empty())
    head.options.push_back({tracedat::OptionId::Uname,
                            text_option(fmt::format("Linux {} {}", info.machine, info.kernel))});
  head.options.push_back({tracedat::OptionId::Version, text_option("strata")});
  head.buffers.push_back({"", clock, page_size_, cpus_});
  return head;
}

Streams Conversion::streams_of(uint32_t cpu) const {
  Streams streams = trace_.open_streams();
  std::erase_if(streams, [&](const auto& stream) { return raw(stream->cpu()) != cpu; });
  return streams;
}

Status Conversion::write_cpu(trace::Merge& events, tracedat::Writer& writer) {
  ftrace::RingPageBuilder page(page_size_, {});
  while (events.next() == trace::Step::Event) {
    const trace::Event& event = events.event();
    if (event.lost > 0 || event.lost_unknown) [[unlikely]] {
      // A loss can be marked only before a page.
      if (!page.empty()) {
        if (Status status = writer.add_page(page.finish()); !status) return status;
      }
      page.mark_lost(event.lost_unknown ? std::nullopt : std::optional(event.lost));
    }
    TracedatEvent& as = *types_.find(event.type)->event;
    as.encode(event);
    const Ticks time = reading(event.time);
    if (!page.add(time, as.record())) {
      if (Status status = writer.add_page(page.finish()); !status) return status;
      if (!page.add(time, as.record()))
        return Error{trace_.info().path, std::nullopt, "an event that is larger than a page"};
    }
    tell_progress(events.stream().bytes_done());
  }
  if (!page.empty()) {
    if (Status status = writer.add_page(page.finish()); !status) return status;
  }
  for (const auto& stream : events.streams()) {
    if (!problem_ && stream->problem()) problem_ = stream->problem();
    const trace::Stream::Loss& loss = stream->unplaced_loss();
    lost_behind_ = lost_behind_ || loss.count > 0 || loss.unknown;
    bytes_before_ += stream->bytes_total();
  }
  return {};
}

}  // namespace

Status to_tracedat(const trace::Trace& trace, const std::string& path,
                   tracedat::WriteOptions options,
                   const std::function<void(uint64_t, uint64_t)>& progress) {
  Conversion conversion(trace, progress);
  if (Status status = conversion.run(path, options); !status) return status;
  if (const std::optional<Error> problem = conversion.problem(path)) return *problem;
  return {};
}

}  // namespace strata::recording
