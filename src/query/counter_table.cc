// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "query/trace_tables.h"
#include "trace/samples.h"

namespace strata::query {
namespace {

using trace::Event;
using trace::EventType;
using trace::Step;
using trace::Stream;
using trace::Trace;
using enum ColumnType;

enum CounterColumn : size_t {
  kBegin,
  kEnd,
  kDuration,
  kMachine,
  kCpu,
  kTid,
  kName,
  kValue,
  kCounted
};

constexpr uint32_t kEventsBetweenLooks = 4096;
// A reading belongs to the one before it on its CPU: that is looked for so far back, then further.
constexpr int64_t kLookBack = 100'000'000;
constexpr int64_t kFurther = 16;

using ReadingTypes = std::map<const EventType*, trace::CounterReading>;

ReadingTypes readings_of(const Trace& trace) {
  ReadingTypes types;
  for (const EventType* type : trace.event_types())
    if (auto reading = counter_reading(trace.info(), *type))
      types.emplace(type, *std::move(reading));
  return types;
}

// The rows: of all readings of a CPU, one after the other, its counters.
class CounterRows : public Rows {
 public:
  CounterRows(const Traces& traces, Problems& problems, const std::atomic<bool>& interrupted)
      : problems_(problems), interrupted_(interrupted) {
    for (const auto& trace : traces)
      if (ReadingTypes types = readings_of(*trace); !types.empty())
        origins_.push_back({trace.get(), std::move(types)});
  }
  ~CounterRows() override { end_stream(); }

  void begin(const Conditions& conditions) override {
    end_stream();
    conditions_ = conditions;
    next_origin_ = 0;
    streams_.clear();
    is_at_end_ = conditions.is_empty();
    from_ = std::max(conditions_.of(kBegin).least(), conditions_.of(kEnd).least());
    last_ = std::min(conditions_.of(kBegin).most(), conditions_.of(kEnd).most());
    if (!is_at_end_) next();
  }

  void next() override {
    for (uint32_t passed = 1; passed % kEventsBetweenLooks != 0 || !interrupted_; ++passed) {
      if (reading_ != nullptr && ++counter_ < reading_->counters.size()) {
        if (is_wanted()) return;
        continue;
      }
      take_reading();
      if (stream_ == nullptr && !open_stream()) break;
      if (stream_ != nullptr && stream_->next() != Step::Event) end_stream();
      if (stream_ != nullptr) begin_reading();
    }
    end_stream();
    is_at_end_ = true;
  }

  bool at_end() const override { return is_at_end_; }

  void column(size_t column, Cell& cell) override {
    const Event& event = stream_->event();
    switch (column) {
      case kBegin:
        return cell.integer(before_.time);
      case kEnd:
        return cell.integer(event.time.count);
      case kDuration:
        return cell.integer(event.time.count - before_.time);
      case kMachine:
        return cell.lasting_text(origin_->trace->info().machine);
      case kCpu:
        return cell.integer(int64_t{raw(event.cpu)});
      case kTid:
        if (is_certain()) cell.integer(int64_t{raw(event.tid())});
        return;
      case kName:
        return cell.text(reading_->counters[counter_].name);
      case kValue:
        return cell.integer(static_cast<int64_t>(now_[counter_]));
      case kCounted:
        // One that has become smaller began anew.
        if (now_[counter_] >= before_.counts[counter_])
          cell.integer(static_cast<int64_t>(now_[counter_] - before_.counts[counter_]));
        return;
      default:
        return;
    }
  }

 private:
  struct Origin {
    const Trace* trace;
    ReadingTypes types;
  };
  // A reading, and who ran from then on.
  struct Before {
    int64_t time = 0;
    Tid runs = kNoTid;
    std::vector<uint64_t> counts = {};
    bool is_there = false;
  };

  // Whether the thread of this reading ran alone since the one before.
  bool is_certain() const {
    const Event& event = stream_->event();
    return event.lost == 0 && !event.lost_unknown && event.tid() != kNoTid &&
           event.tid() == before_.runs;
  }

  bool is_wanted() const {
    return before_.is_there && counter_ < before_.counts.size() &&
           conditions_.of(kBegin).accepts(before_.time) &&
           conditions_.of(kEnd).accepts(stream_->event().time.count) &&
           conditions_.of(kCpu).accepts(int64_t{raw(stream_->event().cpu)}) &&
           conditions_.of(kTid).accepts(int64_t{raw(stream_->event().tid())}) &&
           conditions_.of(kName).accepts(reading_->counters[counter_].name);
  }

  void begin_reading() {
    const Event& event = stream_->event();
    if (before_.is_there && before_.time > last_) return end_stream();
    const auto found = origin_->types.find(event.type);
    if (found == origin_->types.end()) return;
    reading_ = &found->second;
    counter_ = SIZE_MAX;  // the first comes next
    now_.clear();
    for (const auto& counter : reading_->counters)
      now_.push_back(static_cast<uint64_t>(event.integer(counter.count).value_or(0)));
  }

  // All rows of the reading have come: it is the one before the next.
  void take_reading() {
    if (reading_ == nullptr) return;
    const Event& event = stream_->event();
    const auto next = event.integer(reading_->next_tid);
    before_ = {event.time.count, next ? Tid(static_cast<int32_t>(*next)) : event.tid(), now_, true};
    reading_ = nullptr;
  }

  // The next that may have rows. False: there is none.
  bool open_stream() {
    while (streams_.empty()) {
      if (next_origin_ == origins_.size()) return false;
      origin_ = &origins_[next_origin_++];
      if (!conditions_.of(kMachine).accepts(origin_->trace->info().machine)) continue;
      streams_ = origin_->trace->open_streams();
      if (!origin_->trace->events_tell_cpus())
        std::erase_if(streams_, [&](const auto& stream) {
          return !conditions_.of(kCpu).accepts(int64_t{raw(stream->cpu())});
        });
      look_back();
    }
    stream_ = std::move(streams_.back());
    streams_.pop_back();
    before_ = {};
    return true;
  }

  // Every stream to a place before which it has a reading, or to its beginning.
  void look_back() {
    for (std::unique_ptr<Stream>& stream : streams_) {
      const auto is_same = [&](const auto& other) {
        return other->cpu() == stream->cpu() && other->buffer() == stream->buffer();
      };
      for (int64_t back = kLookBack;; back *= kFurther) {
        const int64_t to = saturated(Int128{from_} - back);
        std::vector<std::unique_ptr<Stream>> probes = origin_->trace->open_streams();
        const auto probe = std::ranges::find_if(probes, is_same);
        const auto span = origin_->trace->time_span();
        const bool is_all = !span || to <= span->begin.count || back > INT64_MAX / kFurther;
        if (is_all || probe == probes.end()) break;  // from the beginning
        (*probe)->skip_to(Nanoseconds{to});
        if ((*probe)->next() != Step::Event || (*probe)->event().time.count >= from_) continue;
        stream->skip_to(Nanoseconds{to});
        break;
      }
    }
  }

  void end_stream() {
    if (stream_ != nullptr && stream_->problem()) problems_.add(*stream_->problem());
    stream_.reset();
    reading_ = nullptr;
  }

  Problems& problems_;
  const std::atomic<bool>& interrupted_;
  std::vector<Origin> origins_;
  Conditions conditions_;
  int64_t from_ = 0;
  int64_t last_ = 0;
  size_t next_origin_ = 0;
  const Origin* origin_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;  // of the origin, that are still to come
  std::unique_ptr<Stream> stream_;
  const trace::CounterReading* reading_ = nullptr;
  size_t counter_ = 0;
  std::vector<uint64_t> now_;
  Before before_;
  bool is_at_end_ = true;
};

class CounterTable : public Table {
 public:
  CounterTable(const Traces& traces, Problems& problems) : traces_(traces), problems_(problems) {
    name = "counter";
    about = "readings of performance counters, each with what was counted since the one before";
    columns = {
        {"begin", Integer, "when the CPU's counters were read before, ns", Search::Range},
        {"end", Integer, "when they were read", Search::Range},
        {"duration", Integer, "end - begin"},
        {"machine", Text, "the host's name", Search::Equal},
        {"cpu", Integer, "whose counters they are", Search::Equal},
        {"tid", Integer, "who ran in between; NULL: several, or nobody knows", Search::Equal},
        {"name", Text, "cache-misses, instructions, ...", Search::Equal},
        {"value", Integer, "what was counted since the recording began"},
        {"counted", Integer, "what was counted in between"},
    };
    key = {kMachine, kCpu, kName, kBegin, kEnd};
    about_rows = 1e6;
  }

  std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const override {
    return std::make_unique<CounterRows>(traces_, problems_, interrupted);
  }

 private:
  const Traces& traces_;
  Problems& problems_;
};

}  // namespace

std::unique_ptr<Table> counter_table(const Traces& traces, Problems& problems) {
  return std::make_unique<CounterTable>(traces, problems);
}

}  // namespace strata::query
