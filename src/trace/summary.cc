// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.h"

#include <algorithm>
#include <limits>

#include "trace/type_table.h"

namespace strata::trace {
namespace {

constexpr uint32_t kHighestDenseId = 1 << 20;
constexpr uint64_t kEventsBetweenProgress = 1 << 16;

// Counts by type: at the type's own number, where numbers are small and each type has one of its
// own, as in all files but damaged ones.
class TypeCounter {
 public:
  explicit TypeCounter(const std::vector<const EventType*>& types) {
    for (const EventType* type : types) {
      if (type->id >= kHighestDenseId) continue;
      if (type->id >= dense_.size()) dense_.resize(type->id + 1);
      if (!dense_[type->id].type) dense_[type->id].type = type;
    }
  }

  void count(const EventType* type) {
    if (type->id < dense_.size() && dense_[type->id].type == type) [[likely]] {
      ++dense_[type->id].count;
    } else if (uint64_t* known = sparse_.find(type)) {
      ++*known;
    } else {
      sparse_.add(type, 1);
    }
  }

  std::vector<TraceSummary::TypeCount> counts() const {
    std::vector<TraceSummary::TypeCount> all;
    for (const auto& entry : dense_)
      if (entry.count != 0) all.push_back(entry);
    sparse_.for_each([&](const EventType& type, uint64_t count) { all.push_back({&type, count}); });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      if (a.count != b.count) return a.count > b.count;
      if (a.type->name != b.type->name) return a.type->name < b.type->name;
      return a.type->system < b.type->system;
    });
    return all;
  }

 private:
  std::vector<TraceSummary::TypeCount> dense_;  // by id
  TypeTable<uint64_t> sparse_;
};

}  // namespace

TraceSummary summarize(const Trace& trace, const ProgressCallback& progress) {
  TraceSummary summary;
  summary.problems = trace.problems();
  summary.problem_count = summary.problems.size();
  TypeCounter types(trace.event_types());

  std::vector<std::unique_ptr<Stream>> streams = trace.open_streams();
  uint64_t bytes_total = 0;
  uint64_t bytes_done = 0;
  for (const auto& stream : streams) bytes_total += stream->bytes_total();

  for (auto& stream : streams) {
    StreamSummary part;
    part.buffer = stream->buffer();
    part.cpu = stream->cpu();
    Trace::Span span{{std::numeric_limits<int64_t>::max()}, {std::numeric_limits<int64_t>::min()}};
    // Quiet would come again and again from a live stream: what it has so far is what is counted.
    while (stream->next() == Step::Event) {
      const Event& event = stream->event();
      ++part.events;
      part.lost += event.lost;
      part.lost_unknown += event.lost_unknown ? 1 : 0;
      span.begin = std::min(span.begin, event.time);
      span.end = std::max(span.end, event.time);
      types.count(event.type);
      if (progress && part.events % kEventsBetweenProgress == 0)
        progress(bytes_done + stream->bytes_done(), bytes_total);
    }
    part.lost += stream->unplaced_loss().count;
    part.lost_unknown += stream->unplaced_loss().unknown ? 1 : 0;
    bytes_done += stream->bytes_total();
    if (part.events > 0) {
      part.span = span;
      Trace::widen(summary.span, span);
    }
    if (stream->problem()) summary.problems.push_back(*stream->problem());
    summary.problem_count += stream->problem_count();
    summary.events += part.events;
    summary.lost += part.lost;
    summary.lost_unknown += part.lost_unknown;
    summary.streams.push_back(std::move(part));
    stream.reset();  // what it holds (pages decompressed) is no longer needed
  }
  summary.types = types.counts();
  return summary;
}

}  // namespace strata::trace
