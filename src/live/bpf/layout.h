// SPDX-License-Identifier: Apache-2.0
//
// The memory in which the programs in the kernel count, as they and this program see it.
//
// A slot has one writer at a time: of a task, the CPU that runs it, or that switches it in or out,
// with preemption off; of a CPU, that CPU. While it changes what belongs together, `version` is
// odd; who reads copies the slot, and takes the copy if `version` was even and the same before and
// after (live/slots.h). What others write are single words, which are taken as they are:
// `woken_at`, by who wakes the task; and what interrupts took, by their handlers, which come in the
// midst of everything.
//
// A slot belongs to one task from when it is taken off `Control`'s ring until the reader, having
// told that the task is gone, puts it back. It is filled in before the task's storage leads to it,
// and nothing leads to it any more when the kernel has freed the task.
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
namespace strata::live {
#endif

// Cache lines of its own: others are written by other CPUs.
#define SLOT __attribute__((aligned(64)))

// What a task is doing.
enum Doing {
  kRuns,  // in which mode is not told
  kRunsInUser,
  kRunsInCall,
  kExits,  // it runs the end of its life in the kernel
  kWaitsForCpu,
  kWaitsForOther,  // and without calls for most
  kWaitsForPipe,
  kWaitsForPoll,
  kWaitsForDisk,
  kWaitsForNet,
  kWaitsForFutex,
  kWaitsForTimer,
  kWaitsForChild,
  kWaitsForFault,
  kIsNew,
  kIsStopped,
  kIsZombie,
  kIsDead,
  kDoings,
};

// What a CPU is doing.
enum CpuDoing {
  kCpuIdles,
  kCpuRunsKernel,  // a thread of the kernel's own
  kCpuRuns,        // a program; in which mode is not told
  kCpuRunsUser,
  kCpuRunsCall,
  kCpuDoings,
};

enum { kNameSize = 16 };

// What a switch changes lies together: the first line, that in which `ns` begins, and that with the
// kernel's own counts.
struct SLOT TaskSlot {
  __u32 version;
  __u32 doing;
  __u64 since;         // it does that
  __u64 woken_at;      // for the last time
  __u64 described_at;  // see below
  __u32 runs_as;       // when it runs again
  __s32 cpu;           // that it ran on last; negative: none
  __s32 tid;
  __u32 preemptions;
  __u32 sleeps;
  __u32 migrations;
  __u32 wakeups;  // that it has run after
  __u8 is_kernel;
  __u8 was_born;  // while it was watched
  __u8 has_ended;
  __u8 is_gone;  // nothing leads to it any more

  __u64 ns[kDoings];  // how long it did what, before `since`
  // The kernel's own counts, as they were when it last left its CPU.
  __u64 run_time;
  __u64 minor_faults;
  __u64 major_faults;
  __u64 disk_read_bytes;
  __u64 disk_written_bytes;
  __u64 user_time;  // these two after its last tick
  __u64 system_time;

  // Of the time in which it ran; the second in system calls.
  __u64 irq_ns[2];
  __u64 softirq_ns[2];

  __u32 call;        // the number of the system call that it is in, or was in last
  __s32 descriptor;  // that this is about; negative: about none
  __u64 called_at;   // 0: it is in none, or was not seen to enter it
  __u64 registers;   // the kernel's address of those that it saves in a call; 0: not met yet
  __u32 syscalls;
  // While somebody wants to know (CallMeaning::traffic).
  __u64 reads;
  __u64 writes;
  __u64 read_bytes;
  __u64 written_bytes;
  __u64 net_read_bytes;
  __u64 net_written_bytes;
  __u64 in_calls_ns;

  // Who it is, as it was at `described_at`.
  __u64 start;  // CLOCK_MONOTONIC
  __s32 pid;
  __s32 parent;  // the process that made it, or that took it over
  __u32 user;
  __u64 cgroup;      // the kernel's id, in the unified hierarchy
  __u64 cpu_cgroup;  // in that of the CPU controller
  __u64 memory_pages;
  char name[kNameSize];

  __u32 exit_code;  // as wait(2) tells it
};

struct SLOT CpuSlot {
  __u32 version;
  __u32 doing;
  __u64 since;
  __u32 task;  // its slot and 1; 0: none
  __s32 tid;
  __u64 current;  // the kernel's address of the task
  __u32 irqs;     // in how many it is
  __u32 softirqs;
  __u64 switches;
  __u64 runs;         // how often programs ran, and how long those took that were measured: one of
  __u64 measured_ns;  // kMeasuredOf
  __u64 ns[kCpuDoings];
  __u64 missed_switches;

  // Of interrupts, and of what they took their time.
  __u64 interrupted_since;  // what is not charged yet
  __u64 irq_ns;
  __u64 softirq_ns;
  __u64 interrupted_ns[kCpuDoings];

  __u64 born;
  __u64 born_processes;
  __u64 ended;
  __u64 ended_processes;
  __u64 no_room;

  // What the kernel's ticks have found tasks in.
  __u64 tick_user_ns;
  __u64 tick_system_ns;
};

enum { kMeasuredOf = 256 };

// What it means that a task is in this system call.
struct CallMeaning {
  __u8 wait;                  // what it waits for that sleeps in it
  __u8 uninterruptible_wait;  // the same, where signals do not end its sleep
  __u8 descriptor;            // the number of its argument that is one, and 1; 0: none
  __u8 traffic;               // enum Traffic
  __u8 other;                 // Transfers: the argument that is where to, and 1
  __u8 spare[3];
};

// What goes through the descriptor that a call is about.
enum Traffic { kNothing, kReads, kWrites, kTransfers };

enum { kCalls = 512 };

// How often something took how long: period::Histogram.
enum { kBuckets = 48 };
struct Times {
  __u64 count;
  __u64 sum_ns;
  __u64 buckets[kBuckets];
};

// A descriptor of a process, and what it leads to.
struct OpenKey {
  __s32 pid;
  __s32 descriptor;
  __u64 device;  // the kernel's number, 20 bits of it the minor one
  __u64 inode;
};

enum { kFileName = 32 };
struct OpenFile {
  __u64 reads;
  __u64 writes;
  __u64 read_bytes;
  __u64 written_bytes;
  __u64 in_calls_ns;
  // As it was when it was first met.
  __u32 mode;
  __u16 family;  // of a socket's addresses, and its peer
  __u16 port;    // in the network's order, as the address
  __u8 address[16];
  char name[kFileName];  // the last part of it
};

// Interrupts of all kinds, by numbers: softirqs, the timer's, lines.
enum {
  kSoftirqs = 10,
  kTimerLine = kSoftirqs,
  kFirstIrq = 16,
  kLines = kFirstIrq + 512,
};

// Those that a CPU is in, by their kinds.
struct EnteredLines {
  __u64 softirq;
  __u64 timer;
  __u64 irq;
};

enum { kLongName = 32 };
struct LongName {
  char text[kLongName];
};

// How long the requests of a block device took.
enum { kDevices = 64 };
struct DeviceTimes {
  __u64 device;  // and 1; 0: none yet
  struct LongName name;
  struct Times waited;
  struct Times served;
};

// So many performance counters are counted at a time, at most.
enum { kCounters = 15 };

// What a counter counted. Where there are more than the processor has room for they take turns:
// for so long it had none.
struct Counted {
  __u64 count;
  __u64 left_out_ns;
};

// What was counted while a task ran, or on a CPU, by its slot's number. One writer, as of slots.
struct SLOT Counts {
  __u32 version;
  __u32 spare;
  __u64 ns;  // how long that was, by those that take turns
  struct Counted counters[kCounters];
};

// The counters of a CPU.
struct SLOT CpuCounters {
  struct Counts counts;
  // At the last reading:
  __s32 turn;  // the task that runs since
  __u32 is_read;
  __u64 unread;  // how often one could not be read: the CPU has come since they were opened
  __u64 enabled_ns[kCounters];
  struct Counted last[kCounters];
};

// What programs and reader tell each other.
struct Control {
  // The ring of free slots: the reader puts them in at `freed`, programs take them at `taken`.
  __u64 freed;
  __u64 taken SLOT;
  __u32 period;       // counts up
  __u32 tells_calls;  // system calls are watched
  __u32 tells_times;  // how long tasks wait for CPUs is counted
  // That were there at the start.
  __u64 threads;
  __u64 processes;
};

#ifdef __cplusplus
}  // namespace strata::live
#endif
