// SPDX-License-Identifier: Apache-2.0
#include "recording/lttng_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::recording {
namespace {

// An event of `system` called `name`, or, where that ends in '_', any whose name begins so, is
// LTTng's `as` (and the rest).
struct Rule {
  std::string_view system;
  std::string_view name;
  std::string_view as;

  bool applies(const trace::EventType& type) const {
    if (type.system != system) return false;
    return name.ends_with('_') ? type.name.starts_with(name) : type.name == name;
  }
};

// The names that lttng-modules declares (its master of July 2026). The first that applies.
constexpr auto kRules = std::to_array<Rule>({
    {"syscalls", "sys_enter_", "syscall_entry_"},
    {"syscalls", "sys_exit_", "syscall_exit_"},
    {"irq", "softirq_", "irq_softirq_"},
    {"timer", "hrtimer_", "timer_hrtimer_"},
    {"timer", "itimer_", "timer_itimer_"},
    {"kmem", "mm_page_", "kmem_mm_page_"},
    {"kmem", "kmalloc", "kmem_kmalloc"},
    {"kmem", "kmalloc_node", "kmem_kmalloc_node"},
    {"kmem", "kfree", "kmem_kfree"},
    {"net", "netif_", "net_if_"},
    {"net", "napi_gro_", "net_napi_gro_"},
    {"skb", "kfree_skb", "skb_kfree"},
    {"skb", "consume_skb", "skb_consume"},
    {"power", "cpu_idle", "power_cpu_idle"},
    {"power", "cpu_frequency", "power_cpu_frequency"},
    {"power", "machine_suspend", "power_machine_suspend"},
    {"power", "wakeup_source_", "power_wakeup_source_"},
    {"power", "clock_", "power_clock_"},
    {"exceptions", "page_fault_", "x86_exceptions_page_fault_"},
    {"irq_vectors", "vector_", "vector_"},  // LTTng does not have these
    {"irq_vectors", "x86_platform_ipi_", "x86_irq_vectors_ipi_"},
    {"preemptirq", "irq_", "preemptirq_irq_"},
    {"preemptirq", "preempt_", "preemptirq_preempt_"},
    {"printk", "console", "printk_console"},
    {"compaction", "mm_compaction_isolate_", "compaction_isolate_"},
    {"compaction", "mm_compaction_migratepages", "compaction_migratepages"},
    {"vmscan", "mm_shrink_slab_", "mm_vmscan_shrink_slab_"},
    {"writeback", "wbc_writepage", "writeback_wbc_writepage"},
    {"writeback", "balance_dirty_pages", "writeback_balance_dirty_pages"},
    {"writeback", "bdi_dirty_ratelimit", "writeback_bdi_dirty_ratelimit"},
    {"writeback", "global_dirty_state", "writeback_global_dirty_state"},
    {"kvm", "vcpu_match_mmio", "kvm_x86_vcpu_match_mmio"},
    {"kvmmmu", "fast_page_fault", "kvm_mmu_fast_page_fault"},
    {"kvmmmu", "mark_mmio_spte", "kvm_mmu_mark_mmio_spte"},
    {"kvmmmu", "handle_mmio_page_fault", "kvm_mmu_handle_mmio_page_fault"},
});

// Systems all of whose events have the system's name before their own.
constexpr auto kPrefixes = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"irq_vectors", "x86_irq_vectors_"}, {"random", "random_"}, {"asoc", "asoc_"}});

// Events of KVM that LTTng counts among those of x86; the others are called alike.
constexpr auto kKvmX86 = std::to_array<std::string_view>({"entry",
                                                          "hypercall",
                                                          "hv_hypercall",
                                                          "pio",
                                                          "cpuid",
                                                          "apic",
                                                          "exit",
                                                          "inj_virq",
                                                          "inj_exception",
                                                          "page_fault",
                                                          "msr",
                                                          "cr",
                                                          "pic_set_irq",
                                                          "apic_ipi",
                                                          "apic_accept_irq",
                                                          "eoi",
                                                          "pv_eoi",
                                                          "nested_vmrun",
                                                          "nested_intercepts",
                                                          "nested_vmexit",
                                                          "nested_vmexit_inject",
                                                          "nested_intr_vmexit",
                                                          "invlpga",
                                                          "skinit",
                                                          "emulate_insn",
                                                          "write_tsc_offset",
                                                          "update_master_clock",
                                                          "track_tsc"});

constexpr std::string_view kKvm = "kvm_";

}  // namespace

std::string lttng_name(const trace::EventType& type) {
  const std::string_view name = type.name;
  if (type.system == "kvm" && name.starts_with(kKvm)) {
    const std::string_view rest = name.substr(kKvm.size());
    if (std::ranges::find(kKvmX86, rest) != kKvmX86.end()) return "kvm_x86_" + std::string(rest);
  }
  for (const Rule& rule : kRules) {
    if (rule.applies(type))
      return std::string(rule.as) + std::string(name.substr(rule.name.size()));
  }
  for (const auto& [system, prefix] : kPrefixes) {
    if (type.system == system) return std::string(prefix) + type.name;
  }
  return type.name;
}

std::string lttng_field_name(const trace::EventType& type, std::string_view field) {
  constexpr std::string_view kPid = "pid";
  const bool is_pid = field == kPid || field.ends_with("_pid");
  if (type.system != "sched" || !is_pid) return std::string(field);
  return std::string(field.substr(0, field.size() - kPid.size())) + "tid";
}

uint32_t lttng_rwbs(std::string_view letters) {
  enum : uint32_t {
    kWrite = 1 << 0,
    kDiscard = 1 << 1,
    kRead = 1 << 2,
    kReadAhead = 1 << 3,
    kSync = 1 << 5,
    kMeta = 1 << 6,
    kSecure = 1 << 7,
    kFlush = 1 << 8,
    kFua = 1 << 9,
    kPreflush = 1 << 10,
  };
  constexpr std::string_view kOperations = "WDRNZ";
  uint32_t flags = 0;
  // An F before the operation asks for a flush first, one behind it for the data to reach the
  // medium; alone it is the operation.
  const bool has_operation = letters.find_first_of(kOperations) != std::string_view::npos;
  bool after_operation = false;
  for (const char letter : letters) {
    if (kOperations.find(letter) != std::string_view::npos) after_operation = true;
    switch (letter) {
      case 'W':
        flags |= kWrite;
        break;
      case 'D':
        flags |= kDiscard;
        break;
      case 'E':
        flags |= kSecure;
        break;
      case 'R':
        flags |= kRead;
        break;
      case 'A':
        flags |= kReadAhead;
        break;
      case 'S':
        flags |= kSync;
        break;
      case 'M':
        flags |= kMeta;
        break;
      case 'F':
        flags |= !has_operation ? kFlush : after_operation ? kFua : kPreflush;
        break;
      default:
        break;
    }
  }
  return flags;
}

}  // namespace strata::recording
