// SPDX-License-Identifier: Apache-2.0
//
// index TRACE FILE: all of the state, statistics and history of a trace. Prints events, intervals
// and bytes.
#include <cstdio>
#include <filesystem>

#include "recording/open.h"
#include "state/pass.h"

int main(int argc, char** argv) {
  using namespace strata;
  if (argc != 3) return 2;
  auto traces = recording::open_traces(argv[1]);
  if (!traces) {
    std::fprintf(stderr, "%s\n", traces.error().text().c_str());
    return 1;
  }
  state::Pass pass(*traces);
  if (Status made = pass.write_index([&](size_t) { return std::string(argv[2]); }, 1); !made) {
    std::fprintf(stderr, "%s\n", made.error().text().c_str());
    return 1;
  }
  pass.run();
  const state::Machine& machine = pass.machines().front();
  uint64_t events = 0;
  for (const state::EventCount& counted : machine.engine->statistics().counts())
    events += counted.count;
  std::printf("%lu %lu %lu\n", events, machine.index->intervals(),
              static_cast<unsigned long>(
                  std::filesystem::file_size(argv[2]) +
                  std::filesystem::file_size(state::IndexWriter::records_path(argv[2]))));
}
