// SPDX-License-Identifier: Apache-2.0
//
// A real host and its guest, recorded with LTTng: what the engine says of virtual CPUs, against the
// raw entries and exits.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "recording/open.h"
#include "state/pass.h"
#include "support/corpus.h"
#include "trace/merge.h"

namespace strata::state {
namespace {

struct Raw {
  std::map<Tid, uint64_t> guest_ns;
  std::map<std::pair<Tid, uint64_t>, uint64_t> exits;  // by thread and reason
  std::map<Tid, uint64_t> ports;
  std::map<Tid, uint64_t> injections;
};

Raw raw_of(const trace::Trace& trace) {
  Raw found;
  std::map<CpuId, int64_t> entered;
  trace::Merge merge(trace.open_streams());
  while (merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    const std::string& name = event.type->name;
    if (name == "kvm_x86_entry") entered[event.cpu] = event.time.count;
    if (name == "kvm_x86_pio") ++found.ports[event.tid()];
    if (name == "kvm_x86_inj_virq") ++found.injections[event.tid()];
    if (name != "kvm_x86_exit") continue;
    ++found.exits[{event.tid(),
                   static_cast<uint64_t>(*event.integer(event.type->ref("exit_reason")))}];
    if (const auto entry = entered.find(event.cpu); entry != entered.end())
      found.guest_ns[event.tid()] += static_cast<uint64_t>(event.time.count - entry->second);
    entered.erase(event.cpu);
  }
  return found;
}

class NestedKvm : public testing::Test {
 protected:
  void SetUp() override {
    const auto corpus = test::corpus();
    if (!corpus) GTEST_SKIP() << test::kNoCorpus;
    for (const char* machine : {"host", "guest"}) {
      auto opened = recording::open_traces(*corpus + "/ctf/nested-kvm/" + machine);
      ASSERT_TRUE(opened);
      for (auto& trace : *opened) traces_.push_back(std::move(trace));
    }
    pass_ = std::make_unique<Pass>(traces_);
    pass_->run();
    host_ = pass_->machines()[0].engine.get();
  }

  Pass::Traces traces_;
  std::unique_ptr<Pass> pass_;
  const Engine* host_ = nullptr;
};

TEST_F(NestedKvm, MachinesWithOneNameAreToldApartByTheirBoots) {
  ASSERT_EQ(pass_->machines().size(), 2u);
  EXPECT_EQ(pass_->machines()[0].name, "(none)");
  EXPECT_EQ(pass_->machines()[1].name, "(none)#2");
}

TEST_F(NestedKvm, GuestTimeIsThatBetweenEntriesAndExits) {
  const Raw raw_events = raw_of(*traces_[0]);
  std::map<Tid, uint64_t> virt;
  for (const Slot& slot : host_->statistics().slots())
    if (slot.mode == Mode::Virt && slot.cpu_ns != 0)
      virt[host_->tasks()[slot.task].tid] += slot.cpu_ns;
  EXPECT_EQ(virt, raw_events.guest_ns);
  ASSERT_FALSE(virt.empty());
  for (const Vcpu& vcpu : host_->vms().vcpus()) {
    EXPECT_EQ(vcpu.ns[static_cast<size_t>(VcpuState::Guest)],
              raw_events.guest_ns.at(host_->tasks()[vcpu.task].tid));
    EXPECT_EQ(std::accumulate(vcpu.ns.begin(), vcpu.ns.end(), uint64_t{0}),
              static_cast<uint64_t>(host_->now() - host_->begin()));
  }
}

TEST_F(NestedKvm, ExitsAreCountedByReason) {
  constexpr uint32_t kSvm = 2;
  const Raw raw_events = raw_of(*traces_[0]);
  std::map<std::pair<Tid, std::string>, uint64_t> expected;
  for (const auto& [exit, count] : raw_events.exits)
    expected[{exit.first, std::string(exit_reason_name(kSvm, exit.second))}] += count;
  std::map<std::pair<Tid, std::string>, uint64_t> found;
  for (const Vcpu& vcpu : host_->vms().vcpus()) {
    uint64_t handled = 0;
    for (const auto& [reason, sum] : vcpu.exits) {
      handled += sum.kernel_ns + sum.user_ns;
      if (sum.count != 0)
        found[{host_->tasks()[vcpu.task].tid, host_->names().text(reason)}] = sum.count;
    }
    EXPECT_EQ(handled, vcpu.ns[static_cast<size_t>(VcpuState::Hypervisor)] +
                           vcpu.ns[static_cast<size_t>(VcpuState::UserSpace)]);
    EXPECT_GT(vcpu.ns[static_cast<size_t>(VcpuState::UserSpace)], 0u);
    const Tid tid = host_->tasks()[vcpu.task].tid;
    EXPECT_EQ(vcpu.events[static_cast<size_t>(VcpuEvent::Pio)], raw_events.ports.at(tid));
    EXPECT_EQ(vcpu.events[static_cast<size_t>(VcpuEvent::Injection)],
              raw_events.injections.at(tid));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(NestedKvm, AMachineGoesByItsProcessWhenThatIsTold) {
  for (const Vcpu& vcpu : host_->vms().vcpus()) {
    const Task& task = host_->tasks()[vcpu.task];
    ASSERT_NE(task.tgid, kNoTid);
    EXPECT_NE(task.tgid, task.tid) << "its first thread does not run the guest";
    EXPECT_EQ(host_->vms().vms()[vcpu.vm].process, task.tgid);
  }
}

TEST_F(NestedKvm, EveryNanosecondOfEveryCpuIsChargedOnce) {
  for (const Machine& machine : pass_->machines()) {
    for (const Cpu& cpu : machine.engine->cpus()) {
      EXPECT_EQ(std::accumulate(cpu.ns.begin(), cpu.ns.end(), uint64_t{0}),
                static_cast<uint64_t>(machine.engine->now() - machine.engine->begin()));
    }
  }
}

}  // namespace
}  // namespace strata::state
