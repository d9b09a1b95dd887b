// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/trace_plan.h"

#include <algorithm>

#include "format/ctf/resolve.h"

namespace strata::ctf {
namespace {

void bind_names(TracePlan& plan) {
  if (plan.description.environment_text("domain") != "kernel") return;
  const bool perf = plan.description.environment_text("tracer_name") == "perf";
  for (StreamPlan& stream : plan.streams) {
    for (const std::unique_ptr<EventPlan>& event : stream.events) {
      event->meaning = trace::bind(perf ? trace::Tracer::Ftrace : trace::Tracer::Lttng, *event);
      if (event->meaning.word == trace::Word::SchedSwitch && !perf) plan.tracks_tasks = true;
    }
  }
}

}  // namespace

const StreamPlan* TracePlan::find(const StreamClass* stream) const {
  const auto it = std::ranges::find(streams, stream, &StreamPlan::stream);
  return it == streams.end() ? nullptr : &*it;
}

Result<std::unique_ptr<TracePlan>> plan_trace(Description description,
                                              const std::string& metadata_path) {
  auto plan = std::make_unique<TracePlan>();
  const Result<size_t> slots = resolve(description, metadata_path);
  if (!slots) return slots.error();
  plan->description = std::move(description);
  plan->slots = *slots;
  for (const StreamClass& stream : plan->description.streams)
    plan->streams.push_back(plan_stream(plan->description, stream));
  bind_names(*plan);
  return plan;
}

}  // namespace strata::ctf
