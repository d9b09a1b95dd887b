// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_events.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "base/progress.h"
#include "recording/open.h"
#include "trace/babeltrace_line.h"
#include "trace/json_line.h"
#include "trace/learned_names.h"
#include "trace/merge.h"
#include "trace/report_line.h"

namespace strata::cli {
namespace {

using trace::Event;
using trace::Step;
using trace::Stream;
using trace::Trace;

constexpr uint64_t kEventsBetweenProgress = 1 << 16;
constexpr useconds_t kQuietPause = 10'000;
// How often folders are searched for what has come.
constexpr auto kLookInterval = std::chrono::milliseconds(500);
// How far behind the end of the wanted period events are still looked at: a clock may step back.
constexpr int64_t kBackwards = 1'000'000'000;

// What is kept for each trace while its events go by.
struct Shown {
  Shown(const Trace& of, const std::string& called, const trace::LineOptions& options,
        trace::BabeltraceLine::Before& before)
      : trace(of),
        name(called),
        pair_opener(options.fields.empty() ? of.pair_opener() : nullptr),
        names(of),
        line(of, names, options),
        json(of, names, name, options.fields),
        babeltrace(trace, before) {}

  const Trace& trace;
  const std::string name;
  const trace::EventType* pair_opener;
  trace::LearnedNames names;
  trace::ReportLine line;
  trace::JsonLine json;
  trace::BabeltraceLine babeltrace;
};

// One stream's: whose it is, and what its lines begin with.
struct Source {
  Shown* shown = nullptr;
  std::string buffer;
  std::string label;  // of text
};

// Short names of the traces: of the file, or the whole path where two files are called the same.
std::vector<std::string> trace_names(const Traces& traces) {
  std::map<std::string, int> count;
  auto base = [](const auto& trace) {
    return std::filesystem::path(trace->info().path).filename().string();
  };
  for (const auto& trace : traces.opened) ++count[base(trace)];
  std::vector<std::string> names;
  for (const auto& trace : traces.opened)
    names.push_back(count[base(trace)] > 1 ? trace->info().path : base(trace));
  return names;
}

class Dump {
 public:
  Dump(Traces& traces, trace::Selection& selection, const DumpWishes& wishes, Output& out,
       Progress& progress)
      : traces_(traces),
        selection_(selection),
        wishes_(wishes),
        grows_(wishes.follow && traces.can_grow()),
        merge_({}),
        out_(out),
        progress_(progress) {
    options_.time = wishes.time;
    options_.fields = wishes.fields;
    options_.label_once = traces.opened.size() == 1;
    if (wishes.time != TimeStyle::Raw) {
      const Trace::Span span = traces.span().value_or(Trace::Span{});
      options_.origin = span.begin;
      options_.with_date = WallClock::needs_date(span.begin, span.end, now_since_epoch());
    }
    for (const auto& trace : traces.opened) add_streams(add_trace(), trace->open_streams());
    make_labels();
  }

  void run() {
    switch (wishes_.style) {
      case LineStyle::Report:
        return run<LineStyle::Report>();
      case LineStyle::Babeltrace:
        return run<LineStyle::Babeltrace>();
      case LineStyle::Json:
        return run<LineStyle::Json>();
    }
  }

  std::vector<Error> problems() const {
    std::vector<Error> all;
    for (const auto& stream : merge_.streams())
      if (stream->problem()) all.push_back(*stream->problem());
    return all;
  }

 private:
  // The loop that every event goes through: what is not asked for is not in it.
  template <bool kSelecting, LineStyle kStyle>
  void run_loop() {
    trace::Selection& selection = selection_;
    uint64_t limit = wishes_.limit.value_or(~uint64_t{0});
    if (selection.end && selection.end->count < stop_after_.count - kBackwards)
      stop_after_.count = selection.end->count + kBackwards;
    uint64_t until_progress = kEventsBetweenProgress;
    while (limit > 0) {
      const Step step = next();
      if (step != Step::Event) [[unlikely]] {
        if (step == Step::End && !grows_) return;
        pause();
        continue;
      }
      const Event& event = merge_.event();
      Source& source = sources_[merge_.stream_index()];
      Shown& shown = *source.shown;
      if (--until_progress == 0) [[unlikely]] {
        until_progress = kEventsBetweenProgress;
        tell_progress();
        asks_all_ = wishes_.follow;
      }
      if constexpr (kSelecting) {
        if (event.time > stop_after_) return;
        if (!selection.matches(event, shown.names.names())) {
          shown.names.learn(event);
          continue;
        }
      }
      --limit;
      shown.names.learn_running(event);
      if constexpr (kStyle == LineStyle::Json) {
        shown.json.print(event, source.buffer, out_.text());
        shown.names.learn(event);
      } else if constexpr (kStyle == LineStyle::Babeltrace) {
        shown.babeltrace.print(event, out_.text());
        shown.names.learn(event);
      } else if (event.type == shown.pair_opener) [[unlikely]] {
        print_pair(event, source);  // and `event` is over
      } else {
        shown.line.print(event, source.label, out_.text());
        shown.names.learn(event);
      }
      if (!out_.drain()) [[unlikely]]
        return;
    }
  }

  template <LineStyle kStyle>
  void run() {
    selection_.is_everything() ? run_loop<false, kStyle>() : run_loop<true, kStyle>();
  }

  Shown& add_trace() {
    const size_t index = shown_.size();
    // Later ones must differ from those that have their names already.
    std::string name = trace_names(traces_)[index];
    const Trace& trace = *traces_.opened[index];
    for (size_t i = 0; i < index; ++i)
      if (shown_[i]->name == name) name = trace.info().path;
    return *shown_.emplace_back(std::make_unique<Shown>(trace, name, options_, before_));
  }

  void add_streams(Shown& shown, std::vector<std::unique_ptr<Stream>> streams) {
    const bool are_cpus = selection_.cpus.empty() || !shown.trace.events_tell_cpus();
    for (std::unique_ptr<Stream>& stream : streams) {
      if (are_cpus && !selection_.has_cpu(stream->cpu())) continue;
      if (selection_.begin) stream->skip_to(*selection_.begin);
      if (wishes_.follow) stream->follow();
      sources_.push_back({&shown, stream->buffer(), {}});
      merge_.add(std::move(stream));
    }
  }

  // The column that tells traces and buffers apart, where there are several: aligned to the right,
  // as trace-cmd has it.
  void make_labels() {
    size_t width = 0;
    for (Source& source : sources_) {
      source.label = shown_.size() > 1 ? source.shown->name : "";
      if (shown_.size() > 1 && !source.buffer.empty()) source.label += ":";
      source.label += source.buffer;
      width = std::max(width, source.label.size());
    }
    if (width == 0) return;
    for (Source& source : sources_) {
      const bool named = !source.label.empty();
      source.label.insert(0, width - source.label.size(), ' ');
      source.label += named ? ": " : "  ";
    }
  }

  // Nothing to show just now.
  void pause() {
    out_.flush();
    usleep(kQuietPause);
    asks_all_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (!grows_ || now - looked_ < kLookInterval) return;
    looked_ = now;
    for (size_t i = 0; i < shown_.size(); ++i)
      add_streams(*shown_[i], traces_.opened[i]->look_again());
    for (const std::string& path : traces_.paths) {
      for (std::unique_ptr<Trace>& trace : recording::open_more(path, traces_.opened)) {
        traces_.opened.push_back(std::move(trace));
        add_streams(add_trace(), traces_.opened.back()->open_streams());
      }
    }
    make_labels();
  }

  Step next() {
    if (ahead_) [[unlikely]]
      return *std::exchange(ahead_, std::nullopt);
    if (asks_all_) [[unlikely]] {
      asks_all_ = false;
      return merge_.next_asking_all();
    }
    return merge_.next();
  }

  // With the event that comes next where the two are shown on one line. A view does not outlive its
  // stream's next step, so the first is copied.
  void print_pair(const Event& event, const Source& source) {
    Shown& shown = *source.shown;
    held_.assign(event.record.begin(), event.record.end());
    Event first = event;
    first.record = held_;
    ahead_ = merge_.next();
    if (*ahead_ == Step::Event && sources_[merge_.stream_index()].shown == &shown) {
      const Event& second = merge_.event();
      if (second.lost == 0 && !second.lost_unknown && shown.trace.is_pair(first, second)) {
        shown.line.print_pair(first, second, source.label, out_.text());
        ahead_.reset();
        return;
      }
    }
    shown.line.print(first, source.label, out_.text());
  }

  void tell_progress() {
    if (!progress_.enabled()) return;
    uint64_t done = 0;
    uint64_t total = 0;
    for (const auto& stream : merge_.streams()) {
      done += stream->bytes_done();
      total += stream->bytes_total();
    }
    progress_.update(done, total);
  }

  Traces& traces_;
  trace::Selection& selection_;
  const DumpWishes& wishes_;
  const bool grows_;  // more streams and traces may come
  trace::LineOptions options_;
  trace::BabeltraceLine::Before before_;
  std::vector<std::unique_ptr<Shown>> shown_;  // of traces_.opened, one each
  trace::Merge merge_;
  std::vector<Source> sources_;  // of the merge's streams, one each
  bool asks_all_ = false;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<Step> ahead_;    // a step that was taken to see what comes next
  std::vector<std::byte> held_;  // the record of an event that waits for it
  Nanoseconds stop_after_{std::numeric_limits<int64_t>::max()};
  Output& out_;
  Progress& progress_;
};

}  // namespace

std::vector<Error> dump_events(Traces& traces, trace::Selection& selection,
                               const DumpWishes& wishes, bool on_terminal, Output& out) {
  Progress progress("reading", on_terminal);
  Dump dump(traces, selection, wishes, out, progress);
  dump.run();
  return dump.problems();
}

}  // namespace strata::cli
