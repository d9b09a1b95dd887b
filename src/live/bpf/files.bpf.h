// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What a task's descriptors lead to.
#pragma once

#include "slots.bpf.h"

enum {
  kTypeMask = 0170000,  // of a file's mode
  kTypePipe = 0010000,
  kTypeSocket = 0140000,
  kLocalFamily = 1,
};
#define kTimerName 0x646672656d69745bull  // "[timerfd"

static inline struct file* file_of(struct task_struct* task, __s32 descriptor) {
  struct file* file = 0;
  struct files_struct* files = task->files;
  if (!files) return 0;
  struct fdtable* table = files->fdt;
  if (descriptor < 0 || (__u32)descriptor >= table->max_fds) return 0;
  bpf_probe_read_kernel(&file, sizeof file, table->fd + descriptor);
  return file;
}

// The same as state::wait_for() says of a file's kind.
static inline __u32 wait_for_file(struct file* file, __u32 otherwise) {
  __u32 type = BPF_CORE_READ(file, f_inode, i_mode) & kTypeMask;
  if (type == kTypePipe) return kWaitsForPipe;
  if (type == kTypeSocket) {
    struct socket* socket = BPF_CORE_READ(file, private_data);
    return BPF_CORE_READ(socket, sk, __sk_common.skc_family) == kLocalFamily ? kWaitsForPipe
                                                                             : kWaitsForNet;
  }
  __u64 name = 0;
  bpf_probe_read_kernel(&name, sizeof name, BPF_CORE_READ(file, f_path.dentry, d_name.name));
  return name == kTimerName ? kWaitsForTimer : otherwise;
}
