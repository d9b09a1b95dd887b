// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/ctf_trace.h"

#include <algorithm>
#include <filesystem>

#include "format/ctf/metadata.h"
#include "format/ctf/show.h"
#include "format/ctf/trace_folders.h"
#include "trace/samples.h"

namespace strata::ctf {

Result<CtfTrace::Part> CtfTrace::read_part(const std::string& folder) {
  Part part;
  part.folder = folder;
  part.metadata_path = folder + "/metadata";
  const Result<MappedFile> file = MappedFile::open(part.metadata_path);
  if (!file) return file.error();
  part.file_size = file->size();
  const Result<MetadataText> text = unpack_metadata(file->bytes(), part.metadata_path);
  if (!text) return text.error();
  part.text_size = text->text.size();
  Result<Description> description = parse_metadata(*text, part.metadata_path);
  if (!description) return std::move(description).error();
  part.description = *std::move(description);
  return part;
}

bool CtfTrace::recognises(const std::string& folder) { return !find_trace_folders(folder).empty(); }

Result<std::vector<std::unique_ptr<CtfTrace>>> CtfTrace::open_all(const std::string& folder) {
  std::vector<Error> problems;
  // Parts of one trace carry one UUID. The metadata only grow, so the longest tell of all parts.
  std::vector<std::vector<Part>> traces;
  for (const std::string& path : find_trace_folders(folder)) {
    Result<Part> part = read_part(path);
    if (!part) {
      problems.push_back(std::move(part).error());
      continue;
    }
    const std::string& uuid = part->description.uuid;
    const auto same = std::ranges::find_if(traces, [&](const std::vector<Part>& parts) {
      return !uuid.empty() && parts.front().description.uuid == uuid;
    });
    if (same == traces.end())
      traces.emplace_back().push_back(*std::move(part));
    else
      same->push_back(*std::move(part));
  }

  std::vector<std::unique_ptr<CtfTrace>> opened;
  for (std::vector<Part>& parts : traces) {
    Result<std::unique_ptr<CtfTrace>> trace = open(std::move(parts));
    if (trace)
      opened.push_back(*std::move(trace));
    else
      problems.push_back(std::move(trace).error());
  }
  if (opened.empty()) {
    if (!problems.empty()) return problems.front();
    return Error{folder, std::nullopt, "no trace in this folder or below"};
  }
  // Whoever opened one trace of several must hear of those that could not be.
  std::ranges::move(problems, std::back_inserter(opened.front()->problems_));
  return opened;
}

std::vector<std::unique_ptr<CtfTrace>> CtfTrace::open_more(const std::string& folder,
                                                           const std::vector<CtfTrace*>& known) {
  std::vector<CtfTrace*> all = known;
  std::vector<std::unique_ptr<CtfTrace>> opened;
  for (const std::string& path : find_trace_folders(folder)) {
    if (std::ranges::any_of(all, [&](CtfTrace* trace) { return trace->folders_.contains(path); }))
      continue;
    Result<Part> part = read_part(path);
    if (!part) continue;
    const auto same = std::ranges::find_if(all, [&](const CtfTrace* trace) {
      return !part->description.uuid.empty() && trace->description().uuid == part->description.uuid;
    });
    if (same != all.end()) {
      (*same)->folders_[path] = 0;  // its metadata are still to be looked at
      continue;
    }
    std::vector<Part> parts;
    parts.push_back(*std::move(part));
    Result<std::unique_ptr<CtfTrace>> trace = open(std::move(parts));
    if (!trace) continue;
    all.push_back(trace->get());
    opened.push_back(*std::move(trace));
  }
  return opened;
}

Result<std::unique_ptr<CtfTrace>> CtfTrace::open(std::vector<Part> parts) {
  std::unique_ptr<CtfTrace> trace(new CtfTrace);
  Part& fullest = *std::ranges::max_element(parts, {}, &Part::text_size);
  Result<std::unique_ptr<TracePlan>> plan =
      plan_trace(std::move(fullest.description), fullest.metadata_path);
  if (!plan) return std::move(plan).error();
  trace->plans_.add(*std::move(plan));
  trace->metadata_path_ = fullest.metadata_path;
  trace->metadata_size_ = fullest.text_size;
  std::vector<std::string> folders;
  for (const Part& part : parts) {
    folders.push_back(part.folder);
    trace->folders_[part.folder] = part.file_size;
    trace->gather_files(part.folder);
  }
  trace->gather_sources();
  trace->describe(folders.size() == 1 ? folders.front() : common_folder(folders));
  return trace;
}

void CtfTrace::gather_files(const std::string& folder) {
  for (const std::string& path : find_stream_files(folder)) {
    Result<MappedFile> file = MappedFile::open(path);
    if (!file) {
      problems_.push_back(std::move(file).error());
    } else if (file->size() > 0) {
      known_files_.insert(file->id());
      files_.push_back(*std::move(file));
    }
  }
}

CtfTrace::StreamKey CtfTrace::key_of(const Packet& first, size_t file) const {
  return {first.cpu.value_or(0), first.stream->id, first.stream_id.value_or(file),
          first.stream_id.has_value()};
}

void CtfTrace::gather_sources() {
  struct Found {
    const MappedFile* file;
    std::optional<uint64_t> begin;
  };
  std::map<StreamKey, std::vector<Found>> groups;
  Slots slots(plans_.newest().slots);
  for (size_t i = 0; i < files_.size(); ++i) {
    const Result<Packet> first = read_packet(description(), files_[i], 0, slots);
    // One whose first packet cannot be read is a stream of its own, which will say so.
    StreamKey key{~uint64_t{0}, ~uint64_t{0}, i, false};
    std::optional<uint64_t> begin;
    if (first) {
      key = key_of(*first, i);
      begin = first->begin;
    }
    groups[key].push_back({&files_[i], begin});
  }
  for (auto& [key, found] : groups) {
    std::ranges::stable_sort(found, {}, &Found::begin);
    Source& source = sources_.emplace_back();
    source.key = key;
    source.cpu = key.cpu == ~uint64_t{0} ? 0 : key.cpu;
    for (const Found& f : found) source.files.push_back(f.file);
  }
}

// Metadata only grow. Where they are cut off in the middle of a declaration, the rest is to come.
void CtfTrace::renew_plan() {
  for (auto& [folder, size] : folders_) {
    std::error_code error;
    const uint64_t now = std::filesystem::file_size(folder + "/metadata", error);
    if (error || now == size) continue;
    size = now;
    Result<Part> part = read_part(folder);
    if (!part || part->text_size <= metadata_size_) continue;
    Result<std::unique_ptr<TracePlan>> plan =
        plan_trace(std::move(part->description), part->metadata_path);
    if (!plan) continue;
    plans_.add(*std::move(plan));
    metadata_size_ = part->text_size;
    metadata_path_ = part->metadata_path;
  }
}

// The source that is new with it; null: it continues one. A file without a whole packet is not
// taken.
CtfTrace::Source* CtfTrace::add_file(MappedFile file) {
  Slots slots(plans_.newest().slots);
  const Result<Packet> first = read_packet(description(), file, 0, slots);
  if (!first) return nullptr;
  const StreamKey key = key_of(*first, files_.size());
  known_files_.insert(file.id());
  const MappedFile& added = files_.emplace_back(std::move(file));
  const auto same = std::ranges::find(sources_, key, &Source::key);
  if (same != sources_.end()) {
    same->files.push_back(&added);
    return nullptr;
  }
  return &sources_.emplace_back(Source{key, {&added}, key.cpu});
}

std::vector<std::unique_ptr<trace::Stream>> CtfTrace::look_again() {
  renew_plan();
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const auto& [folder, size] : folders_) {
    for (const std::string& path : find_stream_files(folder)) {
      const std::optional<FileId> id = FileId::of(path);
      if (!id || known_files_.contains(*id)) continue;
      Result<MappedFile> file = MappedFile::open(path);
      if (!file || file->size() == 0) continue;
      if (const Source* source = add_file(*std::move(file)))
        streams.push_back(open_stream(*source));
    }
  }
  return streams;
}

void CtfTrace::describe(const std::string& path) {
  const Description& d = description();
  info_.path = path;
  info_.kind = d.version == 1 ? "CTF 1.8" : "CTF 2";
  info_.machine = d.environment_text("hostname");
  info_.processor = d.environment_text("architecture");
  info_.kernel = d.environment_text("kernel_release");
  info_.tracer = d.environment_text("tracer_name");
  if (const std::string major = d.environment_text("tracer_major"); !major.empty())
    info_.tracer += " " + major + "." + d.environment_text("tracer_minor");
  for (const Source& source : sources_)
    info_.cpus = std::max(info_.cpus, static_cast<uint32_t>(source.cpu) + 1);

  const auto clocked = std::ranges::find_if(
      d.streams, [](const StreamClass& stream) { return stream.clock.has_value(); });
  if (clocked == d.streams.end()) {
    info_.clock = {.name = "none", .is_time = false, .in_nanoseconds = false};
    info_.in_nanoseconds = false;
  } else {
    const Clock& clock = d.clocks[*clocked->clock];
    info_.clock.name = clock.name.empty() ? "default" : clock.name;
    info_.clock.in_nanoseconds = clock.frequency == 1'000'000'000;
    // LTTng's monotonic clock carries its offset to the epoch without saying that it is that.
    const bool lttng = info_.tracer.starts_with("lttng") && clock.name == "monotonic";
    info_.since_epoch = clock.since_epoch || lttng;
    if (lttng) info_.boot = clock.uid;  // and its identity is the boot's
  }
  if (const std::string domain = d.environment_text("domain"); !domain.empty())
    info_.properties.emplace_back("domain", domain);
  if (const std::string name = d.environment_text("procname"); !name.empty())
    info_.properties.emplace_back("process", name);
  if (const std::string id = d.environment_text("vpid"); !id.empty())
    info_.properties.emplace_back("process id", id);
  if (const std::string names = d.environment_text("counters"); !names.empty())
    info_.properties.emplace_back(std::string(trace::kCountersProperty), names);
}

std::vector<const trace::EventType*> CtfTrace::event_types() const {
  std::vector<const trace::EventType*> types;
  for (const StreamPlan& stream : plans_.newest().streams) {
    for (const std::unique_ptr<EventPlan>& event : stream.events) types.push_back(event.get());
  }
  return types;
}

std::unique_ptr<DataStream> CtfTrace::open_stream(const Source& source) const {
  return std::make_unique<DataStream>(plans_, source.files,
                                      CpuId{static_cast<uint32_t>(source.cpu)});
}

std::vector<std::unique_ptr<trace::Stream>> CtfTrace::open_streams() const {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const Source& source : sources_) streams.push_back(open_stream(source));
  return streams;
}

namespace {

// Where a field of an event begins. Bases count from the byte that the record begins in.
Cursor cursor_at(const trace::Event& event, const trace::FieldRef& ref) {
  Cursor at = static_cast<const DataStream&>(*event.stream).record_cursor();
  const uint64_t offset =
      ref.location == trace::Location::BasedBits ? ref.offset : uint64_t{ref.offset} * 8;
  at.advance(uint64_t{event.bases[ref.base]} + offset - (at.position() & 7));
  return at;
}

}  // namespace

void CtfTrace::print_fields(const trace::Event& event, TextBuffer& out) const {
  const auto& plan = static_cast<const EventPlan&>(*event.type);
  const auto& stream = static_cast<const DataStream&>(*event.stream);
  if (plan.text) {
    plan.text->print(event, out, [&](const FieldClass& type, const trace::FieldRef& ref) {
      Cursor at = cursor_at(event, ref);
      return show(type, at, stream.slots(), out);
    });
    return;
  }
  Cursor at = stream.record_cursor();
  bool first = true;
  for (const FieldClass* scope : plan.scopes()) {
    if (scope == nullptr) continue;
    if (!first) out.put(std::string_view(", "));
    first = false;
    if (!show(*scope, at, stream.slots(), out)) return;
  }
}

void CtfTrace::print_packet(const trace::Event& event, TextBuffer& out) const {
  out.put(static_cast<const DataStream&>(*event.stream).packet_text());
}

void CtfTrace::print_compound(const trace::Event& event, const trace::Field& field,
                              TextBuffer& out) const {
  const auto& plan = static_cast<const EventPlan&>(*event.type);
  const auto& stream = static_cast<const DataStream&>(*event.stream);
  const auto index = static_cast<size_t>(&field - plan.fields.data());
  const FieldClass* type = index < plan.classes.size() ? plan.classes[index] : nullptr;
  if (type == nullptr || event.bases[field.base] == trace::kAbsent) {
    out.put(std::string_view("null"));
    return;
  }
  Cursor at = cursor_at(event, trace::FieldRef(field, plan.order));
  const size_t before = out.size();
  if (!show_json(*type, at, stream.slots(), out)) {
    out.truncate(before);
    out.put(std::string_view("null"));
  }
}

std::optional<trace::Trace::Span> CtfTrace::time_span() const {
  std::optional<Span> span;
  for (const Source& source : sources_) {
    const std::unique_ptr<DataStream> stream = open_stream(source);
    if (stream->next() != trace::Step::Event) continue;
    const Nanoseconds begin = stream->event().time;
    widen(span, {begin, stream->last_time().value_or(begin)});
  }
  return span;
}

}  // namespace strata::ctf
