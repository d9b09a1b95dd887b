// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What goes through descriptors.
#pragma once

#include "live/bpf/files.bpf.h"

// As many as there is room for; who reads takes out those that nothing goes through any more.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, struct OpenKey);
  __type(value, struct OpenFile);
} open_files SEC(".maps");

enum { kFamily4 = 2, kFamily6 = 10 };

static inline struct sock_common* socket_of(struct file* file) {
  struct socket* socket =
      bpf_rdonly_cast(file->private_data, bpf_core_type_id_kernel(struct socket));
  return bpf_rdonly_cast(&socket->sk->__sk_common, bpf_core_type_id_kernel(struct sock_common));
}

static __attribute__((noinline)) int describe_open(struct file* file, struct OpenFile* open) {
  open->mode = file->f_inode->i_mode;
  bpf_probe_read_kernel_str(open->name, sizeof open->name, file->f_path.dentry->d_name.name);
  if ((open->mode & kTypeMask) != kTypeSocket) return 0;
  struct sock_common* socket = socket_of(file);
  open->family = socket->skc_family;
  open->port = socket->skc_dport;
  if (open->family == kFamily4)
    bpf_probe_read_kernel(open->address, 4, &socket->skc_daddr);
  else if (open->family == kFamily6)
    bpf_probe_read_kernel(open->address, 16, &socket->skc_v6_daddr);
  return 0;
}

// Null: there is no room, or no such file. `file` becomes what it leads to.
static __attribute__((noinline)) struct OpenFile* find_open(struct CpuSlot* cpu,
                                                            struct task_struct* task,
                                                            __s32 descriptor) {
  struct file* file = file_of(task, descriptor);
  if (!file) return 0;
  struct inode* inode = file->f_inode;
  struct OpenKey key = {.pid = task->tgid,
                        .descriptor = descriptor,
                        .device = inode->i_sb->s_dev,
                        .inode = inode->i_ino};
  struct OpenFile* open = bpf_map_lookup_elem(&open_files, &key);
  if (open) return open;
  struct OpenFile made = {};
  describe_open(file, &made);
  bpf_map_update_elem(&open_files, &key, &made, BPF_NOEXIST);
  open = bpf_map_lookup_elem(&open_files, &key);
  if (!open) __sync_fetch_and_add(&cpu->no_room, 1);
  return open;
}

static inline bool is_net(struct OpenFile* open) {
  return (open->mode & kTypeMask) == kTypeSocket && open->family != kLocalFamily;
}

// Threads of a process share its descriptors.
static void count_read(struct CpuSlot* cpu, struct TaskSlot* slot, struct task_struct* task,
                       __s32 descriptor, __u64 bytes, __u64 ns) {
  ++slot->reads;
  slot->read_bytes += bytes;
  slot->in_calls_ns += ns;
  struct OpenFile* open = find_open(cpu, task, descriptor);
  if (!open) return;
  if (is_net(open)) slot->net_read_bytes += bytes;
  __sync_fetch_and_add(&open->reads, 1);
  __sync_fetch_and_add(&open->read_bytes, bytes);
  __sync_fetch_and_add(&open->in_calls_ns, ns);
}

static void count_write(struct CpuSlot* cpu, struct TaskSlot* slot, struct task_struct* task,
                        __s32 descriptor, __u64 bytes, __u64 ns) {
  ++slot->writes;
  slot->written_bytes += bytes;
  slot->in_calls_ns += ns;
  struct OpenFile* open = find_open(cpu, task, descriptor);
  if (!open) return;
  if (is_net(open)) slot->net_written_bytes += bytes;
  __sync_fetch_and_add(&open->writes, 1);
  __sync_fetch_and_add(&open->written_bytes, bytes);
  __sync_fetch_and_add(&open->in_calls_ns, ns);
}

// A call has returned. `other`: the descriptor that a transfer leads to.
static inline void count_traffic(struct CpuSlot* cpu, struct TaskSlot* slot, __u32 traffic,
                                 __s32 other, long result, __u64 ns) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  if (traffic == kReads || traffic == kTransfers)
    count_read(cpu, slot, task, slot->descriptor, result, ns);
  if (traffic == kWrites) count_write(cpu, slot, task, slot->descriptor, result, ns);
  if (traffic == kTransfers) count_write(cpu, slot, task, other, result, 0);
}
