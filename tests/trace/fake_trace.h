// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace strata::trace {

// A record under construction, little or big endian, as the kernel lays it out.
class RecordMaker {
 public:
  explicit RecordMaker(const EventType& type, int32_t pid = 0) : type_(type) {
    uint32_t size = 0;
    for (const Field& field : type.fields) size = std::max(size, field.offset + field.size);
    bytes_.resize(size);
    set("common_type", type.id);
    set("common_pid", pid);
  }
  RecordMaker& set(std::string_view name, int64_t value) {
    const Field* field = type_.find(name);
    put(field->offset, value, field->size);
    return *this;
  }
  RecordMaker& set(std::string_view name, std::string_view text) {
    const Field* field = type_.find(name);
    if (field->location == Location::InPlace) {
      for (size_t i = 0; i < std::min<size_t>(text.size(), field->size); ++i)
        bytes_[field->offset + i] = std::byte(text[i]);
      return *this;
    }
    size_t start = bytes_.size();
    size_t base = field->location == Location::RelLoc ? field->offset + field->size : 0;
    put(field->offset, static_cast<int64_t>((text.size() << 16) | (start - base)), 4);
    for (char c : text) bytes_.push_back(std::byte(c));
    return *this;
  }
  std::vector<std::byte> bytes() const { return bytes_; }

 private:
  void put(uint32_t offset, int64_t value, uint32_t size) {
    for (uint32_t i = 0; i < size; ++i) {
      uint32_t at = type_.order == ByteOrder::Little ? i : size - 1 - i;
      bytes_[offset + at] = std::byte(static_cast<uint64_t>(value) >> (8 * i));
    }
  }
  const EventType& type_;
  std::vector<std::byte> bytes_;
};

// The kernel's own declarations (Linux 6.1, x86-64), as far as these tests need them.
inline std::unique_ptr<EventType> make_type(uint32_t id, std::string system, std::string name,
                                            std::vector<Field> own,
                                            ByteOrder order = ByteOrder::Little) {
  auto type = std::make_unique<EventType>();
  type->id = id;
  type->system = std::move(system);
  type->name = std::move(name);
  type->order = order;
  type->fields = {
      {"common_type", "unsigned short", 0, 2, 2, Location::InPlace, ValueKind::Integer, false},
      {"common_flags", "unsigned char", 2, 1, 1, Location::InPlace, ValueKind::Integer, false},
      {"common_preempt_count", "unsigned char", 3, 1, 1, Location::InPlace, ValueKind::Integer,
       false},
      {"common_pid", "int", 4, 4, 4, Location::InPlace, ValueKind::Integer, true}};
  type->common_fields = 4;
  for (Field& field : own) type->fields.push_back(std::move(field));
  type->tid = type->ref("common_pid");
  type->meaning = bind(Tracer::Ftrace, *type);
  return type;
}

inline std::unique_ptr<EventType> sched_switch_type(ByteOrder order = ByteOrder::Little) {
  return make_type(314, "sched", "sched_switch",
                   {{"prev_comm", "char[16]", 8, 16, 1, Location::InPlace, ValueKind::Text, true},
                    {"prev_pid", "pid_t", 24, 4, 4, Location::InPlace, ValueKind::Integer, true},
                    {"prev_prio", "int", 28, 4, 4, Location::InPlace, ValueKind::Integer, true},
                    {"prev_state", "long", 32, 8, 8, Location::InPlace, ValueKind::Integer, true},
                    {"next_comm", "char[16]", 40, 16, 1, Location::InPlace, ValueKind::Text, true},
                    {"next_pid", "pid_t", 56, 4, 4, Location::InPlace, ValueKind::Integer, true},
                    {"next_prio", "int", 60, 4, 4, Location::InPlace, ValueKind::Integer, true}},
                   order);
}

inline std::unique_ptr<EventType> sys_enter_openat_type() {
  return make_type(
      700, "syscalls", "sys_enter_openat",
      {{"__syscall_nr", "int", 8, 4, 4, Location::InPlace, ValueKind::Integer, true},
       {"dfd", "int", 16, 8, 8, Location::InPlace, ValueKind::Integer, false},
       {"filename", "const char *", 24, 8, 8, Location::InPlace, ValueKind::Pointer, false},
       {"flags", "int", 32, 8, 8, Location::InPlace, ValueKind::Integer, false},
       {"mode", "umode_t", 40, 8, 8, Location::InPlace, ValueKind::Integer, false}});
}

// A located text, an array, a mask: what no single kernel event has together.
inline std::unique_ptr<EventType> odd_type() {
  return make_type(
      900, "odd", "odd_fields",
      {{"path", "__data_loc char[]", 8, 4, 1, Location::DataLoc, ValueKind::Text, false},
       {"values", "int[3]", 12, 12, 4, Location::InPlace, ValueKind::Array, true},
       {"big", "u64", 24, 8, 8, Location::InPlace, ValueKind::Integer, false},
       {"cpus", "__data_loc cpumask_t", 32, 4, 8, Location::DataLoc, ValueKind::Array, false},
       {"cpu", "int", 36, 4, 4, Location::InPlace, ValueKind::Integer, true}});
}

struct FakeEvent {
  const EventType* type;
  std::vector<std::byte> record;
  int64_t time;
  uint64_t lost = 0;
  bool lost_unknown = false;
};

inline Event view(const FakeEvent& fake, uint32_t cpu = 0) {
  Event event;
  event.type = fake.type;
  event.record = fake.record;
  event.ticks = Ticks(static_cast<uint64_t>(fake.time));
  event.time = Nanoseconds{fake.time};
  event.cpu = CpuId(cpu);
  event.lost = fake.lost;
  event.lost_unknown = fake.lost_unknown;
  return event;
}

class FakeStream : public Stream {
 public:
  FakeStream(const std::vector<FakeEvent>& events, uint32_t cpu, std::string buffer,
             std::optional<Error> error)
      : events_(events), error_(std::move(error)) {
    event_.cpu = CpuId(cpu);
    buffer_ = std::move(buffer);
  }
  Step next() override {
    if (at_ == events_.size()) {
      if (error_) add_problem(*std::exchange(error_, std::nullopt));
      return Step::End;
    }
    event_ = view(events_[at_++], raw(event_.cpu));
    return Step::Event;
  }

 private:
  const std::vector<FakeEvent>& events_;
  size_t at_ = 0;
  std::optional<Error> error_;
};

class FakeTrace : public Trace {
 public:
  struct Source {
    uint32_t cpu = 0;
    std::string buffer;
    std::vector<FakeEvent> events;
    std::optional<Error> error;
  };
  std::vector<std::unique_ptr<EventType>> types;
  std::vector<Source> sources;
  TaskNames names;
  std::string fields_text = "text of the fields";

  TraceInfo& edit_info() { return info_; }
  std::vector<const EventType*> event_types() const override {
    std::vector<const EventType*> all;
    for (const auto& type : types) all.push_back(type.get());
    return all;
  }
  std::vector<std::unique_ptr<Stream>> open_streams() const override {
    std::vector<std::unique_ptr<Stream>> streams;
    for (const Source& s : sources)
      streams.push_back(std::make_unique<FakeStream>(s.events, s.cpu, s.buffer, s.error));
    return streams;
  }
  void print_fields(const Event&, TextBuffer& out) const override { out.put(fields_text); }
  const TaskNames& task_names() const override { return names; }
  std::optional<Span> time_span() const override { return std::nullopt; }
};

}  // namespace strata::trace
