// SPDX-License-Identifier: Apache-2.0
#include "clock/segment_matches.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "trace/merge.h"

namespace strata::clock {
namespace {

using Traces = std::span<const std::unique_ptr<trace::Trace>>;
using trace::TcpFields;

std::vector<std::unique_ptr<trace::Stream>> streams_of(Traces traces) {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const auto& trace : traces)
    for (auto& stream : trace->open_streams()) streams.push_back(std::move(stream));
  return streams;
}

// One machine's segments, as its traces are walked along.
class Segments {
 public:
  explicit Segments(Traces traces) : merge_(streams_of(traces)) {
    for (const auto& trace : traces) {
      for (const trace::EventType* type : trace->event_types())
        if (TcpFields fields(*type); fields.way() != TcpFields::Way::None)
          fields_.emplace(type, fields);
    }
    step();
    first_ = time_;
  }

  bool ended() const { return ended_; }
  int64_t time() const { return time_; }
  // Since the first one.
  Int128 passed() const { return Int128{time_} - first_; }
  TcpFields::Way way() const { return way_; }
  const trace::TcpSegment& segment() const { return segment_; }

  void tell_problems(std::vector<Error>& problems) const {
    for (const auto& stream : merge_.streams())
      if (stream->problem()) problems.push_back(*stream->problem());
  }

  // To the next segment.
  void step() {
    while (merge_.next() == trace::Step::Event) {
      const trace::Event& event = merge_.event();
      const auto fields = fields_.find(event.type);
      if (fields == fields_.end()) continue;
      const std::optional<trace::TcpSegment> segment = fields->second.read(event);
      if (!segment) continue;
      segment_ = *segment;
      time_ = event.time.count;
      way_ = fields->second.way();
      return;
    }
    ended_ = true;
  }

 private:
  trace::Merge merge_;
  std::unordered_map<const trace::EventType*, TcpFields> fields_;
  trace::TcpSegment segment_;
  int64_t time_ = 0;
  int64_t first_ = 0;
  TcpFields::Way way_ = TcpFields::Way::None;
  bool ended_ = false;
};

bool since_epoch(Traces traces) {
  return std::ranges::all_of(traces, [](const auto& trace) { return trace->info().since_epoch; });
}

}  // namespace

void WaitingSegments::add(const trace::TcpSegment& segment, int64_t time) {
  if (!times_.emplace(segment, time).second) return;
  order_.push_back(segment);
  while (times_.size() > most_) {
    times_.erase(order_.front());
    order_.pop_front();
  }
  // Those that were taken are forgotten here too, now and then.
  if (order_.size() > 2 * most_)
    std::erase_if(order_, [&](const trace::TcpSegment& one) { return !times_.contains(one); });
}

std::optional<int64_t> WaitingSegments::take(const trace::TcpSegment& segment) {
  const auto found = times_.find(segment);
  if (found == times_.end()) return std::nullopt;
  const int64_t time = found->second;
  times_.erase(found);
  return time;
}

Matched match_segments(Traces machine, Traces reference, size_t most_waiting) {
  using Way = TcpFields::Way;
  Segments ours(machine);
  Segments others(reference);
  const bool by_time = since_epoch(machine) && since_epoch(reference);
  WaitingSegments sent_by_us(most_waiting);
  WaitingSegments sent_by_others(most_waiting);
  WaitingSegments received_by_us(most_waiting);
  WaitingSegments received_by_others(most_waiting);
  Matched matched;
  CausalFit& fit = matched.fit;
  while (!ours.ended() || !others.ended()) {
    const bool is_ours =
        others.ended() || (!ours.ended() && (by_time ? ours.time() <= others.time()
                                                     : ours.passed() <= others.passed()));
    Segments& segments = is_ours ? ours : others;
    const int64_t time = segments.time();
    if (segments.way() == Way::Sent) {
      WaitingSegments& received = is_ours ? received_by_others : received_by_us;
      if (const std::optional<int64_t> then = received.take(segments.segment()))
        is_ours ? fit.caused(time, *then) : fit.caused_by(*then, time);
      else
        (is_ours ? sent_by_us : sent_by_others).add(segments.segment(), time);
    } else {
      WaitingSegments& sent = is_ours ? sent_by_others : sent_by_us;
      if (const std::optional<int64_t> then = sent.take(segments.segment()))
        is_ours ? fit.caused_by(time, *then) : fit.caused(*then, time);
      else
        (is_ours ? received_by_us : received_by_others).add(segments.segment(), time);
    }
    segments.step();
  }
  ours.tell_problems(matched.problems);
  others.tell_problems(matched.problems);
  return matched;
}

bool tells_segments(Traces traces) {
  return std::ranges::any_of(traces, [](const auto& trace) {
    return std::ranges::any_of(trace->event_types(), [](const trace::EventType* type) {
      return TcpFields(*type).way() != TcpFields::Way::None;
    });
  });
}

}  // namespace strata::clock
