// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What a task's descriptors lead to.
#pragma once

#include "live/bpf/slots.bpf.h"

enum {
  kTypeMask = 0170000,  // of a file's mode
  kTypePipe = 0010000,
  kTypeSocket = 0140000,
  kLocalFamily = 1,
};
#define kTimerName 0x646672656d69745bull  // "[timerfd"

extern void* bpf_rdonly_cast(const void* address, __u32 type) __ksym;

static inline struct file* file_of(struct task_struct* task, __s32 descriptor) {
  struct file* file = 0;
  struct files_struct* files = task->files;
  if (!files) return 0;
  struct fdtable* table = files->fdt;
  if (descriptor < 0 || (__u32)descriptor >= table->max_fds) return 0;
  bpf_probe_read_kernel(&file, sizeof file, table->fd + descriptor);
  return bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));
}

// The same as state::wait_for() says of a file's kind.
static inline __u32 wait_for_file(struct file* file, __u32 otherwise) {
  if (!file) return otherwise;
  __u32 type = file->f_inode->i_mode & kTypeMask;
  if (type == kTypePipe) return kWaitsForPipe;
  if (type == kTypeSocket) {
    struct socket* socket =
        bpf_rdonly_cast(file->private_data, bpf_core_type_id_kernel(struct socket));
    return socket->sk->__sk_common.skc_family == kLocalFamily ? kWaitsForPipe : kWaitsForNet;
  }
  __u64 name = 0;
  bpf_probe_read_kernel(&name, sizeof name, file->f_path.dentry->d_name.name);
  return name == kTimerName ? kWaitsForTimer : otherwise;
}
