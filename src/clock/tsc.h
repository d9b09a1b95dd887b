// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace strata::clock {

#if defined(__x86_64__) || defined(__i386__)
constexpr bool kHasTsc = true;
// The time stamp counter, read neither before what stands before it nor after what stands behind.
inline uint64_t read_tsc() {
  _mm_lfence();
  const uint64_t cycles = __rdtsc();
  _mm_lfence();
  return cycles;
}
#else
constexpr bool kHasTsc = false;
inline uint64_t read_tsc() { return 0; }
#endif

// How far the counters of two CPUs may be apart, from messages that went to and fro between them. A
// message takes some time, so each way the receiver's counter must be ahead of the sender's; by how
// little it ever was is the most that the counters can differ.
struct CpuAgreement {
  int64_t least_forward = 0;   // in cycles; below zero: the counter went backwards
  int64_t least_backward = 0;  // the same for the way back
  uint32_t messages = 0;       // that went both ways; 0: nothing was measured
};

// Of two CPUs that this process may run on. It takes some 50 us, or `limit` where others want the
// CPUs too. Nothing: not to be had (a CPU that went offline or is forbidden).
std::optional<CpuAgreement> measure_agreement(uint32_t one, uint32_t other,
                                              std::chrono::nanoseconds limit);

// What the trust in the TSC rests on. It is trusted where all of this holds:
//
// - constant_tsc: it counts at one rate, whatever the CPU's frequency is. nonstop_tsc: it goes on
// in
//   deep sleep. Both as the kernel tells in /proc/cpuinfo, since it knows of processors that claim
//   what is not so.
// - The kernel itself keeps time by it: the current clocksource is "tsc". The kernel watches it
//   against other clocks and leaves it for good when it is found wrong, so this is the result of
//   every check since boot. With "kvm-clock" it is not trusted, although that too is read from the
//   TSC: a kernel that prefers kvm-clock was not told by its hypervisor that the counter is stable,
//   and kvm-clock's line from it then changes with migration and from one CPU to another.
// - Between CPUs it never went backwards, measured here from the first to each of the others.
struct TscCheck {
  bool available = false;  // an x86 processor
  bool constant = false;
  bool nonstop = false;
  std::string clocksource;    // the kernel's, now
  bool monotonic = false;     // also where no other CPU could be compared
  uint32_t compared = 0;      // CPUs, with the first one
  uint32_t unmeasured = 0;    // too busy within the time; for them the kernel's word stands
  uint64_t apart_cycles = 0;  // the most that the counters of those compared can differ
  std::string reason;         // why it is not trusted, in words; empty: it is

  bool trusted() const { return reason.empty(); }
};

// All CPUs that this process may run on; at most `limit` for measuring.
TscCheck check_tsc(std::chrono::nanoseconds limit = std::chrono::milliseconds(50));

// The two flags, from the text of /proc/cpuinfo.
void read_flags(std::string_view cpuinfo, TscCheck& check);
// Fills in `reason` from all the rest.
void judge(TscCheck& check);

}  // namespace strata::clock
