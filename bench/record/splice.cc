// SPDX-License-Identifier: Apache-2.0
//
// The least a recorder can do: moves the kernel's events to a file by splice, and throws it away.
//
//     splice FOLDER EVENTS...
//
// says "ready" once it records, ends at SIGINT, and then says how many events there were and how
// many were lost. FOLDER is where the file, which has no name, is to lie.

#include <signal.h>

#include <cstdio>
#include <deque>
#include <stdexcept>

#include "drain.h"
#include "kernel/ring_stats.h"
#include "tracefs.h"

namespace strata::bench {
namespace {

constexpr uint32_t kKilobytesACpu = 8 << 10;  // as strata's own default

void record(const std::filesystem::path& folder, const std::vector<std::string>& events) {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, number);
  sigprocmask(SIG_BLOCK, &ending, nullptr);

  Instance instance(find_tracefs(), "mono", kKilobytesACpu);
  std::deque<Drain> drains;
  for (const uint32_t cpu : instance.cpus()) drains.emplace_back(instance, cpu, folder);
  for (const std::string& event : events) instance.enable(event);
  instance.start();
  std::puts("ready");
  std::fflush(stdout);
  int number = 0;
  sigwait(&ending, &number);
  instance.stop();
  kernel::RingStats sum;
  for (Drain& drain : drains) {
    drain.finish();
    const kernel::RingStats one =
        kernel::parse_ring_stats(read_text(instance.cpu_path(drain.cpu()) / "stats"));
    sum.read += one.events();
    sum.overrun += one.lost();
  }
  std::printf("%llu %llu\n", static_cast<unsigned long long>(sum.events()),
              static_cast<unsigned long long>(sum.lost()));
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: splice FOLDER EVENTS...\n", stderr);
    return 2;
  }
  try {
    strata::bench::record(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "splice: %s\n", error.what());
    return 1;
  }
}
