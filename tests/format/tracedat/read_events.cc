// SPDX-License-Identifier: Apache-2.0
#include "read_events.h"

#include "trace/merge.h"

namespace strata::tracedat {

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  out << "[" << seen.cpu << "] " << seen.time << " " << seen.name << ": " << seen.fields;
  if (seen.lost != 0) out << " lost " << seen.lost;
  if (seen.lost_unknown) out << " lost more";
  if (!seen.buffer.empty()) out << " in " << seen.buffer;
  return out;
}

std::vector<Seen> Everything::of_cpu(uint32_t cpu) const {
  std::vector<Seen> all;
  for (const Seen& seen : events)
    if (seen.cpu == cpu && seen.buffer.empty()) all.push_back(seen);
  return all;
}

Everything read_events(const TraceDat& trace, uint64_t limit) {
  Everything all;
  trace::Merge merge(trace.open_streams());
  TextBuffer text;
  while (all.events.size() < limit && merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    text.clear();
    trace.print_fields(event, text);
    all.events.push_back({raw(event.cpu), event.time.count, event.type->name,
                          std::string(text.view()), event.lost, event.lost_unknown,
                          merge.stream().buffer()});
  }
  all.problems = trace.problems();
  for (const auto& stream : merge.streams())
    if (stream->problem()) all.problems.push_back(*stream->problem());
  return all;
}

Everything read_file(const std::string& path, uint64_t limit) {
  auto trace = TraceDat::open(path);
  if (!trace) return {{}, {trace.error()}};
  return read_events(**trace, limit);
}

}  // namespace strata::tracedat
