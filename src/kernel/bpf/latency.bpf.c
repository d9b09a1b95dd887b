// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// How long it takes from one event to another, each for a thread: what takes longer than it should
// is told.

// The second has no types without the first.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

// Known when the program is loaded. The thread that an event is about stands at this offset of its
// record; 0: it is the one that runs.
const volatile __u32 entry_thread;
const volatile __u32 exit_thread;
const volatile __u64 longer_than_ns;
const volatile __u32 own_process;

// Threads between the two events. One that never comes to the second makes room for others in time.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, __u64);
} begun SEC(".maps");

// Two numbers each: the thread, and how long it took, in nanoseconds.
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} slow SEC(".maps");

// Those that found no room in `slow`.
__u64 untold;

// 0: none that counts, as the idle tasks, which all have this number.
static __u32 thread_of(void* record, __u32 offset) {
  __u32 thread = 0;
  __u64 current = bpf_get_current_pid_tgid();
  if (offset == 0) return current >> 32 == own_process ? 0 : (__u32)current;
  if (bpf_probe_read_kernel(&thread, sizeof thread, record + offset) != 0) return 0;
  return thread == own_process ? 0 : thread;
}

SEC("tracepoint")
int on_entry(void* record) {
  __u32 thread = thread_of(record, entry_thread);
  __u64 now = bpf_ktime_get_ns();
  if (thread != 0) bpf_map_update_elem(&begun, &thread, &now, BPF_ANY);
  return 0;
}

SEC("tracepoint")
int on_exit(void* record) {
  __u32 thread = thread_of(record, exit_thread);
  __u64* begin = bpf_map_lookup_elem(&begun, &thread);
  if (!begin) return 0;
  __u64 found[2] = {thread, bpf_ktime_get_ns() - *begin};
  bpf_map_delete_elem(&begun, &thread);
  if (found[1] <= longer_than_ns) return 0;
  if (bpf_ringbuf_output(&slow, found, sizeof found, 0) != 0) __sync_fetch_and_add(&untold, 1);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
