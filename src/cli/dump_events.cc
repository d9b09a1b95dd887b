// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_events.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "base/progress.h"
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
// How far behind the end of the wanted period events are still looked at: a clock may step back.
constexpr int64_t kBackwards = 1'000'000'000;

// What is kept for each trace while its events go by.
struct Shown {
  Shown(const Trace& of, const std::string& name, const trace::LineOptions& options,
        trace::BabeltraceLine::Before& before)
      : trace(of),
        pair_opener(options.fields.empty() ? of.pair_opener() : nullptr),
        names(of),
        line(of, names, options),
        json(of, names, name, options.fields),
        babeltrace(trace, before) {}

  const Trace& trace;
  const trace::EventType* pair_opener;
  trace::LearnedNames names;
  trace::ReportLine line;
  trace::JsonLine json;
  trace::BabeltraceLine babeltrace;
};

// One stream's: whose it is, and what its lines begin with.
struct Source {
  Shown* shown = nullptr;
  std::string label;   // of text
  std::string buffer;  // of JSON
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

// The column that tells traces and buffers apart, where there are several: aligned to the right, as
// trace-cmd has it.
void make_labels(std::vector<Source>& sources) {
  size_t width = 0;
  for (const Source& source : sources) width = std::max(width, source.label.size());
  if (width == 0) return;
  for (Source& source : sources) {
    const bool named = !source.label.empty();
    source.label.insert(0, width - source.label.size(), ' ');
    source.label += named ? ": " : "  ";
  }
}

class Dump {
 public:
  Dump(trace::Merge merge, std::vector<Source> sources, Output& out, Progress& progress)
      : merge_(std::move(merge)), sources_(std::move(sources)), out_(out), progress_(progress) {}

  // The loop that every event goes through: what is not asked for is not in it.
  template <bool kSelecting, LineStyle kStyle>
  void run(trace::Selection& selection, uint64_t limit) {
    if (selection.end && selection.end->count < stop_after_.count - kBackwards)
      stop_after_.count = selection.end->count + kBackwards;
    uint64_t until_progress = kEventsBetweenProgress;
    while (limit > 0) {
      const Step step = next();
      if (step != Step::Event) [[unlikely]] {
        if (step == Step::End) return;
        out_.flush();
        usleep(kQuietPause);
        continue;
      }
      const Event& event = merge_.event();
      Source& source = sources_[merge_.stream_index()];
      Shown& shown = *source.shown;
      if (--until_progress == 0) [[unlikely]] {
        until_progress = kEventsBetweenProgress;
        tell_progress();
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
  void run(trace::Selection& selection, uint64_t limit) {
    selection.is_everything() ? run<false, kStyle>(selection, limit)
                              : run<true, kStyle>(selection, limit);
  }

  std::vector<Error> problems() const {
    std::vector<Error> all;
    for (const auto& stream : merge_.streams())
      if (stream->problem()) all.push_back(*stream->problem());
    return all;
  }

 private:
  Step next() {
    if (ahead_) [[unlikely]]
      return *std::exchange(ahead_, std::nullopt);
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

  trace::Merge merge_;
  std::vector<Source> sources_;
  std::optional<Step> ahead_;    // a step that was taken to see what comes next
  std::vector<std::byte> held_;  // the record of an event that waits for it
  Nanoseconds stop_after_{std::numeric_limits<int64_t>::max()};
  Output& out_;
  Progress& progress_;
};

}  // namespace

std::vector<Error> dump_events(const Traces& traces, trace::Selection& selection,
                               const DumpWishes& wishes, bool on_terminal, Output& out) {
  trace::LineOptions options;
  options.time = wishes.time;
  options.fields = wishes.fields;
  options.label_once = traces.opened.size() == 1;
  if (wishes.time != TimeStyle::Raw) {
    const Trace::Span span = traces.span().value_or(Trace::Span{});
    options.origin = span.begin;
    options.with_date = WallClock::needs_date(span.begin, span.end, now_since_epoch());
  }

  const std::vector<std::string> names = trace_names(traces);
  trace::BabeltraceLine::Before before;
  std::vector<std::unique_ptr<Shown>> shown;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Source> sources;
  for (size_t i = 0; i < traces.opened.size(); ++i) {
    shown.push_back(std::make_unique<Shown>(*traces.opened[i], names[i], options, before));
    for (std::unique_ptr<Stream>& stream : traces.opened[i]->open_streams()) {
      const bool several = traces.opened.size() > 1;
      std::string label = several ? names[i] : "";
      if (several && !stream->buffer().empty()) label += ":";
      sources.push_back({shown.back().get(), label + stream->buffer(), stream->buffer()});
      if (!selection.has_cpu(stream->cpu())) {
        sources.pop_back();
        continue;
      }
      if (selection.begin) stream->skip_to(*selection.begin);
      if (wishes.follow) stream->follow();
      streams.push_back(std::move(stream));
    }
  }
  make_labels(sources);

  Progress progress("reading", on_terminal);
  Dump dump(trace::Merge(std::move(streams)), std::move(sources), out, progress);
  const uint64_t limit = wishes.limit.value_or(~uint64_t{0});
  switch (wishes.style) {
    case LineStyle::Report:
      dump.run<LineStyle::Report>(selection, limit);
      break;
    case LineStyle::Babeltrace:
      dump.run<LineStyle::Babeltrace>(selection, limit);
      break;
    case LineStyle::Json:
      dump.run<LineStyle::Json>(selection, limit);
      break;
  }
  return dump.problems();
}

}  // namespace strata::cli
