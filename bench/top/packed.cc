// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a process that did something takes in the console's past:
//     packed SECONDS
// watches this machine as the CPU screen does, and prints processes and bytes of all tables.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "live/machine_feed.h"
#include "period/pack.h"

using namespace strata;

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  Result<std::unique_ptr<period::Feed>> feed = live::machine_feed({});
  if (!feed) {
    std::fprintf(stderr, "packed: %s\n", feed.error().text().c_str());
    return 1;
  }
  size_t processes = 0;
  size_t bytes = 0;
  for (int i = 0; i < seconds; ++i) {
    sleep(1);
    const Result<std::optional<period::Table>> table = (*feed)->next();
    if (!table || !*table) return 1;
    bytes += pack(**table).size();
    for (const period::Machine& machine : (*table)->machines) {
      std::set<int32_t> seen;
      for (const period::TaskRow& row : machine.tasks) seen.insert(row.pid);
      processes += seen.size();
    }
  }
  std::printf("%zu %zu\n", processes, bytes);
}
