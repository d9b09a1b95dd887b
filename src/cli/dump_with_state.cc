// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_with_state.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "state/pass.h"
#include "trace/json_line.h"
#include "trace/learned_names.h"
#include "trace/report_line.h"

namespace strata::cli {
namespace {

using state::Engine;
using state::Task;

// How wide each part is in a line of text; what is longer pushes the rest to the right.
constexpr size_t kProcessWidth = 24;
constexpr size_t kModeWidth = 24;
constexpr size_t kVmWidth = 12;

struct Moment {
  std::string process;
  std::string mode;
  std::string vm;
};

Moment moment_of(const Engine& engine, const trace::Event& event) {
  const Engine::Moment at = engine.moment(event.cpu);
  Moment told;
  told.mode = name_of(at.mode);
  if (at.submode != state::kNoName) told.mode += ' ' + engine.names().text(at.submode);
  if (at.task == state::kNoTask) return told;
  const Task& task = engine.tasks()[at.task];
  told.process = engine.names().text(task.name);
  told.process += '/' + (task.tgid == kNoTid ? std::string("?") : std::to_string(raw(task.tgid)));
  if (task.vcpu != state::kNoVcpu) {
    const state::Vcpu& vcpu = engine.vms().vcpus()[task.vcpu];
    told.vm = engine.vm_name(vcpu.vm) + '/' + std::to_string(vcpu.number);
  }
  return told;
}

std::string column(std::string text, size_t width) {
  if (text.empty()) text = "-";
  if (text.size() < width) text.resize(width, ' ');
  return text + ' ';
}

std::string label_of(const Moment& moment, const std::vector<StatePart>& parts) {
  std::string label;
  for (const StatePart part : parts) {
    if (part == StatePart::Process) label += column(moment.process, kProcessWidth);
    if (part == StatePart::Mode) label += column(moment.mode, kModeWidth);
    if (part == StatePart::Vm) label += column(moment.vm, kVmWidth);
  }
  return label;
}

// Into the object that ends the text.
void add_to_json(const Moment& moment, const std::vector<StatePart>& parts, std::string& line) {
  line.erase(line.rfind('}'));
  const auto add = [&](const char* name, const std::string& text) {
    line += ",\"" + std::string(name) + "\":" +
            (text.empty() ? "null"
                          : nlohmann::json(text).dump(-1, ' ', false,
                                                      nlohmann::json::error_handler_t::replace));
  };
  for (const StatePart part : parts) {
    if (part == StatePart::Process) add("proc", moment.process);
    if (part == StatePart::Mode) add("mode", moment.mode);
    if (part == StatePart::Vm) add("vm", moment.vm);
  }
  line += "}\n";
}

struct Shown {
  Shown(const trace::Trace& trace, const trace::LineOptions& options)
      : names(trace),
        line(trace, names, options),
        json(trace, names, std::filesystem::path(trace.info().path).filename().string(),
             options.fields) {}

  trace::LearnedNames names;
  trace::ReportLine line;
  trace::JsonLine json;
};

}  // namespace

std::vector<Error> dump_with_state(const Traces& traces, trace::Selection& selection,
                                   const DumpWishes& wishes, const std::vector<StatePart>& parts,
                                   bool on_terminal, Output& out) {
  trace::LineOptions options;
  options.time = wishes.time;
  options.fields = wishes.fields;
  const trace::Trace::Span span = traces.span().value_or(trace::Trace::Span{});
  options.origin = span.begin;
  options.with_date = wishes.time != TimeStyle::Raw &&
                      WallClock::needs_date(span.begin, span.end, now_since_epoch());
  std::vector<std::unique_ptr<Shown>> shown;
  for (const auto& trace : traces.opened) shown.push_back(std::make_unique<Shown>(*trace, options));

  state::Pass pass(traces.opened);
  pass.end = selection.end;
  Progress progress("reading", on_terminal);
  if (progress.enabled())
    pass.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
  uint64_t left = wishes.limit.value_or(UINT64_MAX);
  pass.at_event = [&](const trace::Event& event, size_t trace, const Engine& engine) {
    Shown& at = *shown[trace];
    if (left > 0 && selection.matches(event, at.names.names())) {
      --left;
      at.names.learn_running(event);
      const Moment moment = moment_of(engine, event);
      if (wishes.style == LineStyle::Json) {
        TextBuffer object;
        at.json.print(event, event.stream != nullptr ? event.stream->buffer() : "", object);
        std::string line(object.view());
        add_to_json(moment, parts, line);
        out.text().put(line);
      } else {
        at.line.print(event, label_of(moment, parts), out.text());
      }
    }
    at.names.learn(event);
    return left > 0 && out.drain();
  };
  pass.run();
  return pass.problems();
}

}  // namespace strata::cli
