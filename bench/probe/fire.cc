// SPDX-License-Identifier: Apache-2.0
//
// fire WHAT THREADS TIMES: what a site costs, in nanoseconds of CPU time.
//
//   rdtsc          reading the counter, the floor
//   flight         a site that is on, one int, into an overwriting ring
//   flight64       the same with eight numbers of 8 bytes
//   flight_bytes   the same with a sequence, which takes 64 bytes with its count
//   collected      the same as flight, for whoever has switched the site on and gives the rings
//   marker         a write to the kernel's trace_marker, which $FIRE_MARKER names
//   trapped        a call of fire_trapped(), on which somebody has put a uprobe
//   flag, patched  a site that is off, 16 of them in a row, each
//   none           the same loop without sites
//   flag_cold, patched_cold, none_cold   with the flag's cache line flushed each time, in ticks
//   ghz            ticks of the counter in a nanosecond
#include <fcntl.h>
#include <poll.h>
#include <strata/probe.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collect/listener.h"
#include "loop.h"

STRATA_EVENT(bench, number, STRATA_INFO, (s32, value));
STRATA_EVENT(bench, eight, STRATA_INFO, (u64, a), (u64, b), (u64, c), (u64, d), (u64, e), (u64, f),
             (u64, g), (u64, h));
STRATA_EVENT(bench, payload, STRATA_INFO, (bytes, value));
STRATA_EVENT(bench, off, STRATA_INFO, (s32, value));

extern "C" [[gnu::noinline, gnu::noclone]] void fire_trapped(uint32_t value) {
  __asm__ volatile("" ::"r"(value));
}

namespace {

using namespace strata;

void read_counter(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) {
    const uint64_t now = __rdtsc();
    __asm__ volatile("" ::"r"(now));
  }
}

void fire_number(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) STRATA_TRACE(bench, number, i);
}

void fire_eight(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) STRATA_TRACE(bench, eight, i, i, i, i, i, i, i, i);
}

void fire_payload(uint32_t times) {
  char payload[62] = {};  // with its count: 64
  __asm__ volatile("" ::"r"(payload) : "memory");
  for (uint32_t i = 0; i < times; ++i)
    STRATA_TRACE(bench, payload, strata_bytes(payload, sizeof payload));
}

void fire_traps(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) fire_trapped(i);
}

void write_markers(uint32_t times) {
  const char* path = getenv("FIRE_MARKER");
  const int marker = path != nullptr ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  if (marker < 0) std::abort();
  for (uint32_t i = 0; i < times; ++i)
    if (write(marker, &i, sizeof i) != sizeof i) std::abort();
  close(marker);
}

#define SIXTEEN(site) \
  site site site site site site site site site site site site site site site site
#define SITES(name, site)                      \
  void name(uint32_t times) {                  \
    for (uint32_t i = 0; i < times; i += 16) { \
      SIXTEEN(site;)                           \
      __asm__ volatile("" ::: "memory");       \
    }                                          \
  }
SITES(pass_flags, STRATA_TRACE_FLAG(bench, off, i))
SITES(pass_patched, STRATA_TRACE_PATCHED(bench, off, i))
SITES(pass_nothing, __asm__ volatile(""))

// The fewest ticks that passing a site took whose flag, and a pointer that is its argument, are not
// in the cache; the median, as loops are disturbed.
template <typename Site>
double cold_ticks(uint32_t times, Site site) {
  alignas(64) static int argument[16];
  std::vector<uint64_t> taken(times);
  for (uint64_t& ticks : taken) {
    _mm_clflush(&strata_flag_bench__off);
    _mm_clflush(argument);
    _mm_mfence();
    _mm_lfence();
    const uint64_t begin = __rdtsc();
    _mm_lfence();
    site(argument);
    _mm_lfence();
    ticks = __rdtsc() - begin;
  }
  std::sort(taken.begin(), taken.end());
  return static_cast<double>(taken[taken.size() / 2]);
}

double ghz() {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t first = __rdtsc();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const uint64_t last = __rdtsc();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(last - first) / took.count();
}

// Gives the rings, and nothing else.
class Collector {
 public:
  Collector() {
    char folder[] = "/tmp/strata-bench-XXXXXX";
    if (mkdtemp(folder) == nullptr) std::abort();
    folder_ = folder;
    Result<collect::Listener> listener = collect::Listener::open(folder_ + "/socket");
    if (!listener) std::abort();
    setenv(probe::abi::kSocketVariable, (folder_ + "/socket").c_str(), 1);
    thread_ = std::thread([this, listener = std::move(*listener)]() mutable {
      pollfd ready{listener.descriptor(), POLLIN, 0};
      std::optional<collect::Asking> program;
      // Nobody yet, where it was interrupted between connecting and asking.
      while (!program) {
        poll(&ready, 1, -1);
        program = listener.next();
      }
      collect::RingLayout layout;
      layout.rings = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
      layout.policy = probe::abi::Policy::Overwrite;
      layout.capacity_log2 = 22;
      Result<collect::RingMemory> memory =
          collect::RingMemory::create(layout, probe::abi::Clock::Tsc);
      if (!memory) std::abort();
      collect::give_rings(*program, *memory);
      memory_.emplace(std::move(*memory));
    });
  }
  ~Collector() {
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

 private:
  std::string folder_;
  std::optional<collect::RingMemory> memory_;
  std::thread thread_;
};

double measure(std::string_view what, int threads, uint32_t times) {
  if (what == "rdtsc") return run_loops(read_counter, threads, times);
  if (what == "flag") return run_loops(pass_flags, threads, times);
  if (what == "patched") return run_loops(pass_patched, threads, times);
  if (what == "none") return run_loops(pass_nothing, threads, times);
  if (what == "none_cold") return cold_ticks(times, [](const int*) {});
  if (what == "flag_cold")
    return cold_ticks(times, [](const int* value) { STRATA_TRACE_FLAG(bench, off, *value); });
  if (what == "patched_cold")
    return cold_ticks(times, [](const int* value) { STRATA_TRACE_PATCHED(bench, off, *value); });
  if (what == "ghz") return ghz();
  if (what == "collected") return run_loops(fire_number, threads, times);
  if (what == "marker") return run_loops(write_markers, threads, times);
  if (what == "trapped") return run_loops(fire_traps, threads, times);
  const Collector collector;
  strata_flag_bench__number = strata_flag_bench__eight = strata_flag_bench__payload = 0x10000;
  if (what == "flight") return run_loops(fire_number, threads, times);
  if (what == "flight64") return run_loops(fire_eight, threads, times);
  if (what == "flight_bytes") return run_loops(fire_payload, threads, times);
  std::fprintf(stderr, "fire: no such thing: %s\n", std::string(what).c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: fire WHAT THREADS TIMES\n");
    return 2;
  }
  std::printf("%.5f\n", measure(argv[1], std::atoi(argv[2]),
                                static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10))));
}
