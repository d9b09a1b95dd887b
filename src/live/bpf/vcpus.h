// SPDX-License-Identifier: Apache-2.0
//
// Virtual CPUs, as the programs in the kernel and this program see them: a slot for each, beside
// that of its thread, with the rules of layout.h. Its writer is the thread itself, or who switches
// it out.
//
// Whether its thread runs, waits or sleeps stands in the thread's slot already, and what the
// processor and KVM tell divides that: so a virtual CPU is charged when it enters the guest, leaves
// it, returns to its program or loses its CPU, and whenever somebody asks; by one and the same rule
// (charge_vcpu()), which is the state engine's.
#pragma once

#include "live/bpf/layout.h"

#ifdef __cplusplus
namespace strata::live {
#endif

enum VcpuDoing {
  kVcpuIsUnknown,
  kVcpuIsInGuest,
  kVcpuIsInHypervisor,
  kVcpuIsInUserSpace,
  kVcpuIsHalted,
  kVcpuIsPreempted,
  kVcpuIsBlocked,
  kVcpuDoings,
};

// Who is at work when its thread runs in a mode that is not told, and does not run the guest.
enum ExitHandler { kNobodyKnown, kTheKernel, kTheProgram };

enum VcpuEvent {
  kInjections,
  kIpis,
  kMmios,
  kPios,
  kMsrs,
  kPageFaults,
  kVcpuEvents,
};

// Why a processor leaves the guest are small numbers, and a few of AMD's from kFarReason on.
enum {
  kNearReasons = 176,
  kFarReason = 0x400,
  kFarReasons = 15,
  kOtherReason = kNearReasons + kFarReasons,
  kReasons,
  kNoReason = kReasons,  // there was no exit yet
};
enum { kIntel = 1, kAmd = 2 };  // as kvm_exit tells whose numbers they are

struct ExitSum {
  __u64 count;
  __u64 kernel_ns;
  __u64 program_ns;
};

// Who took its CPU though it could run, and for how long altogether. Those that did so for a long
// time stay.
enum { kTakers = 8 };
struct Taker {
  __u64 ns;
  __s32 tid;
  char name[kNameSize];
};

// How long a thread did what altogether.
struct ThreadTimes {
  __u64 ran;  // in which mode is not told
  __u64 ran_in_user;
  __u64 ran_in_call;
  __u64 interrupted[2];  // of these times; the second in calls
  __u64 waited;          // for a CPU
};

struct SLOT VcpuSlot {
  __u32 version;
  __u32 task;  // its thread's slot, and 1; 0: nobody has this one
  __s32 tid;   // 0: it is not filled in yet
  __u32 number;
  __u8 number_is_told;
  __u8 is_in_guest;
  __u8 handler;  // enum ExitHandler
  __u8 isa;
  __u8 is_halted;            // with its last exit the guest said that it has nothing to do
  __u32 reason;              // of its last exit, by its place
  __u32 taker;               // who has its CPU, by its place, and 1; 0: nobody has taken it
  __u64 began;               // to be watched
  __u64 since;               // what was before is in the sums
  struct ThreadTimes times;  // then
  __u64 ns[kVcpuDoings];
  __u64 events[kVcpuEvents];
  struct Taker takers[kTakers];
  struct ExitSum exits[kReasons];
};

// Which virtual CPU a task is, by the number of its slot.
struct VcpuPlace {
  __u32 vcpu;            // its slot, and 1; 0: none
  __u32 refused_period;  // in which it was last counted that there was no room
};

// How long a CPU ran guests' code, up to the last exit.
struct GuestCpu {
  __u64 guest_ns;
};

// With which exits a guest says that it has nothing to do, by isa.
struct HaltReasons {
  __u8 is_halt[kAmd + 1][kReasons];
};

// An exit as the kernel's tracer would write it.
struct ExitRecord {
  __u64 common;
  __u32 reason;
  __u64 instruction;
  __u32 isa;
  __u64 information[2];
  __u32 interrupt;
  __u32 error_code;
  __u32 vcpu;
};

static inline __u32 place_of_reason(__u32 isa, __u32 reason) {
  const __u32 kFlags = 0xffff0000;
  if (isa == kIntel) reason &= ~kFlags;
  if (reason < kNearReasons) return reason;
  if (reason >= kFarReason && reason < kFarReason + kFarReasons)
    return kNearReasons + (reason - kFarReason);
  return kOtherReason;
}

static inline __u64 more_than(__u64 before, __u64 now) { return now > before ? now - before : 0; }

// As much of `ns` as is there.
static inline __u64 take_from(__u64* left, __u64 ns) {
  __u64 taken = ns < *left ? ns : *left;
  *left -= taken;
  return taken;
}

// The time since it was charged last is that of what it did. `now` its thread's times are `times`;
// what is in none of them it slept. Returns how long it ran the guest's code.
static inline __u64 charge_vcpu(struct VcpuSlot* vcpu, const struct ThreadTimes* times, __u64 now) {
  __u64 left = more_than(vcpu->since, now);
  __u64 outside = more_than(vcpu->times.interrupted[0], times->interrupted[0]);
  __u64 inside = more_than(vcpu->times.interrupted[1], times->interrupted[1]);
  __u64 ran = more_than(vcpu->times.ran, times->ran);
  __u64 in_user = more_than(vcpu->times.ran_in_user, times->ran_in_user);
  __u64 in_call = more_than(vcpu->times.ran_in_call, times->ran_in_call);
  __u64 waited = more_than(vcpu->times.waited, times->waited);
  __u64 interrupted = outside + inside;
  take_from(&in_call, inside);
  outside -= take_from(&ran, outside);
  take_from(&in_user, outside);

  __u64 guest = 0, kernel = interrupted, program = 0;
  if (vcpu->is_in_guest) {
    guest = ran + in_user + in_call;
    ran = 0;
  } else {
    kernel += in_call;
    program = in_user;
    if (vcpu->handler == kTheKernel) {
      kernel += ran;
      ran = 0;
    } else if (vcpu->handler == kTheProgram) {
      program += ran;
      ran = 0;
    }
  }
  guest = take_from(&left, guest);
  kernel = take_from(&left, kernel);
  program = take_from(&left, program);
  waited = take_from(&left, waited);
  vcpu->ns[kVcpuIsInGuest] += guest;
  vcpu->ns[kVcpuIsInHypervisor] += kernel;
  vcpu->ns[kVcpuIsInUserSpace] += program;
  vcpu->ns[kVcpuIsPreempted] += waited;
  vcpu->ns[kVcpuIsUnknown] += take_from(&left, ran);
  vcpu->ns[vcpu->is_halted ? kVcpuIsHalted : kVcpuIsBlocked] += left;
  __u32 reason = vcpu->reason;
  if (reason < kReasons) {
    vcpu->exits[reason].kernel_ns += kernel;
    vcpu->exits[reason].program_ns += program;
  }
  __u32 taker = vcpu->taker - 1;
  if (taker < kTakers) vcpu->takers[taker].ns += waited;
  if (now > vcpu->since) vcpu->since = now;
  vcpu->times = *times;
  return guest;
}

#ifdef __cplusplus
}  // namespace strata::live
#endif
