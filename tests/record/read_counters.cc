// SPDX-License-Identifier: Apache-2.0
#include "read_counters.h"

#include <memory>

#include "recording/open.h"

namespace strata::record {

Readings read_counters(const std::string& folder) {
  Readings readings;
  const Result<std::unique_ptr<trace::Trace>> trace = recording::open_trace(folder);
  if (!trace) {
    readings.problem = trace.error().text();
    return readings;
  }
  for (const auto& stream : (*trace)->open_streams()) {
    while (stream->next() == trace::Step::Event) {
      const trace::Event& event = stream->event();
      Reading reading{raw(event.cpu),   raw(event.ticks), event.time.count,
                      event.type->name, raw(event.tid()), {}};
      for (const trace::Field& field : event.type->fields)
        reading.fields[field.name] = event.integer(event.type->ref(field.name)).value_or(-1);
      readings.lost += event.lost;
      readings.all.push_back(std::move(reading));
    }
    readings.lost += stream->unplaced_loss().count;
    if (stream->problem()) readings.problem = stream->problem()->text();
  }
  if (!(*trace)->problems().empty()) readings.problem = (*trace)->problems().front().text();
  return readings;
}

bool is_whole(const Readings& readings, uint32_t cpu, uint64_t begin, uint64_t end) {
  const Reading* last = nullptr;
  for (const Reading& reading : readings.all) {
    if (reading.cpu != cpu || reading.name != "counters_sched_switch") continue;
    const bool concerned = last != nullptr && last->time <= end && reading.time >= begin;
    if (concerned && last->fields.at("next_tid") != reading.fields.at("prev_tid")) return false;
    last = &reading;
  }
  return true;
}

int64_t change_in_slices(const Readings& readings, pid_t thread, const std::string& counter,
                         uint64_t begin, uint64_t end) {
  int64_t sum = 0;
  const Reading* in = nullptr;
  for (const Reading& reading : readings.all) {
    if (reading.name != "counters_sched_switch") continue;
    if (in != nullptr && in->cpu != reading.cpu) in = nullptr;
    if (in != nullptr && reading.fields.at("prev_tid") == thread) {
      if (in->time <= end && reading.time >= begin)
        sum += reading.fields.at(counter) - in->fields.at(counter);
      in = nullptr;
    }
    if (reading.fields.at("next_tid") == thread) in = &reading;
  }
  return sum;
}

}  // namespace strata::record
