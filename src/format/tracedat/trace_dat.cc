// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/trace_dat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/file_descriptor.h"
#include "format/tracedat/guest_option.h"

namespace strata::tracedat {
namespace {

// A string option may or may not bring its NUL.
std::string_view text_of(const Option* option) {
  if (option == nullptr) return {};
  const std::string_view text = as_text(option->data);
  return text.substr(0, text.find('\0'));
}

std::string_view word(std::string_view text, size_t number) {
  for (;; --number) {
    const size_t end = std::min(text.find(' '), text.size());
    if (number == 0) return text.substr(0, end);
    if (end == text.size()) return {};
    text.remove_prefix(end + 1);
  }
}

// Of more than one.
std::string_view last_word(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  const size_t space = text.rfind(' ');
  return space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
}

std::string hex(uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, write_hex(digits, value));
}

// Of a file that has room ahead, which is cut off when it is complete; as far as its file system
// tells.
uint64_t written_size(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  off_t end = 0;
  for (off_t data = lseek(file.get(), 0, SEEK_DATA); data >= 0;
       data = lseek(file.get(), end, SEEK_DATA)) {
    end = lseek(file.get(), data, SEEK_HOLE);
    if (end < 0) return std::numeric_limits<uint64_t>::max();
  }
  return errno == ENXIO ? static_cast<uint64_t>(end) : std::numeric_limits<uint64_t>::max();
}

}  // namespace

bool TraceDat::recognises(Bytes first_bytes) {
  return as_text(first_bytes).starts_with("\x17\x08\x44tracing");
}

// Between a head and its files of pages somebody may have made one file of them, of which the head
// knows nothing and the files are gone: then there is another file of that name.
Result<std::unique_ptr<TraceDat>> TraceDat::open(const std::string& path) {
  const auto number = [&] {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
  };
  const ino_t before = number();
  Result<std::unique_ptr<TraceDat>> trace = open_once(path);
  return number() == before ? std::move(trace) : open_once(path);
}

Result<std::unique_ptr<TraceDat>> TraceDat::open_once(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  Result<Layout> layout = read_layout(*file);
  if (!layout) return std::move(layout).error();
  std::unique_ptr<TraceDat> trace(new TraceDat(*std::move(file), *std::move(layout)));
  if (trace->file_.shrank()) return trace->file_.shrank_error();
  return trace;
}

TraceDat::TraceDat(MappedFile file, Layout layout)
    : file_(std::move(file)), layout_(std::move(layout)) {
  problems_ = layout_.problems;
  attach_page_files();
  clock_options_ = read_clock_options(layout_, file_.path(), problems_);
  read_formats();
  read_task_names();
  describe();
}

uint32_t TraceDat::cpu_count() const {
  uint32_t cpus = layout_.cpus;
  if (const Option* count = layout_.find(OptionId::CpuCount)) {
    ByteReader in(count->data, layout_.target.order);
    if (const uint32_t told = in.u32(); in.ok()) cpus = std::max(cpus, told);
  }
  return cpus;
}

void TraceDat::attach_page_files() {
  const auto has_events = [](const Buffer& buffer) { return !buffer.cpus.empty(); };
  if (layout_.buffers.empty() || std::ranges::any_of(layout_.buffers, has_events)) return;
  Buffer& buffer = layout_.buffers.front();
  for (uint32_t cpu = 0; cpu < cpu_count(); ++cpu) {
    Result<MappedFile> pages = MappedFile::open(page_file_name(file_.path(), cpu));
    if (!pages) continue;
    // A page that is not whole is still being written, or never was.
    const uint64_t size =
        std::min(pages->size(), written_size(pages->path())) / buffer.page_size * buffer.page_size;
    buffer.cpus.push_back({cpu, 0, size, &page_files_.emplace_back(*std::move(pages))});
  }
  if (is_unfinished())
    info_.warning =
        "is unfinished: still being recorded, or its recorder was killed; 'strata recover' "
        "finishes "
        "it";
}

void TraceDat::describe() {
  info_.path = file_.path();
  info_.kind = "trace.dat " + std::to_string(layout_.version);
  info_.tracer = text_of(layout_.find(OptionId::Version));
  const std::string_view uname = text_of(layout_.find(OptionId::Uname));
  info_.machine = word(uname, 1);
  info_.kernel = word(uname, 2);
  info_.processor = last_word(uname);
  info_.cpus = cpu_count();

  std::string_view clock;
  if (const Option* option = layout_.find(OptionId::TraceClock))
    clock = trace::selected_clock(as_text(option->data));
  if (clock.empty() && !layout_.buffers.empty()) clock = layout_.buffers.front().clock;
  info_.clock = trace::kernel_clock(clock.empty() ? "local" : clock);
  info_.in_nanoseconds = info_.clock.in_nanoseconds || clock_options_.has_tsc;
  info_.since_epoch = clock_options_.has_date;

  const auto property = [&](std::string name, std::string value) {
    info_.properties.emplace_back(std::move(name), std::move(value));
  };
  property("byte order", layout_.target.order == ByteOrder::Little ? "little" : "big");
  property("kernel", std::to_string(layout_.target.long_size * 8) + " bits");
  if (layout_.version == 7) {
    property("compression", layout_.compression == Compression::None
                                ? "none"
                                : layout_.compression_name + " " + layout_.compression_version);
  }
  if (const Option* id = layout_.find(OptionId::TraceId); id != nullptr && id->data.size() >= 8) {
    info_.trace_id = ByteReader(id->data, layout_.target.order).u64();
    property("trace id", hex(info_.trace_id));
  }
  for (const Option& option : layout_.options) {
    if (option.id != OptionId::Guest) continue;
    info_.guests.push_back(read_guest(option.data, layout_.target.order));
    property("guest", info_.guests.back().name);
  }
  if (clock_options_.shift) {
    info_.host_trace_id = clock_options_.shift->peer_trace_id;
    property("time shift", "to " + hex(info_.host_trace_id));
  }
  for (const Buffer& buffer : layout_.buffers) {
    if (!buffer.name.empty()) property("instance", buffer.name);
  }
}

void TraceDat::read_formats() {
  unknown_ = std::make_unique<trace::EventType>();
  unknown_->name = "unknown";
  unknown_->order = layout_.target.order;
  unknown_->fields = {
      {.name = "common_type", .type = "unsigned short", .offset = 0, .size = 2, .element_size = 2}};
  unknown_->common_fields = 1;
  types_.unknown = unknown_.get();
  for (const EventFormat& format : layout_.formats) {
    Result<trace::EventType> type =
        ftrace::parse_format_file(format.system, format.text, layout_.target);
    if (!type) {
      // Where it lies in the file is known only if it was not compressed.
      Error error = std::move(type).error();
      error.file = file_.path();
      const auto* at = reinterpret_cast<const std::byte*>(format.text.data());
      const Bytes mapped = file_.bytes();
      if (at >= mapped.data() && at < mapped.data() + mapped.size())
        error.offset = static_cast<uint64_t>(at - mapped.data()) + error.offset.value_or(0);
      else
        error.offset.reset();
      problems_.push_back(std::move(error));
      continue;
    }
    const uint32_t id = type->id;
    if (types_.by_id.size() <= id) types_.by_id.resize(id + 1);
    owned_types_.push_back(std::make_unique<trace::EventType>(*std::move(type)));
    const trace::EventType& added = *owned_types_.back();
    if (added.system == "ftrace" && added.name == "funcgraph_entry") pair_opener_ = &added;
    // The first one counts, as everywhere else.
    if (types_.by_id[id] == nullptr) types_.by_id[id] = owned_types_.back().get();
  }
}

void TraceDat::read_task_names() {
  std::string_view rest = layout_.cmdlines;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    int32_t tid = 0;
    const auto [name, error] = std::from_chars(line.data(), line.data() + line.size(), tid);
    const auto digits = static_cast<size_t>(name - line.data());
    if (error == std::errc{} && digits + 1 < line.size() && line[digits] == ' ')
      task_names_.add(Tid{tid}, line.substr(digits + 1));
  }
}

std::vector<const trace::EventType*> TraceDat::event_types() const {
  std::vector<const trace::EventType*> types;
  for (const trace::EventType* type : types_.by_id) {
    if (type != nullptr) types.push_back(type);
  }
  return types;
}

void TraceDat::follow_clock(trace::ClockMap map, const trace::TraceInfo& reference) {
  Trace::follow_clock(map, reference);
  to_reference_ = std::move(map);
}

std::unique_ptr<CpuStream> TraceDat::open_stream(const Buffer& buffer, CpuData data) const {
  std::vector<trace::ClockMap> chain = clock_ ? *clock_ : clock_options_.chain(data.cpu);
  if (to_reference_) chain.push_back(*to_reference_);
  return std::make_unique<CpuStream>(file_of(data), layout_, buffer, data, types_, std::move(chain),
                                     live_.get());
}

void TraceDat::use_clock(std::vector<trace::ClockMap> chain) {
  clock_ = std::move(chain);
  info_.in_nanoseconds = info_.since_epoch = true;
}

std::vector<std::unique_ptr<trace::Stream>> TraceDat::open_streams() const {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const Buffer& buffer : layout_.buffers) {
    std::vector<CpuData> cpus = buffer.cpus;
    std::ranges::stable_sort(cpus, {}, &CpuData::cpu);
    for (const CpuData& data : cpus) streams.push_back(open_stream(buffer, data));
  }
  return streams;
}

const ftrace::EventText& TraceDat::text() const {
  if (text_ == nullptr) {
    const std::vector<const trace::EventType*> types = event_types();
    text_ = std::make_unique<ftrace::EventText>(
        types, ftrace::KernelText{layout_.target, layout_.header_page, layout_.kallsyms,
                                  layout_.printk_formats, info_.kernel});
  }
  return *text_;
}

void TraceDat::print_fields(const trace::Event& event, TextBuffer& out) const {
  text().print(event, out);
}

bool TraceDat::is_pair(const trace::Event& first, const trace::Event& second) const {
  return ftrace::EventText::is_leaf(first, second);
}

void TraceDat::print_pair(const trace::Event& first, const trace::Event& second,
                          TextBuffer& out) const {
  text().print_leaf(first, second, out);
}

std::optional<trace::Trace::Span> TraceDat::time_span() const {
  std::optional<Span> span;
  for (const Buffer& buffer : layout_.buffers) {
    for (const CpuData& data : buffer.cpus) {
      const std::unique_ptr<CpuStream> stream = open_stream(buffer, data);
      if (stream->next() != trace::Step::Event) continue;
      const Nanoseconds begin = stream->event().time;
      widen(span, {begin, stream->last_time().value_or(begin)});
    }
  }
  return span;
}

}  // namespace strata::tracedat
