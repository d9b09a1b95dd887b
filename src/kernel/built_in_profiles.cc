// SPDX-License-Identifier: Apache-2.0
#include "kernel/built_in_profiles.h"

namespace strata::kernel {

// Every profile has the life of processes: a recording learns the names of new threads from there,
// and such events are rare. What is frequent and tells nothing new is left out: sched_wakeup after
// sched_waking, sched_stat_runtime, the state of the FPU at each entry into a guest.
const std::string_view kBuiltInProfiles = R"(
[system]
description = what the whole machine does, cheap enough to stay on (the default)
events = sched:sched_switch sched:sched_waking sched:sched_wakeup_new sched:sched_migrate_task
events = sched:sched_pi_setprio
# One of the two: each call would be there twice.
events = syscalls:*|raw_syscalls:*
# Of the vectors, the timer's: the others come with every wake-up of another CPU.
events = irq:* irq_vectors:local_timer_*
# Requests, and the devices that have none (device mapper, md, memory).
events = block:block_rq_* block:block_bio_queue block:block_bio_complete
events = net:net_dev_queue net:net_dev_xmit net:netif_receive_skb net:netif_rx
events = exceptions:*
events = power:cpu_idle power:cpu_frequency power:cpu_frequency_limits power:suspend_resume
events = sched:sched_process_fork sched:sched_process_exec sched:sched_process_exit
events = sched:sched_process_free task:task_newtask task:task_rename signal:*
events = kvm:kvm_entry kvm:kvm_exit kvm:kvm_userspace_exit kvm:kvm_vcpu_wakeup kvm:kvm_inj_virq
events = kvm:kvm_hypercall
# Rare, and a guest's clock follows from them.
events = kvm:kvm_write_tsc_offset kvm:kvm_track_tsc

[sched]
description = scheduling: switches, wake-ups, migrations, statistics, idle times
events = sched:* !sched:sched_wakeup !sched:sched_stat_runtime
events = task:task_newtask task:task_rename
events = power:cpu_idle ipi:* cpuhp:* cgroup:cgroup_attach_task

[io]
description = files and disks: system calls, file systems' own events, page cache, block layer
events = syscalls:sys_*_open* syscalls:sys_*_creat syscalls:sys_*_close* syscalls:sys_*_read*
events = syscalls:sys_*_write* syscalls:sys_*_pread* syscalls:sys_*_pwrite* syscalls:sys_*_sendfile*
events = syscalls:sys_*_splice syscalls:sys_*_copy_file_range syscalls:sys_*_*sync*
events = syscalls:sys_*_*truncate* syscalls:sys_*_fallocate syscalls:sys_*_unlink*
events = syscalls:sys_*_rename* syscalls:sys_*_mkdir* syscalls:sys_*_rmdir syscalls:sys_*_getdents*
events = syscalls:sys_*_io_*
events = ext4:* jbd2:* xfs:* btrfs:* f2fs:* erofs:* fuse:* overlayfs:* zonefs:* 9p:* netfs:*
events = nfs:* nfs4:* nfsd:* cifs:* ceph:* gfs2:* ocfs2:* fs_dax:* iomap:* filelock:*
events = writeback:* filemap:* readahead:* io_uring:*
events = block:* !block:block_touch_buffer !block:block_dirty_buffer
events = iocost:* wbt:* kyber:* bfq:* scsi:* nvme:* libata:* ufs:* mmc:* virtio_blk:*
events = sched:sched_process_* task:task_newtask task:task_rename

[net]
description = the network: system calls, sockets, TCP, queues, packets sent, received and dropped
events = syscalls:sys_*_socket* syscalls:sys_*_bind syscalls:sys_*_listen syscalls:sys_*_accept*
events = syscalls:sys_*_connect syscalls:sys_*_shutdown syscalls:sys_*_sendto
events = syscalls:sys_*_sendmsg syscalls:sys_*_sendmmsg syscalls:sys_*_recv*
events = net:* napi:* skb:* sock:* tcp:* mptcp:* udp:* icmp:* sctp:* qdisc:* neigh:* bridge:*
events = fib:* fib6:* netlink:* xdp:* vsock:* virtio_net:*
events = irq:softirq_*
events = sched:sched_process_* task:task_newtask task:task_rename

[mem]
description = memory: page faults, allocation, reclaim, compaction, huge pages, out of memory
events = exceptions:page_fault_* kmem:* vmscan:* compaction:* oom:* migrate:* mmap:* vmalloc:*
events = huge_memory:* thp:* hugetlbfs:* ksm:* pagemap:* percpu:* cma:* page_isolation:* tlb:*
events = swiotlb:* damon:*
events = syscalls:sys_*_mmap syscalls:sys_*_munmap syscalls:sys_*_mremap syscalls:sys_*_brk
events = syscalls:sys_*_madvise syscalls:sys_*_mprotect syscalls:sys_*_mlock*
events = filemap:mm_filemap_*
events = sched:sched_process_* task:task_newtask task:task_rename

[irq]
description = interrupts: handlers, vectors, softirqs, tasklets, between CPUs
events = irq:* irq_vectors:* irq_matrix:* ipi:* csd:* nmi:*
events = sched:sched_process_* task:task_newtask task:task_rename

[power]
description = power: idle states, frequencies, suspend, wake-up sources, temperature
events = power:* thermal:* thermal_power_allocator:* amd_cpu:* rpm:* clk:* regulator:* devfreq:*
events = cpuhp:* timer:tick_stop
events = sched:sched_process_* task:task_newtask task:task_rename

[lock]
description = locks: contention in the kernel, futexes, and who waits and is woken meanwhile
# Where lock debugging is built in, lock_acquire and lock_release come with every lock.
events = lock:contention_* lock:lock_contended lock:lock_acquired mmap_lock:* filelock:*
events = syscalls:sys_*_futex* syscalls:sys_*_flock
events = sched:sched_switch sched:sched_waking sched:sched_pi_setprio
events = sched:sched_process_* task:task_newtask task:task_rename

[vm]
description = virtual machines: all of KVM (exits, injections, IPIs, EOIs, MMIO, MSR, faults, MMU)
events = kvm:* !kvm:kvm_fpu kvmmmu:* kvm-s390:* kvm_hv:* kvm_pr:* hyperv:* vsock:*
# What happens to the threads that are its processors; KVM_RUN is an ioctl.
events = syscalls:sys_*_ioctl
events = sched:sched_switch sched:sched_waking sched:sched_wakeup_new sched:sched_migrate_task
events = sched:sched_process_* task:task_newtask task:task_rename

[all]
description = every event of this kernel: a great deal
events = *:*
)";

}  // namespace strata::kernel
