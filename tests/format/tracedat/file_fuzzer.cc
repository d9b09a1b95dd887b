// SPDX-License-Identifier: Apache-2.0
//
// A whole trace.dat: opened, its events merged and read through their fields.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "format/tracedat/trace_dat.h"
#include "trace/merge.h"

namespace {

// One file for all runs: the kernel need not make a new one each time.
int the_file() {
  static const int fd = memfd_create("fuzzed.dat", MFD_CLOEXEC);
  return fd;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const int fd = the_file();
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) abort();

  auto trace = tracedat::TraceDat::open("/proc/self/fd/" + std::to_string(fd));
  if (!trace) return 0;
  (*trace)->time_span();
  trace::Merge merge((*trace)->open_streams());
  uint64_t sum = 0;
  // A small file may hold many events of nothing: not all of them have to be seen.
  for (int events = 0; events < 20'000 && merge.next() == trace::Step::Event; ++events) {
    const trace::Event& event = merge.event();
    sum += static_cast<uint64_t>(raw(event.tid())) + event.lost;
    for (const trace::Field& field : event.type->fields) {
      const trace::FieldRef ref(field, event.type->order);
      sum += static_cast<uint64_t>(event.integer(ref).value_or(0)) + event.text(ref).size();
    }
  }
  volatile uint64_t kept = sum;
  (void)kept;
  return 0;
}
