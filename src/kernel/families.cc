// SPDX-License-Identifier: Apache-2.0
#include "kernel/families.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"

namespace strata::kernel {
namespace {

struct Row {
  Family family;
  std::string_view words;  // with blanks between them
};

// Whole systems.
constexpr auto kSystems = std::to_array<Row>({
    {Family::VmProcessor, "kvm kvm-s390 kvm_hv kvm_pr hyperv"},
    {Family::VmMemory, "kvmmmu"},
    {Family::Processor,
     "sched task signal irq softirq tasklet irq_vectors irq_matrix ipi csd nmi timer hrtimer "
     "itimer "
     "timer_migration alarmtimer workqueue lock rcu cpuhp power thermal thermal_power_allocator "
     "amd_cpu exceptions msr x86_fpu rseq mce preemptirq osnoise"},
    {Family::Memory,
     "kmem vmscan compaction oom migrate mmap mmap_lock vmalloc huge_memory thp hugetlbfs ksm "
     "pagemap percpu memcg cma page_isolation page_ref tlb swiotlb damon maple_tree mm"},
    {Family::Disk, "block scsi nvme libata ata ufs mmc bcache kyber wbt iocost bfq virtio_blk md"},
    {Family::FileSystem,
     "ext4 jbd2 xfs btrfs f2fs erofs fuse overlayfs zonefs 9p netfs cachefiles fscache nfs nfs4 "
     "nfsd cifs smb3 ceph gfs2 ocfs2 afs fs_dax iomap filelock writeback filemap readahead "
     "io_uring timestamp"},
    {Family::Network,
     "net napi skb sock tcp mptcp udp icmp sctp qdisc neigh bridge fib fib6 netlink xdp vsock "
     "page_pool virtio_net sunrpc rxrpc tls handshake mac80211 cfg80211 devlink rdma_core netif"},
});

// Events that are not of their system's family.
struct Exception {
  std::string_view system;
  Family family;
  std::string_view names;  // globs
};
constexpr auto kExceptions = std::to_array<Exception>({
    {"kvm", Family::VmMemory,
     "*page_fault* *async_pf* *try_async_get_page *_hva* *dirty_ring* *mmu_* *pml_full *tlb* "
     "*invlpga *rmp_fault *nested_page_fault"},
    {"exceptions", Family::Memory, "*page_fault_*"},
});

// System calls, by what they work on; the first that matches. Others belong to nothing special.
constexpr auto kCalls = std::to_array<Row>({
    {Family::FileSystem,
     "open open_* openat* creat close close_range read readv readlink* readahead write writev "
     "pread* pwrite* sendfile* splice tee copy_file_range lseek llseek *stat *stat64 *statat* "
     "statx statfs* fstatfs* getdents* readdir access faccessat* chdir fchdir mkdir* rmdir "
     "unlink* rename* link linkat symlink* chmod fchmod* chown fchown* lchown utime* futimesat "
     "file_* truncate* ftruncate* fallocate fadvise64* fsync fdatasync sync syncfs "
     "sync_file_range flock fcntl* mknod* *mount* umask chroot pivot_root getcwd *xattr* "
     "inotify_* fanotify_* io_* quotactl* name_to_handle_at fsopen fsconfig fspick fsmount"},
    {Family::Network,
     "socket socketpair socketcall bind listen accept accept4 connect shutdown send sendto "
     "sendmsg sendmmsg recv recvfrom recvmsg recvmmsg getsockopt setsockopt getsockname "
     "getpeername sethostname setdomainname"},
    {Family::Memory,
     "mmap* munmap mremap mprotect brk madvise process_madvise mlock* munlock* msync mincore "
     "mbind *_mempolicy* move_pages migrate_pages memfd_* pkey_* remap_file_pages mseal "
     "map_shadow_stack userfaultfd process_vm_* process_mrelease swapon swapoff shmat shmdt "
     "shmget shmctl"},
    {Family::Processor,
     "sched_* *nanosleep futex* fork vfork clone clone3 execve execveat exit exit_group wait4 "
     "waitid kill tkill tgkill rt_sig* pause alarm *timer* *priority nice getcpu membarrier rseq "
     "ioprio_* clock_* gettimeofday settimeofday time times"},
});

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

struct FamilyGlob {
  Glob glob;
  Family family;
};

const std::map<std::string_view, Family>& systems() {
  static const auto table = [] {
    std::map<std::string_view, Family> all;
    for (const Row& row : kSystems)
      for (std::string_view system : words_of(row.words)) all.emplace(system, row.family);
    return all;
  }();
  return table;
}

std::vector<FamilyGlob> globs_of(Family family, std::string_view words) {
  std::vector<FamilyGlob> globs;
  for (std::string_view word : words_of(words)) globs.push_back({Glob(std::string(word)), family});
  return globs;
}

const std::map<std::string_view, std::vector<FamilyGlob>>& exceptions() {
  static const auto table = [] {
    std::map<std::string_view, std::vector<FamilyGlob>> all;
    for (const Exception& row : kExceptions)
      all.emplace(row.system, globs_of(row.family, row.names));
    return all;
  }();
  return table;
}

const std::vector<FamilyGlob>& calls() {
  static const auto table = [] {
    std::vector<FamilyGlob> all;
    for (const Row& row : kCalls)
      for (FamilyGlob& glob : globs_of(row.family, row.words)) all.push_back(std::move(glob));
    return all;
  }();
  return table;
}

std::optional<Family> first_match(const std::vector<FamilyGlob>& globs, std::string_view text) {
  for (const FamilyGlob& row : globs)
    if (row.glob.matches(text)) return row.family;
  return std::nullopt;
}

// The system call whose entry or exit this is.
std::optional<std::string_view> call_of(std::string_view system, std::string_view name) {
  if (!system.empty() && system != "syscalls") return std::nullopt;
  for (std::string_view begin : {"sys_enter_", "sys_exit_", "syscall_entry_", "syscall_exit_",
                                 "compat_syscall_entry_", "compat_syscall_exit_"}) {
    if (!name.starts_with(begin)) continue;
    std::string_view call = name.substr(begin.size());
    if (call.starts_with("new")) call.remove_prefix(3);  // the kernel's newfstat is fstat
    return call;
  }
  return std::nullopt;
}

// The system that a name without one begins with: "irq" of "irq_softirq_entry"; the longest.
std::string_view system_of(std::string_view name) {
  if (name.starts_with("x86_")) name.remove_prefix(4);
  for (size_t end = name.rfind('_'); end != std::string_view::npos && end > 0;
       end = name.rfind('_', end - 1)) {
    if (systems().contains(name.substr(0, end))) return name.substr(0, end);
  }
  return "";
}

}  // namespace

std::string_view name_of(Family family) {
  switch (family) {
    case Family::VmProcessor:
      return "VM processor";
    case Family::VmMemory:
      return "VM memory";
    case Family::Processor:
      return "processor";
    case Family::Memory:
      return "memory";
    case Family::Disk:
      return "disk";
    case Family::FileSystem:
      return "file system";
    case Family::Network:
      return "network";
    case Family::Other:
      return "other";
  }
  return "";
}

Family family_of(std::string_view system, std::string_view name) {
  if (const auto call = call_of(system, name))
    return first_match(calls(), *call).value_or(Family::Other);
  if (system.empty()) system = system_of(name);
  if (const auto rules = exceptions().find(system); rules != exceptions().end())
    if (const auto family = first_match(rules->second, name)) return *family;
  const auto family = systems().find(system);
  return family == systems().end() ? Family::Other : family->second;
}

}  // namespace strata::kernel
