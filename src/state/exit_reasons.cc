// SPDX-License-Identifier: Apache-2.0
//
// From the processors' manuals: Intel SDM volume 3 appendix C, AMD APM volume 2 appendix C, Arm ARM
// (ESR_ELx.EC); the latter's in the words of the kernel.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "state/vm.h"

namespace strata::state {
namespace {

constexpr uint32_t kVmx = 1;
constexpr uint32_t kSvm = 2;

constexpr std::array<std::string_view, 76> kVmxReasons = {"EXCEPTION_NMI",
                                                          "EXTERNAL_INTERRUPT",
                                                          "TRIPLE_FAULT",
                                                          "INIT_SIGNAL",
                                                          "SIPI_SIGNAL",
                                                          "IO_SMI",
                                                          "OTHER_SMI",
                                                          "INTERRUPT_WINDOW",
                                                          "NMI_WINDOW",
                                                          "TASK_SWITCH",
                                                          "CPUID",
                                                          "GETSEC",
                                                          "HLT",
                                                          "INVD",
                                                          "INVLPG",
                                                          "RDPMC",
                                                          "RDTSC",
                                                          "RSM",
                                                          "VMCALL",
                                                          "VMCLEAR",
                                                          "VMLAUNCH",
                                                          "VMPTRLD",
                                                          "VMPTRST",
                                                          "VMREAD",
                                                          "VMRESUME",
                                                          "VMWRITE",
                                                          "VMOFF",
                                                          "VMON",
                                                          "CR_ACCESS",
                                                          "DR_ACCESS",
                                                          "IO_INSTRUCTION",
                                                          "MSR_READ",
                                                          "MSR_WRITE",
                                                          "INVALID_STATE",
                                                          "MSR_LOAD_FAIL",
                                                          "",
                                                          "MWAIT_INSTRUCTION",
                                                          "MONITOR_TRAP_FLAG",
                                                          "",
                                                          "MONITOR_INSTRUCTION",
                                                          "PAUSE_INSTRUCTION",
                                                          "MCE_DURING_VMENTRY",
                                                          "",
                                                          "TPR_BELOW_THRESHOLD",
                                                          "APIC_ACCESS",
                                                          "EOI_INDUCED",
                                                          "GDTR_IDTR",
                                                          "LDTR_TR",
                                                          "EPT_VIOLATION",
                                                          "EPT_MISCONFIG",
                                                          "INVEPT",
                                                          "RDTSCP",
                                                          "PREEMPTION_TIMER",
                                                          "INVVPID",
                                                          "WBINVD",
                                                          "XSETBV",
                                                          "APIC_WRITE",
                                                          "RDRAND",
                                                          "INVPCID",
                                                          "VMFUNC",
                                                          "ENCLS",
                                                          "RDSEED",
                                                          "PML_FULL",
                                                          "XSAVES",
                                                          "XRSTORS",
                                                          "PCONFIG",
                                                          "SPP_EVENT",
                                                          "UMWAIT",
                                                          "TPAUSE",
                                                          "LOADIWKEY",
                                                          "",
                                                          "",
                                                          "ENQCMD_PASID_FAULT",
                                                          "ENQCMDS_PASID_FAULT",
                                                          "BUS_LOCK",
                                                          "NOTIFY"};

constexpr std::pair<uint32_t, std::string_view> kSvmReasons[] = {
    {0x060, "interrupt"},
    {0x061, "nmi"},
    {0x062, "smi"},
    {0x063, "init"},
    {0x064, "vintr"},
    {0x065, "cr0_sel_write"},
    {0x066, "idtr_read"},
    {0x067, "gdtr_read"},
    {0x068, "ldtr_read"},
    {0x069, "tr_read"},
    {0x06a, "idtr_write"},
    {0x06b, "gdtr_write"},
    {0x06c, "ldtr_write"},
    {0x06d, "tr_write"},
    {0x06e, "rdtsc"},
    {0x06f, "rdpmc"},
    {0x070, "pushf"},
    {0x071, "popf"},
    {0x072, "cpuid"},
    {0x073, "rsm"},
    {0x074, "iret"},
    {0x075, "swint"},
    {0x076, "invd"},
    {0x077, "pause"},
    {0x078, "hlt"},
    {0x079, "invlpg"},
    {0x07a, "invlpga"},
    {0x07b, "io"},
    {0x07c, "msr"},
    {0x07d, "task_switch"},
    {0x07e, "ferr_freeze"},
    {0x07f, "shutdown"},
    {0x080, "vmrun"},
    {0x081, "vmmcall"},
    {0x082, "vmload"},
    {0x083, "vmsave"},
    {0x084, "stgi"},
    {0x085, "clgi"},
    {0x086, "skinit"},
    {0x087, "rdtscp"},
    {0x088, "icebp"},
    {0x089, "wbinvd"},
    {0x08a, "monitor"},
    {0x08b, "mwait"},
    {0x08c, "mwait_cond"},
    {0x08d, "xsetbv"},
    {0x08e, "rdpru"},
    {0x08f, "efer_write_trap"},
    {0x0a2, "invpcid"},
    {0x0a5, "bus_lock"},
    {0x0a6, "idle_hlt"},
    {0x400, "npf"},
    {0x401, "avic_incomplete_ipi"},
    {0x402, "avic_unaccelerated_access"},
    {0x403, "vmgexit"},
};
static_assert(std::ranges::is_sorted(kSvmReasons, {},
                                     &std::pair<uint32_t, std::string_view>::first));

// Ranges in which the exit's number says which register or exception it was.
constexpr std::pair<uint32_t, std::string_view> kArmTraps[] = {
    {0x00, "UNKNOWN"},     {0x01, "WFx"},         {0x03, "CP15_32"},     {0x04, "CP15_64"},
    {0x05, "CP14_MR"},     {0x06, "CP14_LS"},     {0x07, "FP_ASIMD"},    {0x08, "CP10_ID"},
    {0x09, "PAC"},         {0x0c, "CP14_64"},     {0x0e, "ILL"},         {0x11, "SVC32"},
    {0x12, "HVC32"},       {0x13, "SMC32"},       {0x15, "SVC64"},       {0x16, "HVC64"},
    {0x17, "SMC64"},       {0x18, "SYS64"},       {0x19, "SVE"},         {0x1a, "ERET"},
    {0x1c, "FPAC"},        {0x1d, "SME"},         {0x1f, "IMP_DEF"},     {0x20, "IABT_LOW"},
    {0x21, "IABT_CUR"},    {0x22, "PC_ALIGN"},    {0x24, "DABT_LOW"},    {0x25, "DABT_CUR"},
    {0x26, "SP_ALIGN"},    {0x27, "MOPS"},        {0x28, "FP_EXC32"},    {0x2c, "FP_EXC64"},
    {0x2f, "SERROR"},      {0x30, "BREAKPT_LOW"}, {0x31, "BREAKPT_CUR"}, {0x32, "SOFTSTP_LOW"},
    {0x33, "SOFTSTP_CUR"}, {0x34, "WATCHPT_LOW"}, {0x35, "WATCHPT_CUR"}, {0x38, "BKPT32"},
    {0x3a, "VECTOR32"},    {0x3c, "BRK64"},
};

std::string_view name_in(std::span<const std::pair<uint32_t, std::string_view>> names,
                         uint64_t number) {
  const auto found =
      std::ranges::lower_bound(names, number, {}, &std::pair<uint32_t, std::string_view>::first);
  return found != names.end() && found->first == number ? found->second : std::string_view();
}

std::string_view svm_range(uint64_t reason) {
  if (reason < 0x10) return "cr_read";
  if (reason < 0x20) return "cr_write";
  if (reason < 0x30) return "dr_read";
  if (reason < 0x40) return "dr_write";
  if (reason < 0x60) return reason == 0x4e ? "page_fault" : "exception";
  return {};
}

}  // namespace

std::string_view exit_reason_name(uint32_t isa, uint64_t reason) {
  if (isa == kVmx) {
    reason &= 0xffff;  // above are flags
    return reason < kVmxReasons.size() ? kVmxReasons[reason] : std::string_view();
  }
  if (isa != kSvm) return {};
  if (const std::string_view range = svm_range(reason); !range.empty()) return range;
  return name_in(kSvmReasons, reason);
}

std::string_view arm_exit_name(uint64_t reason, uint64_t trap_class) {
  constexpr uint64_t kWithError = uint64_t{1} << 31;  // an error came along
  switch (reason & ~kWithError & 0xffffffff) {
    case 0:
      return "IRQ";
    case 1:
      return "SERROR";
    case 2:
      return name_in(kArmTraps, trap_class);
    case 3:
      return "ILLEGAL";
    default:
      return {};
  }
}

}  // namespace strata::state
