// SPDX-License-Identifier: Apache-2.0
#include "record/counters_trace.h"

#include <algorithm>
#include <cstring>

#include "trace/samples.h"

namespace strata::record {
namespace {

// What of a tracepoint's own fields goes along: a field, and the name it has with us.
struct Chosen {
  const trace::Field* field;
  std::string name;
};

bool is_plain_integer(const trace::Field& field) {
  const bool is_size = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
  return is_size && field.location == trace::Location::InPlace &&
         (field.kind == trace::ValueKind::Integer || field.kind == trace::ValueKind::Pointer);
}

std::vector<Chosen> chosen_fields(const trace::EventType& type) {
  std::vector<Chosen> chosen;
  const auto add = [&](const trace::Field* field, std::string name) {
    if (field != nullptr && is_plain_integer(*field)) chosen.push_back({field, std::move(name)});
  };
  if (type.meaning.word == trace::Word::SchedSwitch) {
    add(type.find("prev_pid"), "prev_tid");
    add(type.find("next_pid"), "next_tid");
    return chosen;
  }
  for (size_t i = type.common_fields; i < type.fields.size(); ++i)
    add(&type.fields[i], type.fields[i].name);
  return chosen;
}

ctf::NewField declared(const trace::Field& field, std::string name) {
  const bool is_address = field.kind == trace::ValueKind::Pointer;
  ctf::NewField declared =
      ctf::integer_field(std::move(name), field.size * 8, field.is_signed, is_address ? 16 : 10);
  declared.order = kNativeOrder;  // its bytes are taken as they are
  return declared;
}

// "cache-misses" as an identifier.
std::string field_name(const kernel::Counter& counter) {
  std::string name = counter.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Which fields of the events are counters.
std::string names_of(const std::vector<kernel::Counter>& counters) {
  std::string names;
  for (const kernel::Counter& counter : counters)
    names += (names.empty() ? "" : ",") + field_name(counter);
  return names;
}

ctf::NewTrace description(const CountersTraceOptions& options) {
  ctf::NewTrace trace;
  trace.clock.name = "mono_raw";
  trace.clock.description = "CLOCK_MONOTONIC_RAW";
  // As LTTng does it. Babeltrace merges traces only if this is the same, whatever their clocks.
  trace.clock.uuid = options.boot_id;
  trace.clock.since_epoch = true;
  trace.clock.frequency = 1'000'000'000;
  trace.clock.offset_cycles = static_cast<uint64_t>(std::max<int64_t>(options.epoch_ns, 0));
  trace.environment = {{"hostname", options.host},
                       {"sysname", "Linux"},
                       {"kernel_release", options.kernel},
                       {"tracer_name", "strata"},
                       {"content", "performance counters"},
                       {std::string(trace::kCountersProperty), names_of(options.counters)}};
  return trace;
}

}  // namespace

Result<CountersTrace> CountersTrace::create(const std::string& folder,
                                            const CountersTraceOptions& options) {
  Result<ctf::Writer> writer =
      ctf::Writer::create(folder, description(options), {.only_owner = true});
  if (!writer) return std::move(writer).error();
  CountersTrace trace(std::move(*writer));
  if (Status status = trace.declare(options); !status) return std::move(status).error();
  return trace;
}

Status CountersTrace::declare(const CountersTraceOptions& options) {
  const Result<ctf::StreamClassId> stream = writer_.add_stream_class(
      {ctf::HeaderKind::Compact, {ctf::integer_field("tid", 32, true)}, {}});
  if (!stream) return stream.error();
  tracepoints_ = options.read_at.size();
  counters_ = options.counters.size();
  for (const trace::EventType& tracepoint : options.read_at)
    if (Status status = declare_type(*stream, tracepoint, options.counters); !status) return status;
  for (const uint32_t cpu : options.cpus) {
    const Result<ctf::StreamWriter*> added =
        writer_.add_stream(*stream, {"cpu" + std::to_string(cpu), cpu, {}});
    if (!added) return added.error();
    streams_.push_back({*added});
  }
  return writer_.flush();
}

Status CountersTrace::declare_type(ctf::StreamClassId stream, const trace::EventType& tracepoint,
                                   const std::vector<kernel::Counter>& counters) {
  const trace::Field* number = tracepoint.find("common_type");
  const trace::Field* tid = tracepoint.find("common_pid");
  const bool usual = number != nullptr && number->offset == 0 && number->size == 2 &&
                     tid != nullptr && tid->size == 4 && tracepoint.id <= 0xffff;
  if (!usual)
    return Error{
        "", std::nullopt,
        "counters cannot be read at " + tracepoint.name + ": its records are unlike others"};
  Type type;
  type.number = static_cast<uint16_t>(tracepoint.id);
  type.pieces.push_back({tid->offset, tid->size});
  // Two systems may have events of one name.
  const bool is_unique = std::none_of(types_.begin(), types_.end(), [&](const Type& other) {
    return other.name == tracepoint.name;
  });
  ctf::NewEventType declaration{is_unique ? "counters_" + tracepoint.name
                                          : "counters_" + tracepoint.system + "_" + tracepoint.name,
                                {}};
  for (Chosen& chosen : chosen_fields(tracepoint)) {
    // A counter has the same name in every event: the tracepoint's own fields give way.
    while (std::any_of(counters.begin(), counters.end(), [&](const kernel::Counter& counter) {
      return field_name(counter) == chosen.name;
    }))
      chosen.name += '_';
    type.pieces.push_back({chosen.field->offset, chosen.field->size});
    declaration.fields.push_back(declared(*chosen.field, std::move(chosen.name)));
  }
  for (const kernel::Counter& counter : counters)
    declaration.fields.push_back(ctf::integer_field(field_name(counter), 64, false));
  for (const Piece& piece : type.pieces) {
    type.record_size = std::max<size_t>(type.record_size, size_t{piece.offset} + piece.size);
    type.size += piece.size;
  }
  type.size += counters.size() * 8;
  type.name = tracepoint.name;
  type.is_switch = tracepoint.meaning.word == trace::Word::SchedSwitch && type.pieces.size() == 3 &&
                   std::all_of(type.pieces.begin(), type.pieces.end(),
                               [](const Piece& piece) { return piece.size == sizeof(int32_t); });
  const Result<ctf::EventId> id = writer_.add_event_type(stream, declaration);
  if (!id) return id.error();
  type.id = *id;
  types_.push_back(std::move(type));
  return {};
}

const CountersTrace::Type* CountersTrace::type_of(Bytes record) const {
  if (record.size() < sizeof(uint16_t)) return nullptr;
  const auto number = load<uint16_t>(record.data(), false);
  for (const Type& type : types_)
    if (type.number == number) return record.size() >= type.record_size ? &type : nullptr;
  return nullptr;
}

bool CountersTrace::write(size_t cpu, const kernel::CounterSample& sample) {
  const Type* type = type_of(sample.record);
  const Bytes values = sample.values.subspan(std::min(tracepoints_ * 8, sample.values.size()));
  if (type == nullptr || values.size() != counters_ * 8) return discard(cpu, 1);
  Stream& stream = streams_[cpu];
  std::byte* out = stream.out->reserve(type->id, sample.time, type->size);
  if (out == nullptr) return false;
  stream.bytes += type->size;
  if (type->is_switch) {
    const auto thread = [&](size_t piece) {
      return load_once<int32_t>(sample.record.data() + type->pieces[piece].offset);
    };
    if (stream.running && *stream.running != thread(1)) ++stream.gaps;
    stream.running = thread(2);
  }
  for (const Piece& piece : type->pieces) {
    std::memcpy(out, sample.record.data() + piece.offset, piece.size);
    out += piece.size;
  }
  if (!values.empty()) std::memcpy(out, values.data(), values.size());
  return true;
}

bool CountersTrace::discard(size_t cpu, uint64_t samples) {
  streams_[cpu].running.reset();
  return streams_[cpu].out->discard(samples);
}

bool CountersTrace::discard_unknown(size_t cpu) {
  streams_[cpu].running.reset();
  return streams_[cpu].out->discard_unknown();
}

// Not where they are met: each would end a packet there, and they may be as frequent as switches.
void CountersTrace::tell_gaps() {
  for (Stream& stream : streams_) (void)stream.out->discard(std::exchange(stream.gaps, 0));
}

Status CountersTrace::flush() {
  tell_gaps();
  return writer_.flush();
}

Status CountersTrace::finish() {
  tell_gaps();
  return writer_.finish();
}

}  // namespace strata::record
