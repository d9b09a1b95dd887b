// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The kernel's own types, as far as the programs use them: libbpf finds the fields in the kernel
// that the programs are loaded into.
#pragma once

// The second has no types without the first.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef int bool;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
  __u32 val;
} kuid_t;

struct cred {
  kuid_t uid;
};

struct thread_info {
  __u32 cpu;
};

struct percpu_counter {
  __s64 count;
};

struct mm_struct {
  struct percpu_counter rss_stat[4];  // of files, anonymous, of swap entries, shared
};

struct kernfs_node {
  __u64 id;
};

struct cgroup {
  struct kernfs_node* kn;
};

struct cgroup_subsys_state {
  struct cgroup* cgroup;
};

struct css_set {
  struct cgroup_subsys_state* subsys[16];
  struct cgroup* dfl_cgrp;
};

struct in6_addr {};

struct sock_common {
  __u32 skc_daddr;
  __u16 skc_dport;
  unsigned short skc_family;
  struct in6_addr skc_v6_daddr;
};

struct sock {
  struct sock_common __sk_common;
};

struct socket {
  struct sock* sk;
};

struct qstr {
  const unsigned char* name;
};

struct dentry {
  struct qstr d_name;
};

struct path {
  struct dentry* dentry;
};

struct super_block {
  __u32 s_dev;
};

struct inode {
  unsigned short i_mode;
  struct super_block* i_sb;
  unsigned long i_ino;
};

struct file {
  void* private_data;
  struct inode* f_inode;
  struct path f_path;
};

struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};

struct files_struct {
  struct fdtable* fdt;
};

// Of x86, and with a system call's arguments.
struct pt_regs {
  unsigned long di;
  unsigned long si;
  unsigned long dx;
};

struct task_io_accounting {
  __u64 read_bytes;
  __u64 write_bytes;
};

struct sched_entity {
  __u64 sum_exec_runtime;
};

struct task_struct {
  struct thread_info thread_info;
  unsigned int __state;
  unsigned int flags;
  int on_cpu;
  struct sched_entity se;
  struct mm_struct* mm;
  int exit_state;
  int exit_code;
  unsigned int in_iowait : 1;
  int pid;
  int tgid;
  __u64 utime;
  __u64 stime;
  __u64 start_time;
  unsigned long min_flt;
  unsigned long maj_flt;
  const struct cred* real_cred;
  char comm[16];
  struct css_set* cgroups;
  struct files_struct* files;
  struct task_io_accounting ioac;
};

struct bpf_iter__task {
  struct task_struct* task;
};

struct irqaction {
  const char* name;
};

struct gendisk {
  int major;
  int first_minor;
  char disk_name[32];
};

struct request_queue {
  struct gendisk* disk;
};

struct request {
  struct request_queue* q;
  unsigned int __data_len;
  __u64 start_time_ns;
};

#pragma clang attribute pop

enum cgroup_subsys_id { cpu_cgrp_id = 1 };  // whatever it is in the kernel
