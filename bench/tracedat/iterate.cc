// SPDX-License-Identifier: Apache-2.0
//
// Every event of a trace.dat in the order of time, through the clock map, and one field of each:
// our side of the comparison with iterate_peer.c. Both print the same line where they saw the same
// times and tasks in the same order.

#include <bit>
#include <cinttypes>
#include <cstdio>

#include "format/tracedat/trace_dat.h"
#include "trace/merge.h"

int main(int argc, char** argv) {
  using namespace strata;
  if (argc != 2) {
    std::fputs("usage: iterate TRACE\n", stderr);
    return 2;
  }
  const auto trace = tracedat::TraceDat::open(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().text().c_str());
    return 1;
  }
  trace::Merge merge((*trace)->open_streams());
  uint64_t count = 0;
  uint64_t sum = 0;
  while (merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    const auto tid = static_cast<uint32_t>(raw(event.tid()));
    sum = std::rotl(sum, 7) + (static_cast<uint64_t>(event.time.count) ^ tid);
    ++count;
  }
  std::printf("%" PRIu64 " events, checksum %016" PRIx64 "\n", count, sum);
  for (const auto& stream : merge.streams()) {
    if (!stream->problem()) continue;
    std::fprintf(stderr, "%s\n", stream->problem()->text().c_str());
    return 1;
  }
}
