// SPDX-License-Identifier: Apache-2.0
#include "recording/to_ctf.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/unfinished.h"
#include "format/ctf/writer.h"
#include "recording/event_translation.h"
#include "recording/kernel_description.h"
#include "recording/lttng_names.h"
#include "recording/processes.h"
#include "trace/syscall_names.h"
#include "trace/type_table.h"

namespace strata::recording {
namespace {

using ctf::EventId;
using ctf::NewField;
using ctf::StreamWriter;

constexpr uint64_t kProgressEvents = 1 << 16;
constexpr uint64_t kUnnamed = 1023;  // the place of system calls without a name

// What every event of the kernel's tracer tells of itself.
const std::vector<NewField>& context_fields() {
  static const std::vector<NewField> fields = {
      ctf::integer_field("tid", 32, true), ctf::integer_field("common_flags", 8, false, 16),
      ctf::integer_field("common_preempt_count", 8, false)};
  return fields;
}

// More than the compact header has ids for.
bool has_many_types(const trace::Trace& trace) {
  const std::vector<const trace::EventType*> types = trace.event_types();
  return types.size() > 31 || std::ranges::any_of(types, [](const trace::EventType* type) {
           return type->system == "raw_syscalls";
         });
}

// The place in open_streams() of the stream that begins first.
size_t first_stream(const trace::Trace& trace) {
  const std::vector<std::unique_ptr<trace::Stream>> streams = trace.open_streams();
  size_t first = 0;
  std::optional<Nanoseconds> begin;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i]->next() != trace::Step::Event) continue;
    if (begin && *begin <= streams[i]->event().time) continue;
    begin = streams[i]->event().time;
    first = i;
  }
  return first;
}

class Conversion {
 public:
  Conversion(const trace::Trace& source, ctf::Writer& writer, KernelDescription description,
             const ToCtfProgress& progress)
      : source_(source),
        writer_(writer),
        description_(std::move(description)),
        progress_(progress) {}

  Status run();
  const ToCtfCounts& counts() const { return counts_; }
  // What could not be read.
  const std::optional<Error>& problem() const { return problem_; }

 private:
  // What is kept for each event type of the source.
  struct Known {
    std::unique_ptr<EventTranslation> translation;
    EventId id{};
    trace::FieldRef flags;
    trace::FieldRef preempt_count;
    // raw_syscalls: an event type for each system call, by number, as they come. One that has no
    // name here tells its number.
    trace::FieldRef number;
    std::unique_ptr<EventTranslation> with_number;
    std::vector<std::optional<EventId>> calls;
  };

  Status convert_stream(trace::Stream& stream, StreamWriter& out, bool with_state);
  Status write_event(const trace::Event& event, StreamWriter& out);
  Result<Known*> know(const trace::EventType& type);
  Result<EventId> declare(const ctf::NewEventType& type) {
    return writer_.add_event_type(stream_class_, type);
  }
  // A numbered system call becomes its own event type, or that of all without a name.
  struct Call {
    EventTranslation* translation;
    EventId id;
  };
  Result<Call> call_of(Known& known, const trace::Event& event);
  bool goes_by_number(const trace::EventType& type);
  std::string unique_name(const trace::EventType& type);
  Status write_state(StreamWriter& out, uint64_t time);
  uint64_t reading(Nanoseconds time) const {
    return time.count > description_.base ? static_cast<uint64_t>(time.count - description_.base)
                                          : 0;
  }
  std::string stream_name(const trace::Stream& stream);

  const trace::Trace& source_;
  ctf::Writer& writer_;
  KernelDescription description_;
  const ToCtfProgress& progress_;
  ctf::StreamClassId stream_class_{};
  trace::TypeTable<Known> types_;
  Processes processes_;  // known from the first event on that is about one
  std::set<std::string> names_;
  std::set<std::string> stream_names_;
  std::optional<bool> has_named_calls_;
  std::vector<std::byte> bytes_;
  uint64_t bytes_before_ = 0;
  uint64_t bytes_total_ = 0;
  ToCtfCounts counts_;
  std::optional<Error> problem_;
};

Status Conversion::run() {
  ctf::NewStreamClass stream_class;
  stream_class.event_context = context_fields();
  if (has_many_types(source_)) stream_class.header = ctf::HeaderKind::Large;
  const Result<ctf::StreamClassId> id = writer_.add_stream_class(stream_class);
  if (!id) return id.error();
  stream_class_ = *id;

  const std::vector<std::unique_ptr<trace::Stream>> streams = source_.open_streams();
  for (const auto& stream : streams) bytes_total_ += stream->bytes_total();
  const size_t first = first_stream(source_);
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::unique_ptr<trace::Stream>& stream = streams[i];
    const Result<StreamWriter*> out =
        writer_.add_stream(stream_class_, {stream_name(*stream), raw(stream->cpu()), {}});
    if (!out) return out.error();
    if (Status status = convert_stream(*stream, **out, i == first); !status) return status;
    if (Status status = (*out)->finish(); !status) return status;
    if (!problem_ && stream->problem()) problem_ = stream->problem();
    bytes_before_ += stream->bytes_total();
    counts_.moved += (*out)->moved();
  }
  return {};
}

std::string Conversion::stream_name(const trace::Stream& stream) {
  // LTTng's channel0 is what it records into unless told otherwise.
  std::string name = stream.buffer().empty() ? "channel0" : "buffer_" + stream.buffer();
  std::ranges::replace(name, '/', '_');
  name += "_" + std::to_string(raw(stream.cpu()));
  while (!stream_names_.insert(name).second) name += "_";
  return name;
}

Status Conversion::convert_stream(trace::Stream& stream, StreamWriter& out, bool with_state) {
  const auto lose = [&](uint64_t count, bool unknown) {
    counts_.lost += count;
    counts_.lost_unknown += unknown ? 1 : 0;
    return out.discard(count) && (!unknown || out.discard_unknown());
  };
  while (stream.next() == trace::Step::Event) {
    const trace::Event& event = stream.event();
    if (event.lost > 0 || event.lost_unknown) [[unlikely]] {
      if (!lose(event.lost, event.lost_unknown)) return out.status();
    }
    if (with_state) [[unlikely]] {
      if (Status status = write_state(out, reading(event.time)); !status) return status;
      with_state = false;
    }
    if (Status status = write_event(event, out); !status) return status;
    if (++counts_.events % kProgressEvents == 0 && progress_)
      progress_(bytes_before_ + stream.bytes_done(), bytes_total_);
  }
  const trace::Stream::Loss& after = stream.unplaced_loss();
  if (!lose(after.count, after.unknown)) return out.status();
  const std::optional<trace::Trace::Span> span = source_.time_span();
  return out.events() == 0 && span ? out.flush(reading(span->begin)) : out.status();
}

Status Conversion::write_event(const trace::Event& event, StreamWriter& out) {
  Known* known = types_.find(event.type);
  if (known == nullptr) [[unlikely]] {
    Result<Known*> added = know(*event.type);
    if (!added) return std::move(added).error();
    known = *added;
  }
  Call as{known->translation.get(), known->id};
  if (known->number) {
    const Result<Call> call = call_of(*known, event);
    if (!call) return call.error();
    as = *call;
  }
  bytes_.resize(6);
  const int32_t tid = raw(event.tid());
  std::memcpy(bytes_.data(), &tid, 4);
  bytes_[4] = static_cast<std::byte>(event.integer(known->flags).value_or(0));
  bytes_[5] = static_cast<std::byte>(event.integer(known->preempt_count).value_or(0));
  as.translation->append(event, bytes_);
  return out.write(as.id, reading(event.time), bytes_) ? Status() : out.status();
}

Result<Conversion::Known*> Conversion::know(const trace::EventType& type) {
  Known known;
  known.flags = type.ref("common_flags");
  known.preempt_count = type.ref("common_preempt_count");
  const bool by_number = goes_by_number(type);
  if (type.meaning.word == trace::Word::TaskFork) processes_ = Processes(source_);
  if (by_number) {
    static constexpr std::string_view kNumber[] = {"id"};
    known.number = type.meaning.part(trace::Role::Number);
    known.calls.resize(kUnnamed + 1);
    known.translation = std::make_unique<EventTranslation>(source_, processes_, type, "", kNumber);
    known.with_number = std::make_unique<EventTranslation>(source_, processes_, type, "");
  } else {
    static constexpr std::string_view kNumber[] = {"__syscall_nr", "nr"};
    const bool is_call = type.system == "syscalls";
    known.translation = std::make_unique<EventTranslation>(
        source_, processes_, type, unique_name(type),
        is_call ? std::span<const std::string_view>(kNumber) : std::span<const std::string_view>());
    const Result<EventId> id = declare(known.translation->declaration());
    if (!id) return id.error();
    known.id = *id;
  }
  return types_.add(&type, std::move(known));
}

std::string Conversion::unique_name(const trace::EventType& type) {
  std::string name = lttng_name(type);
  if (!names_.insert(name).second) {
    name = type.system + "_" + type.name;
    while (!names_.insert(name).second) name += "_";
  }
  return name;
}

// raw_syscalls: events of all system calls. They become what LTTng would have recorded, unless the
// trace also has the events of each: then every call would be there twice.
bool Conversion::goes_by_number(const trace::EventType& type) {
  const bool is_raw = type.system == "raw_syscalls" && type.meaning.part(trace::Role::Number);
  if (!is_raw) return false;
  if (!has_named_calls_) {
    has_named_calls_ = false;
    const auto types = source_.event_types();
    const bool may_have = std::ranges::any_of(
        types, [](const trace::EventType* other) { return other->system == "syscalls"; });
    const auto streams =
        may_have ? source_.open_streams() : std::vector<std::unique_ptr<trace::Stream>>();
    for (const auto& stream : streams) {
      while (!*has_named_calls_ && stream->next() == trace::Step::Event)
        has_named_calls_ = stream->event().type->system == "syscalls";
    }
  }
  return !*has_named_calls_;
}

Result<Conversion::Call> Conversion::call_of(Known& known, const trace::Event& event) {
  const auto number = static_cast<uint64_t>(event.integer(known.number).value_or(-1));
  const std::string_view name = trace::syscall_name(description_.machine, number);
  const bool named = !name.empty() && number < kUnnamed;
  EventTranslation* translation = named ? known.translation.get() : known.with_number.get();
  std::optional<EventId>& id = known.calls[named ? number : kUnnamed];
  if (!id) {
    const bool entry = event.type->meaning.word == trace::Word::SyscallEntry;
    ctf::NewEventType type = translation->declaration();
    type.name = (entry ? "syscall_entry_" : "syscall_exit_") +
                (named ? std::string(name) : std::string("unknown"));
    const Result<EventId> added = declare(type);
    if (!added) return added.error();
    id = *added;
  }
  return Call{translation, *id};
}

// LTTng's words for what runs when tracing begins.
Status Conversion::write_state(StreamWriter& out, uint64_t time) {
  std::vector<std::pair<int32_t, std::string_view>> tasks;
  for (const auto& [tid, name] : source_.task_names().all()) tasks.emplace_back(raw(tid), name);
  std::ranges::sort(tasks);
  if (tasks.empty()) return {};

  const ctf::NewEventType state{
      "lttng_statedump_process_state",
      {ctf::integer_field("tid", 32, true), ctf::integer_field("pid", 32, true),
       ctf::integer_field("ppid", 32, true), ctf::text_field("name", 16),
       ctf::integer_field("type", 32, true), ctf::integer_field("mode", 32, true),
       ctf::integer_field("submode", 32, true), ctf::integer_field("status", 32, true)}};
  const Result<EventId> start = declare({"lttng_statedump_start", {}});
  const Result<EventId> process = declare(state);
  const Result<EventId> end = declare({"lttng_statedump_end", {}});
  for (const auto* id : {&start, &process, &end})
    if (!*id) return id->error();

  std::vector<NewField> fields = context_fields();
  const std::vector<ctf::Value> no_context = {0, 0, 0};
  bool fine = out.write(*start, time, fields, no_context);
  fields.insert(fields.end(), state.fields.begin(), state.fields.end());
  for (const auto& [tid, name] : tasks) {
    const std::array<ctf::Value, 11> values = {0, 0, 0, tid, tid, 0, name.substr(0, 15),
                                               0, 0, 0, 0};
    fine = fine && out.write(*process, time, fields, values);
  }
  fine = fine && out.write(*end, time, context_fields(), no_context);
  return fine ? Status() : out.status();
}

// A name beside `folder`, where it can be made and then moved from.
std::string name_beside(const std::string& folder) {
  std::string name = folder;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  for (int i = 0;; ++i) {
    const std::string beside = name + "." + std::to_string(getpid()) + "." + std::to_string(i);
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored)) return beside;
  }
}

Status convert_into(const trace::Trace& trace, const std::string& folder,
                    const ToCtfOptions& options, const ToCtfProgress& progress, ToCtfCounts& counts,
                    std::optional<Error>& problem) {
  KernelDescription description(trace, options);
  Result<ctf::Writer> writer =
      ctf::Writer::create(folder, description.trace, {.index = options.index});
  if (!writer) return std::move(writer).error();
  Conversion conversion(trace, *writer, std::move(description), progress);
  if (Status status = conversion.run(); !status) return status;
  counts = conversion.counts();
  problem = conversion.problem();
  return writer->finish();
}

}  // namespace

Status to_ctf(const trace::Trace& trace, const std::string& folder, const ToCtfOptions& options,
              const ToCtfProgress& progress, ToCtfCounts* counts) {
  if (Status status = ctf::check_folder(folder, options.overwrite); !status) return status;
  const std::string beside = name_beside(folder);
  ToCtfCounts own;
  ToCtfCounts& told = counts != nullptr ? *counts : own;
  std::optional<Error> problem;
  remember_unfinished(beside);
  Status status = convert_into(trace, beside, options, progress, told, problem);
  if (status) status = ctf::clear_folder(folder, options.overwrite);
  std::error_code error;
  if (status) {
    std::filesystem::rename(beside, folder, error);
    if (error) status = system_error(folder, "cannot create", error.value());
  }
  if (!status) std::filesystem::remove_all(beside, error);
  forget_unfinished(beside);
  if (!status) return status;
  if (problem) return *problem;
  if (!trace.problems().empty()) return trace.problems().front();
  if (told.moved > 0)
    return Error{folder, std::nullopt,
                 std::to_string(told.moved) +
                     " events were stamped earlier than the one before them on their CPU, which "
                     "CTF cannot say: they have the time of that one"};
  return {};
}

}  // namespace strata::recording
