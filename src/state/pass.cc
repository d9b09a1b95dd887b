// SPDX-License-Identifier: Apache-2.0
#include "state/pass.h"

#include <algorithm>
#include <limits>

namespace strata::state {
namespace {

constexpr uint64_t kEventsAReport = 1u << 20;

}  // namespace

Pass::Pass(const Traces& traces) : traces_(traces) {
  std::optional<trace::Trace::Span> span;
  for (const auto& trace : traces_)
    if (const auto own = trace->time_span()) trace::Trace::widen(span, *own);
  span_ = span.value_or(trace::Trace::Span{});
  machine_of_ = machines_of(traces_);
  for (std::string& name : machine_names(traces_, machine_of_))
    machines_.push_back({.name = std::move(name)});
}

Status Pass::write_index(const std::function<std::string(size_t)>& path, uint64_t source) {
  for (size_t i = 0; i < machines_.size(); ++i) {
    Result<IndexWriter> index = IndexWriter::create(path(i), source);
    if (!index) return index.error();
    machines_[i].index = std::make_unique<IndexWriter>(*std::move(index));
  }
  return {};
}

void Pass::run() {
  while (run_to_next_period()) {
  }
}

void Pass::start() {
  for (Machine& machine : machines_)
    machine.engine = std::make_unique<Engine>(span_.begin.count, machine.index.get());
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (size_t i = 0; i < traces_.size(); ++i) {
    machines_[machine_of_[i]].engine->add_trace(*traces_[i]);
    const bool grows = std::ranges::find(growing, i) != growing.end();
    for (auto& stream : traces_[i]->open_streams()) {
      if (grows) stream->follow();
      streams.push_back(std::move(stream));
      trace_of_.push_back(i);
      machine_of_stream_.push_back(machine_of_[i]);
    }
  }
  if (machines_.size() > 1)
    fusion_ =
        std::make_unique<Fusion>(machines_, find_guests(traces_, machine_of_), span_.begin.count);
  in_period_ = !begin;
  if (in_period_) start_periods(span_.begin.count);
  merge_.emplace(std::move(streams));
}

bool Pass::run_to_next_period() {
  if (has_ended_) return false;
  if (!merge_) start();
  gave_table_ = false;
  trace::Merge& merge = *merge_;
  for (trace::Step step = merge.next(); step != trace::Step::End;) {
    if (step == trace::Step::Event) [[likely]] {
      if (!take(merge.event(), merge.stream_index())) break;
      if (gave_table_) [[unlikely]]
        return true;
      if (++events_ % kEventsAReport != 0) [[likely]] {
        step = merge.next();
        continue;
      }
      report_progress();
    } else if (merge.quiet_until() != trace::kNoTime) {
      known_until_ = std::max(known_until_, merge.quiet_until().count);
    }
    if (!growing.empty() && !at_pause()) break;
    step = growing.empty() ? merge.next() : merge.next_asking_all();
  }
  finish();
  return false;
}

Result<int64_t> Pass::checkpoint() {
  int64_t now = known_until_;
  for (const Machine& machine : machines_) now = std::max(now, machine.engine->now());
  for (Machine& machine : machines_) {
    machine.engine->tell_index(now);
    if (machine.index == nullptr) continue;
    if (Status written = machine.index->checkpoint(now); !written) return written.error();
  }
  if (fusion_) fusion_->settle(now);
  return now;
}

bool Pass::take(const trace::Event& event, size_t stream) {
  if (!in_period_ && event.time >= *begin) [[unlikely]]
    start_period();
  if (end && event.time > *end) [[unlikely]]
    return false;
  const size_t machine = machine_of_stream_[stream];
  if (periods_ && !periods_->arrive(event, machine)) return false;
  Engine& engine = *machines_[machine].engine;
  const Engine::TypeUse* use = engine.arrive(event);
  if (at_event && in_period_ && !at_event(event, trace_of_[stream], engine)) return false;
  engine.apply(event, use);
  if (fusion_) fusion_->follow(machine, raw(event.cpu), event.time.count);
  return true;
}

void Pass::start_period() {
  in_period_ = true;
  for (Machine& machine : machines_) machine.engine->reset_statistics(begin->count);
  if (fusion_) fusion_->reset(begin->count);
  start_periods(begin->count);
}

void Pass::start_periods(int64_t from) {
  if (!periods || !at_period) return;
  const bool is_known = growing.empty() && span_.begin < span_.end;
  const int64_t last = is_known ? span_.end.count : std::numeric_limits<int64_t>::max();
  periods_ = std::make_unique<Periods>(machines_, from, end ? std::min(end->count, last) : last,
                                       periods->length.count, periods->clock,
                                       [this](period::Table&& table) {
                                         gave_table_ = true;
                                         return at_period(std::move(table));
                                       });
}

void Pass::report_progress() const {
  if (!progress) return;
  uint64_t done = 0;
  uint64_t total = 0;
  for (const auto& stream : merge_->streams()) {
    done += stream->bytes_done();
    total += stream->bytes_total();
  }
  progress(done, total);
}

void Pass::finish() {
  has_ended_ = true;
  if (!in_period_) start_period();
  for (size_t i = 0; i < merge_->streams().size(); ++i) {
    const trace::Stream& stream = *merge_->streams()[i];
    const trace::Stream::Loss& loss = stream.unplaced_loss();
    if (loss.count != 0 || loss.unknown) {
      const size_t trace = trace_of_[i];
      const size_t machine = machine_of_[trace];
      if (periods_) periods_->lose_rest(machine, stream.cpu(), loss.count, loss.unknown);
      if (Engine::tells_of_cpus(*traces_[trace]))
        machines_[machine].engine->lose_rest(stream.cpu());
    }
    if (stream.problem()) problems_.push_back(*stream.problem());
  }
  merge_.reset();
  const int64_t last = end ? std::min(end->count, span_.end.count) : span_.end.count;
  for (Machine& machine : machines_) {
    machine.engine->tell_index(last);
    if (machine.index == nullptr) continue;
    if (Status written = machine.index->finish(machine.engine->now()); !written)
      problems_.push_back(written.error());
  }
  if (fusion_) fusion_->settle(last);
  if (!periods_) return;
  int64_t now = last;
  for (const Machine& machine : machines_) now = std::max(now, machine.engine->now());
  periods_->finish(now);
  periods_.reset();
}

}  // namespace strata::state
