// SPDX-License-Identifier: Apache-2.0
#include "collect/program_trace.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstring>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// Nobody declares that many; a program that makes them up does not fill the disk with them.
constexpr size_t kMostTypes = 16384;
constexpr size_t kCompactTypes = 31;  // that a short event header can tell
constexpr uint32_t kPacketSize = 128 * 1024;

ctf::NewField number_field(const SiteField& field) {
  const unsigned bits = field.bytes * 8u;
  ctf::NewField declared = field.is_float ? ctf::float_field(field.name, bits)
                                          : ctf::integer_field(field.name, bits, field.is_signed);
  declared.order = kNativeOrder;
  return declared;
}

ctf::NewField declared(const SiteField& field) {
  switch (field.shape) {
    case FieldShape::String:
      return ctf::string_field(field.name);
    case FieldShape::Sequence:
      return ctf::sequence_field(number_field(field), 16);
    case FieldShape::Enum:
    case FieldShape::Number:
      break;
  }
  ctf::NewField number = number_field(field);
  for (const auto& [name, value] : field.labels) number.labels.push_back({name, value, value});
  if (!number.labels.empty()) number.kind = ctf::NewFieldKind::Enum;
  return number;
}

bool is_fixed(const Site& site) {
  return std::all_of(site.fields.begin(), site.fields.end(), [](const SiteField& field) {
    return field.shape == FieldShape::Number || field.shape == FieldShape::Enum;
  });
}

ctf::NewEventType declared(const Site& site) {
  ctf::NewEventType type{site.provider + ":" + site.name, {}, site.level};
  if (site.kind == abi::SiteKind::Span) {
    type.fields.push_back(ctf::integer_field("begin", 64, false));
    type.fields.push_back(ctf::integer_field("duration_ns", 64, false));
  }
  for (const SiteField& field : site.fields) type.fields.push_back(declared(field));
  if (!is_fixed(site)) type.fields.push_back(ctf::integer_field("truncated", 8, false));
  return type;
}

std::vector<ctf::NewField> declared_contexts(uint32_t mask) {
  std::vector<ctf::NewField> fields;
  if ((mask & abi::kTidContext) != 0) fields.push_back(ctf::integer_field("vtid", 32, true));
  if ((mask & abi::kNameContext) != 0)
    fields.push_back(ctf::text_field("procname", abi::kNameLength));
  if ((mask & abi::kCpuContext) != 0) fields.push_back(ctf::integer_field("cpu_id", 32, false));
  static constexpr const char* kCounterFields[abi::kCounters] = {
      "perf_thread_cpu_cycles", "perf_thread_instructions", "perf_thread_cache_misses",
      "perf_thread_branch_misses"};
  for (size_t counter = 0; counter < abi::kCounters; ++counter)
    if ((mask & abi::counter_context(counter)) != 0)
      fields.push_back(ctf::integer_field(kCounterFields[counter], 64, false));
  return fields;
}

// What a folder or file may be called.
std::string plain(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '.' || c == '-' || c == '+';
    if (!fine) c = '_';
  }
  return name.substr(0, 64);
}

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<ProgramTrace> ProgramTrace::create(const Options& options) {
  utsname machine{};
  uname(&machine);
  ctf::NewTrace trace;
  trace.clock = options.clock;
  trace.environment = {{"hostname", std::string(machine.nodename)},
                       {"domain", "ust"},
                       {"sysname", std::string(machine.sysname)},
                       {"kernel_release", std::string(machine.release)},
                       {"tracer_name", "strata-probe"},
                       {"program", options.program}};
  Result<ctf::Writer> writer =
      ctf::Writer::create(options.folder, trace, {.packet_size = kPacketSize, .only_owner = true});
  if (!writer) return std::move(writer).error();
  ctf::NewStreamClass stream;
  stream.header = options.types < kCompactTypes ? ctf::HeaderKind::Compact : ctf::HeaderKind::Large;
  stream.packet_context = {ctf::integer_field("pid", 32, true),
                           ctf::text_field("procname", abi::kNameLength)};
  stream.event_context = declared_contexts(options.contexts);
  stream.per_cpu = false;  // which CPU it was, a ring does not tell
  const Result<ctf::StreamClassId> id = writer->add_stream_class(stream);
  if (!id) return id.error();
  return ProgramTrace(std::move(*writer), *id, options);
}

ProgramTrace::ProgramTrace(ctf::Writer writer, ctf::StreamClassId stream, const Options& options)
    : writer_(std::move(writer)),
      stream_(stream),
      contexts_(options.contexts),
      context_size_(abi::context_size(contexts_) - sizeof contexts_) {}

std::byte* ProgramTrace::put_contexts(std::byte* at, Bytes record_contexts) const {
  const RecordContexts contexts = RecordContexts::read(record_contexts).value_or(RecordContexts());
  const auto put = [&](uint32_t context, const auto& value) {
    if ((contexts_ & context) == 0) return;
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  put(abi::kTidContext, contexts.tid);
  put(abi::kNameContext, contexts.name);
  put(abi::kCpuContext, contexts.cpu);
  for (size_t counter = 0; counter < abi::kCounters; ++counter)
    put(abi::counter_context(counter), contexts.counts[counter]);
  return at;
}

const EventForm* ProgramTrace::form_of(const Site& site) {
  const ctf::NewEventType type = declared(site);
  std::string text = ctf::event_type_text(0, 0, type);
  if (const auto known = forms_.find(text); known != forms_.end()) return &known->second;
  if (forms_.size() >= kMostTypes) return nullptr;
  const Result<ctf::EventId> id = writer_.add_event_type(stream_, type);
  if (!id) return nullptr;
  EventForm form{*id, site.kind == abi::SiteKind::Span, is_fixed(site), 0};
  if (form.is_span) form.size = sizeof(uint64_t);
  for (const SiteField& field : site.fields) form.size += field.bytes;
  return &forms_.emplace(std::move(text), form).first->second;
}

Result<ctf::StreamWriter*> ProgramTrace::add_stream(const TracedProcess& process, uint32_t ring) {
  std::string name = std::to_string(process.pid) + "-ring" + std::to_string(ring);
  // A process that executed another program, or another one with the same number.
  if (const uint32_t before = streams_[name]++; before > 0)
    name += "-" + std::to_string(before + 1);
  // The packet context's fields.
  std::vector<std::byte> context(sizeof process.pid + abi::kNameLength);
  std::memcpy(context.data(), &process.pid, sizeof process.pid);
  std::memcpy(context.data() + sizeof process.pid, process.name.data(),
              std::min<size_t>(process.name.size(), abi::kNameLength - 1));
  return writer_.add_stream(stream_, {name, ring, std::move(context)});
}

Result<ProgramTrace*> ProgramTraces::of(const std::string& program, size_t types) {
  std::unique_ptr<Named>& named = traces_[program];
  if (named) return &named->trace;
  const std::string_view name = program.empty() ? "unknown" : file_name(program);
  const std::string first = "app-" + plain(name);
  std::string folder = first;
  const auto is_taken = [&] {
    return std::any_of(traces_.begin(), traces_.end(), [&](const auto& other) {
      return other.second && other.second->folder == folder;
    });
  };
  for (unsigned number = 2; is_taken(); ++number) folder = first + "-" + std::to_string(number);
  Result<ProgramTrace> trace =
      ProgramTrace::create({folder_ + "/" + folder, program, clock_, types, contexts_});
  if (!trace) {
    traces_.erase(program);
    return std::move(trace).error();
  }
  named = std::make_unique<Named>(Named{std::move(folder), std::move(*trace)});
  return &named->trace;
}

std::vector<ProgramTraces::Told> ProgramTraces::told() const {
  std::vector<Told> all;
  for (const auto& [program, named] : traces_) all.push_back({named->folder, named->trace.totals});
  return all;
}

Status ProgramTraces::finish() {
  Status first;
  for (const auto& [program, named] : traces_)
    if (Status status = named->trace.finish(); !status && first) first = std::move(status);
  return first;
}

}  // namespace strata::collect
