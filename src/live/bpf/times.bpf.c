// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// How long interrupts and requests of block devices take.

#include "live/bpf/histogram.bpf.h"
#include "live/bpf/kernel.bpf.h"
#include "live/bpf/layout.h"

// Those of a CPU side by side.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Times);
} line_times SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, kLines);
  __type(key, __u32);
  __type(value, struct LongName);
} line_names SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct EnteredLines);
} entered_lines SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, kDevices);
  __type(key, __u32);
  __type(value, struct DeviceTimes);
} device_times SEC(".maps");

// Requests that a device works at, and since when. One that is never completed makes room in time.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, __u64);
} issued SEC(".maps");

static inline struct EnteredLines* entered(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&entered_lines, &zero);
}

static inline void end_line(__u32 line, __u64* since) {
  __u64 began = *since;
  *since = 0;
  __u32 place = bpf_get_smp_processor_id() * kLines + line;
  struct Times* times = bpf_map_lookup_elem(&line_times, &place);
  if (times && began != 0) add_time(times, bpf_ktime_get_ns() - began);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq, struct irqaction* action) {
  struct EnteredLines* lines = entered();
  if (lines) lines->irq = bpf_ktime_get_ns();
  __u32 line = kFirstIrq + irq;
  struct LongName* name = bpf_map_lookup_elem(&line_names, &line);
  if (name && name->text[0] == 0)
    bpf_probe_read_kernel_str(name->text, sizeof name->text, action->name);
  return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq) {
  struct EnteredLines* lines = entered();
  if (lines && irq >= 0 && irq < kLines - kFirstIrq) end_line(kFirstIrq + irq, &lines->irq);
  return 0;
}

SEC("tp_btf/local_timer_entry")
int BPF_PROG(on_timer_entry) {
  struct EnteredLines* lines = entered();
  if (lines) lines->timer = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(on_timer_exit) {
  struct EnteredLines* lines = entered();
  if (lines) end_line(kTimerLine, &lines->timer);
  return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry) {
  struct EnteredLines* lines = entered();
  if (lines) lines->softirq = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector) {
  struct EnteredLines* lines = entered();
  if (lines && vector < kSoftirqs) end_line(vector, &lines->softirq);
  return 0;
}

// Null: there are too many. What two CPUs find at once is in one of two places, and added up.
static struct DeviceTimes* times_of(struct request* request) {
  struct gendisk* disk = request->q->disk;
  if (!disk) return 0;
  __u64 device = ((__u64)disk->major << 20 | disk->first_minor) + 1;
  for (__u32 i = 0; i < kDevices; ++i) {
    __u32 place = i;  // whose address is not the loop's
    struct DeviceTimes* times = bpf_map_lookup_elem(&device_times, &place);
    if (!times) return 0;
    if (times->device == device) return times;
    if (times->device != 0) continue;
    if (__sync_val_compare_and_swap(&times->device, 0, device) != 0) continue;
    bpf_probe_read_kernel_str(times->name.text, sizeof times->name.text, disk->disk_name);
    return times;
  }
  return 0;
}

// Several CPUs may do it at once.
static inline void add_shared_time(struct Times* times, __u64 ns) {
  __sync_fetch_and_add(&times->count, 1);
  __sync_fetch_and_add(&times->sum_ns, ns);
  __u32 bucket = bucket_of(ns);
  if (bucket < kBuckets) __sync_fetch_and_add(&times->buckets[bucket], 1);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request* request) {
  if (request->__data_len == 0) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 key = (__u64)request;
  bpf_map_update_elem(&issued, &key, &now, BPF_ANY);
  __u64 began = request->start_time_ns;
  struct DeviceTimes* times = began != 0 && began <= now ? times_of(request) : 0;
  if (times) add_shared_time(&times->waited, now - began);
  return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request* request, int error, unsigned int bytes) {
  __u64 key = (__u64)request;
  __u64* since = bpf_map_lookup_elem(&issued, &key);
  if (!since || bytes < request->__data_len) return 0;  // the rest is still under way
  __u64 began = *since;
  bpf_map_delete_elem(&issued, &key);
  struct DeviceTimes* times = times_of(request);
  if (times) add_shared_time(&times->served, bpf_ktime_get_ns() - began);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
