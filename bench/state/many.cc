// SPDX-License-Identifier: Apache-2.0
//
// many EVENTS TASKS FILE: state, statistics and history of events that are made up on the way:
// tasks in turns on 4 CPUs, each calls the kernel, sleeps and is woken. A file of so many events
// would be gigabytes; what reading one costs is measured elsewhere. Prints events, intervals and
// bytes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "state/pass.h"

namespace {

using namespace strata;

constexpr uint32_t kCpus = 4;

struct Record {
  int32_t common_pid;
  int32_t first;   // prev_pid, pid, id
  int64_t second;  // prev_state, ret
  int32_t third;   // next_pid
  char comm[16];
};

trace::EventType make_type(std::string system, std::string name,
                           std::vector<std::pair<std::string, uint32_t>> fields) {
  trace::EventType type;
  type.system = std::move(system);
  type.name = std::move(name);
  const auto add = [&](const std::string& field, uint32_t offset, uint32_t size, bool text) {
    type.fields.push_back({field, "", offset, size, text ? 1 : size, trace::Location::InPlace,
                           text ? trace::ValueKind::Text : trace::ValueKind::Integer, true});
  };
  add("common_pid", offsetof(Record, common_pid), 4, false);
  for (const auto& [field, offset] : fields)
    add(field, offset,
        offset == offsetof(Record, comm) ? 16
        : offset == 8                    ? 8
                                         : 4,
        offset == offsetof(Record, comm));
  type.tid = type.ref("common_pid");
  type.meaning = trace::bind(trace::Tracer::Ftrace, type);
  return type;
}

class MadeUp : public trace::Trace {
 public:
  MadeUp(uint64_t events, uint32_t tasks) : events_(events), tasks_(tasks) { info_.cpus = kCpus; }

  std::vector<const trace::EventType*> event_types() const override {
    return {&switch_, &waking_, &enter_, &exit_};
  }
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  void print_fields(const trace::Event&, TextBuffer&) const override {}
  const trace::TaskNames& task_names() const override { return names_; }
  std::optional<Span> time_span() const override {
    return Span{Nanoseconds{0}, Nanoseconds{static_cast<int64_t>(events_ / kCpus * 500)}};
  }

 private:
  friend class MadeUpStream;
  uint64_t events_;
  uint32_t tasks_;
  trace::TaskNames names_;
  trace::EventType switch_ = make_type("sched", "sched_switch",
                                       {{"prev_pid", offsetof(Record, first)},
                                        {"prev_state", offsetof(Record, second)},
                                        {"next_pid", offsetof(Record, third)},
                                        {"next_comm", offsetof(Record, comm)}});
  trace::EventType waking_ =
      make_type("sched", "sched_waking",
                {{"pid", offsetof(Record, first)}, {"comm", offsetof(Record, comm)}});
  trace::EventType enter_ =
      make_type("raw_syscalls", "sys_enter", {{"id", offsetof(Record, first)}});
  trace::EventType exit_ = make_type("raw_syscalls", "sys_exit", {{"id", offsetof(Record, first)}});
};

// Tasks are dealt to the CPUs, so that none runs on two at once.
class MadeUpStream : public trace::Stream {
 public:
  MadeUpStream(const MadeUp& trace, uint32_t cpu)
      : trace_(trace), cpu_(cpu), left_(trace.events_ / kCpus), random_(cpu) {
    event_.cpu = CpuId{cpu};
    event_.record = std::as_bytes(std::span(&record_, 1));
    std::strcpy(record_.comm, "worker");
    running_ = task(0);
  }

  trace::Step next() override {
    if (left_-- == 0) return trace::Step::End;
    event_.time = Nanoseconds{time_ += 300 + static_cast<int64_t>(random_() % 400)};
    record_.common_pid = running_;
    switch (turn_++ % 6) {
      case 0:
      case 2:
        record_.first = static_cast<int32_t>(random_() % 8);
        event_.type = &trace_.enter_;
        break;
      case 1:
        event_.type = &trace_.exit_;
        break;
      case 3:
        record_.first = waking_ = task(random_());
        event_.type = &trace_.waking_;
        break;
      case 4:
        record_.first = running_;
        record_.second = 1;
        record_.third = running_ = waking_;
        event_.type = &trace_.switch_;
        break;
      default:
        event_.type = &trace_.exit_;
    }
    return trace::Step::Event;
  }

 private:
  int32_t task(uint64_t number) const {
    return static_cast<int32_t>(1000 + number % (trace_.tasks_ / kCpus) * kCpus + cpu_);
  }

  const MadeUp& trace_;
  uint32_t cpu_;
  uint64_t left_;
  std::mt19937_64 random_;
  uint64_t turn_ = 0;
  int32_t running_ = 0;
  int32_t waking_ = 0;
  int64_t time_ = 0;
  Record record_{};
};

std::vector<std::unique_ptr<trace::Stream>> MadeUp::open_streams() const {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (uint32_t cpu = 0; cpu < kCpus; ++cpu)
    streams.push_back(std::make_unique<MadeUpStream>(*this, cpu));
  return streams;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::vector<std::unique_ptr<trace::Trace>> traces;
  const uint64_t events = std::strtoull(argv[1], nullptr, 10);
  traces.push_back(
      std::make_unique<MadeUp>(events, static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10))));
  state::Pass pass(traces);
  if (!pass.write_index([&](size_t) { return std::string(argv[3]); }, 1)) return 1;
  pass.run();
  std::printf("%lu %lu %lu\n", events, pass.machines().front().index->intervals(),
              static_cast<unsigned long>(
                  std::filesystem::file_size(argv[3]) +
                  std::filesystem::file_size(state::IndexWriter::records_path(argv[3]))));
}
