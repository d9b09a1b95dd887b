// SPDX-License-Identifier: Apache-2.0
#include "kernel/families.h"

#include <gtest/gtest.h>

namespace strata::kernel {
namespace {

TEST(Families, TellWhatAnEventIsAbout) {
  EXPECT_EQ(family_of("kvm", "kvm_exit"), Family::VmProcessor);
  EXPECT_EQ(family_of("kvm", "kvm_inj_virq"), Family::VmProcessor);
  EXPECT_EQ(family_of("kvm", "kvm_page_fault"), Family::VmMemory);
  EXPECT_EQ(family_of("kvm", "kvm_unmap_hva_range"), Family::VmMemory);
  EXPECT_EQ(family_of("kvmmmu", "kvm_mmu_get_page"), Family::VmMemory);
  EXPECT_EQ(family_of("sched", "sched_switch"), Family::Processor);
  EXPECT_EQ(family_of("irq", "softirq_entry"), Family::Processor);
  EXPECT_EQ(family_of("exceptions", "page_fault_user"), Family::Memory);
  EXPECT_EQ(family_of("kmem", "kmalloc"), Family::Memory);
  EXPECT_EQ(family_of("block", "block_rq_issue"), Family::Disk);
  EXPECT_EQ(family_of("ext4", "ext4_sync_fs"), Family::FileSystem);
  EXPECT_EQ(family_of("net", "net_dev_xmit"), Family::Network);
  EXPECT_EQ(family_of("raw_syscalls", "sys_enter"), Family::Other);
  EXPECT_EQ(family_of("my_app", "sched_switch"), Family::Other);
  EXPECT_EQ(family_of("", ""), Family::Other);
}

TEST(Families, ASystemCallBelongsToWhatItWorksOn) {
  EXPECT_EQ(family_of("syscalls", "sys_enter_openat"), Family::FileSystem);
  EXPECT_EQ(family_of("syscalls", "sys_exit_newfstat"), Family::FileSystem);
  EXPECT_EQ(family_of("syscalls", "sys_enter_sendfile64"), Family::FileSystem);
  EXPECT_EQ(family_of("syscalls", "sys_enter_sendto"), Family::Network);
  EXPECT_EQ(family_of("syscalls", "sys_exit_mmap"), Family::Memory);
  EXPECT_EQ(family_of("syscalls", "sys_exit_futex"), Family::Processor);
  EXPECT_EQ(family_of("syscalls", "sys_enter_ioctl"), Family::Other);
}

TEST(Families, LttngsNamesHaveNoSystem) {
  EXPECT_EQ(family_of("", "kvm_x86_exit"), Family::VmProcessor);
  EXPECT_EQ(family_of("", "kvm_x86_page_fault"), Family::VmMemory);
  EXPECT_EQ(family_of("", "sched_switch"), Family::Processor);
  EXPECT_EQ(family_of("", "softirq_raise"), Family::Processor);
  EXPECT_EQ(family_of("", "x86_irq_vectors_local_timer_entry"), Family::Processor);
  EXPECT_EQ(family_of("", "x86_exceptions_page_fault_user"), Family::Memory);
  EXPECT_EQ(family_of("", "mm_vmscan_kswapd_sleep"), Family::Memory);
  EXPECT_EQ(family_of("", "block_rq_issue"), Family::Disk);
  EXPECT_EQ(family_of("", "net_if_receive_skb"), Family::Network);
  EXPECT_EQ(family_of("", "syscall_entry_openat"), Family::FileSystem);
  EXPECT_EQ(family_of("", "compat_syscall_exit_recvmsg"), Family::Network);
  EXPECT_EQ(family_of("", "lttng_statedump_start"), Family::Other);
}

TEST(Families, HaveNamesThatDiffer) {
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    EXPECT_FALSE(name_of(kFamilies[i]).empty());
    for (size_t j = 0; j < i; ++j) EXPECT_NE(name_of(kFamilies[i]), name_of(kFamilies[j]));
  }
}

}  // namespace
}  // namespace strata::kernel
