// SPDX-License-Identifier: Apache-2.0
#include "state/stub_trace.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace strata::state {
namespace {

constexpr uint32_t kTextSize = 32;
constexpr uint32_t kNumberSize = 8;

// The value of an attribute in a line: name="value".
std::string attribute(const std::string& line, const std::string& name) {
  const std::string opening = ' ' + name + "=\"";
  const size_t begin = line.find(opening);
  if (begin == std::string::npos) return "";
  const size_t value = begin + opening.size();
  return line.substr(value, line.find('"', value) - value);
}

class StubStream : public trace::Stream {
 public:
  StubStream(const std::vector<StubTrace::Record>& records, uint32_t cpu) : records_(records) {
    event_.cpu = CpuId{cpu};
    event_.stream = this;
    event_.running = kNoTid;
  }

  trace::Step next() override {
    if (position_ == records_.size()) return trace::Step::End;
    const StubTrace::Record& record = records_[position_++];
    if (next_tid_) event_.running = *next_tid_;
    event_.type = record.type;
    event_.record = record.bytes;
    event_.time = Nanoseconds{record.time};
    if (const auto tid = event_.integer(record.type->meaning.part(trace::Role::NextTid)))
      next_tid_ = Tid{static_cast<int32_t>(*tid)};
    return trace::Step::Event;
  }

 private:
  const std::vector<StubTrace::Record>& records_;
  size_t position_ = 0;
  std::optional<Tid> next_tid_;
};

}  // namespace

Result<std::unique_ptr<StubTrace>> StubTrace::open(const std::string& path, std::string machine) {
  std::ifstream file(path);
  if (!file) return Error{path, std::nullopt, "cannot be read"};
  auto trace = std::make_unique<StubTrace>();
  trace->info_.path = path;
  trace->info_.machine = std::move(machine);
  std::string name;
  int64_t time = 0;
  std::vector<Value> values;
  for (std::string line; std::getline(file, line);) {
    if (line.find("<event ") != std::string::npos) {
      name = attribute(line, "name");
      time = std::stoll(attribute(line, "timestamp"));
      values.clear();
    } else if (line.find("<field ") != std::string::npos) {
      const std::string type = attribute(line, "type");
      if (type != "longArray")
        values.push_back({attribute(line, "name"), attribute(line, "value"), type == "string"});
    } else if (line.find("</event>") != std::string::npos) {
      trace->add(name, time, values);
    }
  }
  return trace;
}

const trace::EventType& StubTrace::type_of(const std::string& name,
                                           const std::vector<Value>& values) {
  std::unique_ptr<trace::EventType>& type = types_[name];
  if (type) return *type;
  type = std::make_unique<trace::EventType>();
  type->name = name;
  uint32_t offset = 0;
  for (const Value& value : values) {
    const uint32_t size = value.is_text ? kTextSize : kNumberSize;
    type->fields.push_back(
        {.name = value.name,
         .type = "",
         .offset = offset,
         .size = size,
         .element_size = value.is_text ? 1 : size,
         .kind = value.is_text ? trace::ValueKind::Text : trace::ValueKind::Integer,
         .is_signed = !value.is_text});
    offset += size;
  }
  type->meaning = trace::bind(trace::Tracer::Lttng, *type);
  return *type;
}

void StubTrace::add(const std::string& name, int64_t time, const std::vector<Value>& values) {
  Record record{.type = &type_of(name, values), .time = time};
  uint32_t cpu = 0;
  for (const Value& value : values) {
    const trace::Field* field = record.type->find(value.name);
    if (field == nullptr) continue;
    record.bytes.resize(std::max<size_t>(record.bytes.size(), field->offset + field->size));
    if (value.is_text) {
      std::memcpy(record.bytes.data() + field->offset, value.text.data(),
                  std::min<size_t>(value.text.size(), kTextSize - 1));
      continue;
    }
    const int64_t number = std::stoll(value.text);
    std::memcpy(record.bytes.data() + field->offset, &number, sizeof number);
    if (value.name == "cpu") cpu = static_cast<uint32_t>(number);
  }
  cpus_[cpu].push_back(std::move(record));
}

std::vector<const trace::EventType*> StubTrace::event_types() const {
  std::vector<const trace::EventType*> types;
  for (const auto& [name, type] : types_) types.push_back(type.get());
  return types;
}

std::vector<std::unique_ptr<trace::Stream>> StubTrace::open_streams() const {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const auto& [cpu, records] : cpus_)
    streams.push_back(std::make_unique<StubStream>(records, cpu));
  return streams;
}

std::optional<trace::Trace::Span> StubTrace::time_span() const {
  std::optional<Span> span;
  for (const auto& [cpu, records] : cpus_)
    widen(span, {Nanoseconds{records.front().time}, Nanoseconds{records.back().time}});
  return span;
}

}  // namespace strata::state
