// SPDX-License-Identifier: Apache-2.0
#include "state/vm.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

uint64_t ns_in(const Vcpu& vcpu, VcpuState state) { return vcpu.ns[static_cast<size_t>(state)]; }

const ExitSum& exit_of(const Told& told, const Vcpu& vcpu, std::string_view reason) {
  for (const auto& [name, sum] : vcpu.exits)
    if (told.engine.names().text(name) == reason) return sum;
  static const ExitSum kNone;
  return kNone;
}

TEST(VcpuName, TellsTheNumber) {
  EXPECT_EQ(vcpu_number_in("CPU 3/KVM"), 3u);
  EXPECT_EQ(vcpu_number_in("vcpu12"), 12u);
  EXPECT_EQ(vcpu_number_in("fc_vcpu 1"), 1u);
  EXPECT_EQ(vcpu_number_in("kvm-vcpu-7"), 7u);
  EXPECT_EQ(vcpu_number_in("crosvm_vcpu0"), 0u);
  EXPECT_EQ(vcpu_number_in("CPU 0/TCG"), std::nullopt);
  EXPECT_EQ(vcpu_number_in("vcpu"), std::nullopt);
  EXPECT_EQ(vcpu_number_in("bash"), std::nullopt);
}

TEST(ExitReason, IsInTheWordsOfTheProcessorsMaker) {
  EXPECT_EQ(exit_reason_name(1, 12), "HLT");
  EXPECT_EQ(exit_reason_name(1, 48), "EPT_VIOLATION");
  EXPECT_EQ(exit_reason_name(2, 0x078), "hlt");
  EXPECT_EQ(exit_reason_name(2, 0x400), "npf");
  EXPECT_EQ(exit_reason_name(0, 12), "");
  EXPECT_EQ(arm_exit_name(0, 0), "IRQ");
  EXPECT_EQ(arm_exit_name(2, 0x01), "WFx");
  EXPECT_EQ(arm_exit_name(2, 0x24), "DABT_LOW");
  EXPECT_EQ(arm_exit_name(0x80000002, 0x16), "HVC64") << "an error came along";
  EXPECT_EQ(arm_exit_name(2, 0x3f), "");
}

// Of ARM the kernel tells neither the CPU's number nor an isa.
TEST(Vcpu, OnArmIsNumberedByItsThreadAndHaltsWithWfi) {
  Told told(0);
  told.at(0, 0, 1).switches(1, 1, 7, "CPU 5/KVM");
  told.at(10, 0, 7).event("kvm", "kvm_entry", {{"vcpu_pc", 0}});
  told.at(30, 0, 7).event("kvm", "kvm_exit", {{"ret", 2}, {"esr_ec", 1}, {"vcpu_pc", 0}});
  told.at(35, 0, 7).switches(7, 1, 0);
  told.at(60, 0, 0).wakes(7);
  told.engine.settle_all(80);
  const Vcpu& vcpu = told.engine.vms().vcpus().at(0);
  EXPECT_EQ(vcpu.number, 5u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Unknown), 10u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Guest), 20u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Hypervisor), 5u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Halted), 25u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Preempted), 20u) << "it could run, and does not";
  EXPECT_EQ(exit_of(told, vcpu, "WFx").count, 1u);
  EXPECT_EQ(exit_of(told, vcpu, "WFx").kernel_ns, 5u);
}

TEST(Vcpu, WithoutSystemCallsTheProgramIsAtWorkFromTheUserExitOn) {
  Told told(0);
  told.at(0, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(10, 0, 7).event("kvm", "kvm_exit", {{"exit_reason", 30}, {"isa", 1}, {"vcpu_id", 0}});
  told.at(14, 0, 7).event("kvm", "kvm_pio", {{"rw", 1}});
  told.at(15, 0, 7).event("kvm", "kvm_userspace_exit", {{"reason", 2}});
  told.at(40, 0, 7).event("kvm", "kvm_inj_virq", {{"irq", 3}});
  told.at(50, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.engine.settle_all(60);
  const Vcpu& vcpu = told.engine.vms().vcpus().at(0);
  EXPECT_EQ(exit_of(told, vcpu, "IO_INSTRUCTION").kernel_ns, 5u);
  EXPECT_EQ(exit_of(told, vcpu, "IO_INSTRUCTION").user_ns, 35u);
  EXPECT_EQ(ns_in(vcpu, VcpuState::Guest), 20u);
  EXPECT_EQ(vcpu.events[static_cast<size_t>(VcpuEvent::Pio)], 1u);
  EXPECT_EQ(vcpu.events[static_cast<size_t>(VcpuEvent::Injection)], 1u);
  EXPECT_EQ(vcpu.events[static_cast<size_t>(VcpuEvent::Msr)], 0u);
}

TEST(Vcpu, AfterALossNobodyKnowsWhoHandlesTheExit) {
  Told told(0);
  told.at(0, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(10, 0, 7).event("kvm", "kvm_exit", {{"exit_reason", 30}, {"isa", 1}, {"vcpu_id", 0}});
  told.at(30, 0, 7).lost().event("irq", "softirq_raise", {{"vec", 1}});
  told.engine.settle_all(50);
  EXPECT_EQ(ns_in(told.engine.vms().vcpus().at(0), VcpuState::Unknown), 40u);
}

// A tracer of our own for another hypervisor may tell the reason in words.
TEST(Vcpu, AReasonThatIsATextIsTaken) {
  Told told(0);
  told.at(0, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(10, 0, 7).event("kvm", "kvm_exit", {{"exit_reason", 0, "hypercall"}});
  told.engine.settle_all(50);
  EXPECT_EQ(exit_of(told, told.engine.vms().vcpus().at(0), "hypercall").count, 1u);
}

TEST(Vm, IsTheProcessOfItsThreadsAlsoWhereThatIsToldLate) {
  Told told(0);
  told.at(0, 0, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(0, 1, 8).event("kvm", "kvm_entry", {{"vcpu_id", 1}});
  EXPECT_NE(told.engine.vms().vcpus()[0].vm, told.engine.vms().vcpus()[1].vm);
  for (const int32_t tid : {7, 8}) told.at(10, 2, 9).state_of_task(tid, 5);
  ASSERT_EQ(told.engine.vms().vcpus().size(), 2u);
  EXPECT_EQ(told.engine.vms().vcpus()[0].vm, told.engine.vms().vcpus()[1].vm);
  const Vm& vm = told.engine.vms().vms()[told.engine.vms().vcpus()[0].vm];
  EXPECT_EQ(vm.process, Tid{5});
  EXPECT_EQ(vm.vcpus.size(), 2u);
  EXPECT_EQ(told.engine.vm_name(told.engine.vms().vcpus()[0].vm), "vm-5");
}

TEST(Vm, IsWhatOneThreadMadeWhereNoProcessIsTold) {
  Told told(0);
  const auto makes = [&](int32_t tid) {
    told.at(0, 0, 5).event("sched", "sched_process_fork",
                           {{"child_pid", tid}, {"child_comm", 0, "t"}});
  };
  for (const int32_t tid : {7, 8, 9}) makes(tid);
  told.at(10, 1, 7).event("kvm", "kvm_entry", {{"vcpu_id", 0}});
  told.at(10, 2, 8).event("kvm", "kvm_entry", {{"vcpu_id", 1}});
  told.at(10, 3, 9).event("kvm", "kvm_entry", {{"vcpu_id", 1}});
  const std::vector<Vcpu>& vcpus = told.engine.vms().vcpus();
  EXPECT_EQ(vcpus[0].vm, vcpus[1].vm);
  EXPECT_NE(vcpus[0].vm, vcpus[2].vm) << "one machine has no two CPUs of one number";
}

TEST(Vms, ANumberThatWasOnlyCountedGivesWayToOneThatIsTold) {
  Vms vms;
  const VmIndex vm = vms.vm_of(Tid{5});
  const VcpuIndex counted = vms.vcpu_of(vm, std::nullopt, 0);
  EXPECT_EQ(vms.vcpus()[counted].number, 0u);
  const VcpuIndex told = vms.vcpu_of(vm, 0, 0);
  EXPECT_NE(told, counted);
  EXPECT_EQ(vms.vcpus()[told].number, 0u);
  EXPECT_EQ(vms.vcpus()[counted].number, 1u);
  EXPECT_EQ(vms.vcpu_of(vm, 0, 0), told);
}

}  // namespace
}  // namespace strata::state
