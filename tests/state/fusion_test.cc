// SPDX-License-Identifier: Apache-2.0
#include "state/fusion.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "state/fused_snapshot.h"
#include "state/index.h"
#include "state/pass.h"
#include "state/stub_trace.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"

namespace strata::state {
namespace {

using Json = nlohmann::json;

constexpr size_t kHost = 0;
constexpr size_t kGuest = 1;

// What the fused state was at one moment, of the one CPU that the host and the guest have.
struct Sample {
  std::string machine;     // that the physical CPU ran
  int32_t tid = -1;        // in that machine
  int32_t guest_tid = -1;  // that the guest believes to run
  VcpuState state = VcpuState::Unknown;
  std::string exit;  // why the guest was left
  int32_t running_instead = -1;
};

Tid tid_of(const Engine& engine, TaskId task) {
  return task == kNoTask ? kNoTid : engine.tasks()[task].tid;
}

Sample sample_of(const Pass& pass) {
  const Fusion& fusion = *pass.fusion();
  const Engine& host = *pass.machines()[kHost].engine;
  const Engine& guest = *pass.machines()[kGuest].engine;
  const Fusion::Running running = fusion.running_on(kHost, 0);
  Sample sample;
  sample.machine = pass.machines()[running.machine].name;
  sample.tid = raw(tid_of(*pass.machines()[running.machine].engine, running.task));
  if (!guest.cpus().empty()) sample.guest_tid = raw(tid_of(guest, guest.cpus()[0].task));
  if (const Fusion::GuestCpu* cpu = fusion.guest_cpu(kGuest, 0)) {
    sample.state = cpu->state;
    sample.exit = host.names().text(host.vms().vcpus()[cpu->vcpu].exit_reason);
    sample.running_instead = raw(tid_of(host, fusion.running_instead(*cpu)));
  }
  return sample;
}

// A pass over stubs, with what it knew from each moment on.
class Stubs {
 public:
  // Names of files, and whose they are.
  Stubs(const std::string& folder, std::vector<std::pair<std::string, std::string>> files) {
    for (const auto& [file, machine] : files) {
      auto trace = StubTrace::open(folder + '/' + file, machine);
      EXPECT_TRUE(trace) << file;
      if (trace) traces_.push_back(*std::move(trace));
    }
    pass = std::make_unique<Pass>(traces_);
    EXPECT_TRUE(pass->write_index([&](size_t i) { return index_path(i); }, 0));
    int64_t before = pass->span().begin.count;
    pass->at_event = [&](const trace::Event& event, size_t, const Engine&) {
      if (event.time.count > before) samples[before] = sample_of(*pass);
      before = event.time.count;
      return true;
    };
    pass->run();
    samples[before] = sample_of(*pass);
  }

  std::string index_path(size_t machine) const {
    return folder_.path() + "/" + std::to_string(machine);
  }
  const Sample& at(int64_t time) const { return std::prev(samples.upper_bound(time))->second; }

 private:
  test::TemporaryFolder folder_;
  Pass::Traces traces_;

 public:
  std::unique_ptr<Pass> pass;
  std::map<int64_t, Sample> samples;
};

class Fused : public testing::Test {
 protected:
  void SetUp() override {
    const auto corpus = test::corpus();
    if (!corpus) GTEST_SKIP() << test::kNoCorpus;
    folder_ = *corpus + "/vm-stubs";
  }
  Json expected(const std::string& file) const {
    std::ifstream in(folder_ + '/' + file);
    return Json::parse(in);
  }
  Stubs pair(const std::string& name) const {
    return Stubs(folder_ + "/vm/" + name, {{"host.xml", "host"}, {"guest.xml", "guest"}});
  }

  std::string folder_;
};

bool is_hypervisor(VcpuState state) {
  return state == VcpuState::Hypervisor || state == VcpuState::UserSpace;
}

// As the program that made the expected values has it: flags for each virtual CPU.
int flags_of(const Sample& sample) {
  constexpr int kRunning = 2;
  constexpr int kHypervisor = 128;
  constexpr int kPreempted = 256;
  int flags = sample.guest_tid == -1 ? 0 : kRunning;
  if (flags == 0) return 0;
  if (is_hypervisor(sample.state)) flags |= kHypervisor;
  if (sample.state == VcpuState::Preempted) flags |= kHypervisor | kPreempted;
  return flags;
}

std::string task_state_of(const Sample& sample, int32_t tid) {
  if (sample.guest_tid != tid) return "IDLE";
  return sample.state == VcpuState::Guest ? "RUNNING" : "PREEMPT";
}

TEST_F(Fused, VirtualCpusAreInTheStatesThatTraceCompassFinds) {
  const Stubs stubs = pair("OneQemuKvm");
  const Json all = expected("expected-misc.json")["virtual_resources_OneQemuKvm"];
  const auto starts = all["vcpu0_starts"].get<std::vector<int64_t>>();
  const auto values = all["vcpu0_values"].get<std::vector<int>>();
  for (size_t i = 0; i < values.size(); ++i)
    for (int64_t t = starts[i]; t < starts[i + 1]; ++t)
      ASSERT_EQ(flags_of(stubs.at(t)), values[i]) << t;
}

TEST_F(Fused, AGuestsTasksRunOnlyWhileTheirCpuDoes) {
  const Stubs stubs = pair("OneQemuKvm");
  const Json all = expected("expected-misc.json")["virtual_resources_OneQemuKvm"];
  for (const int32_t tid : {130, 131}) {
    const Json& task = all["guest_tid" + std::to_string(tid)];
    const auto starts = task["starts"].get<std::vector<int64_t>>();
    const auto ends = task["ends"].get<std::vector<int64_t>>();
    const auto values = task["values"].get<std::vector<std::string>>();
    std::map<int64_t, std::string> states;  // the later ones are within the earlier
    for (size_t i = 0; i < values.size(); ++i)
      for (int64_t t = starts[i]; t <= ends[i]; ++t) states[t] = values[i];
    VcpuTimes ns = {};
    states.erase(375);  // the end, which lasts no time: there, both are said to run on the one CPU
    for (const auto& [t, state] : states) {
      ASSERT_EQ(task_state_of(stubs.at(t), tid), state) << tid << " at " << t;
      if (state != "IDLE") ++ns[static_cast<size_t>(stubs.at(t).state)];
    }
    const Engine& guest = *stubs.pass->machines()[kGuest].engine;
    EXPECT_EQ(stubs.pass->fusion()->task_times(kGuest, guest.tasks().find(Tid{tid})), ns) << tid;
  }
}

TEST_F(Fused, TheOverheadIsTheHypervisorsAndWhoeverRunsInstead) {
  const Stubs stubs = pair("OneQemuKvm");
  const Json cases = expected("expected-vm.json")["overhead/OneQemuKvmTestCase.java"]["intervals"];
  size_t checked = 0;
  for (const Json& attribute : cases) {
    const char level = attribute["attribute"].get<std::string>().rbegin()[1];
    for (const Json& interval : attribute["intervals"]) {
      const auto value = interval[2].get<std::string>();
      for (int64_t t = interval[0].get<int64_t>(); t <= interval[1].get<int64_t>(); ++t) {
        const Sample& at = stubs.at(t);
        std::string found = "TmfStateValue.nullValue()";
        const auto say = [&](const std::string& text) {
          found = "TmfStateValue.newValueString(\"" + text + "\")";
        };
        const bool is_preempted = at.state == VcpuState::Preempted;
        if (at.guest_tid == 130 && level == '1') say("RUN");
        if (at.guest_tid == 130 && level == '2' && is_hypervisor(at.state)) say("VMM");
        if (at.guest_tid == 130 && level == '2' && is_preempted) say("VCPU Preempted");
        if (at.guest_tid == 130 && level == '3' && is_hypervisor(at.state))
          say(at.exit == "MSR_WRITE" ? "32" : at.exit);
        if (at.guest_tid == 130 && level == '3' && is_preempted) say("0");
        ASSERT_EQ(found, value) << "level " << level << " at " << t;
        if (is_preempted) {
          ASSERT_EQ(at.running_instead, 30) << t;
        }
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 3 * 375u);
}

// The program that made the expected values did not know the guest before.
constexpr int64_t kKnown = 155;

void expect_fused(const Stubs& stubs, const Json& cases) {
  for (const Json& attribute : cases) {
    const bool is_thread =
        attribute["attribute"].get<std::string>().find("CURRENT_THREAD") != std::string::npos;
    for (const Json& interval : attribute["intervals"]) {
      const auto value = interval[2].get<std::string>();
      for (int64_t t = std::max(interval[0].get<int64_t>(), kKnown);
           t <= interval[1].get<int64_t>(); ++t) {
        const Sample& at = stubs.at(t);
        const std::string found = is_thread
                                      ? "TmfStateValue.newValueInt(" + std::to_string(at.tid) + ')'
                                  : at.machine == "guest" ? "GUEST_SV_STRING"
                                                          : "HOST_SV_STRING";
        ASSERT_EQ(found, value) << t;
      }
    }
  }
}

TEST_F(Fused, APhysicalCpuRunsTheGuestsTaskWhileItIsInTheGuest) {
  expect_fused(pair("OneQemuKvm"),
               expected("expected-vm.json")["fused/OneQemuKvmFusedTestCase.java"]["intervals"]);
}

TEST_F(Fused, APhysicalCpuRunsATaskInAContainerOfTheGuest) {
  expect_fused(pair("QemuContainer"),
               expected("expected-vm.json")["fused/QemuContainerTestCase.java"]["intervals"]);
}

TEST_F(Fused, AnotherHostChangesNothing) {
  const Stubs stubs(folder_ + "/vm", {{"OneQemuKvm/host.xml", "host"},
                                      {"OneQemuKvm/guest.xml", "guest"},
                                      {"Containers/withContainers.xml", "other"}});
  expect_fused(stubs, expected("expected-vm.json")["fused/TwoHostsTestCase.java"]["intervals"]);
}

// Before the first event that tells whose guest it is, at 50, the virtual CPU is known from its
// first entry on.
TEST_F(Fused, WhatTellsTheGuestMayComeLate) {
  const Stubs stubs = pair("OneQemuKvm");
  EXPECT_EQ(stubs.at(20).machine, "guest");
  EXPECT_EQ(stubs.at(20).tid, 131);
  EXPECT_EQ(stubs.at(47).machine, "host");
  const Fusion::GuestCpu& cpu = *stubs.pass->fusion()->guest_cpu(kGuest, 0);
  uint64_t sum = 0;
  for (const uint64_t ns : cpu.ns) sum += ns;
  EXPECT_EQ(sum, 374u) << "every nanosecond once";
  EXPECT_EQ(cpu.ns[static_cast<size_t>(VcpuState::Unknown)], 4u);
}

TEST_F(Fused, TheIndexesOfBothTellTheSameAtAnyTime) {
  const Stubs stubs = pair("OneQemuKvm");
  std::vector<Index> indexes;
  for (size_t i = 0; i < stubs.pass->machines().size(); ++i) {
    Result<Index> index = Index::open(stubs.index_path(i), 0);
    ASSERT_TRUE(index);
    indexes.push_back(*std::move(index));
  }
  for (int64_t t = 5; t < 375; ++t) {
    std::vector<MachineAt> machines;
    for (size_t i = 0; i < indexes.size(); ++i) {
      Result<Snapshot> snapshot = indexes[i].at(t);
      ASSERT_TRUE(snapshot);
      machines.push_back(
          {stubs.pass->machines()[i].name, *std::move(snapshot), indexes[i].guests()});
    }
    ASSERT_FALSE(machines[kHost].snapshot.cpus.empty());
    const FusedCpuAt fused =
        fused_cpu(machines, machines[kHost], machines[kHost].snapshot.cpus.front());
    ASSERT_EQ(fused.machine, stubs.at(t).machine) << t;
    ASSERT_EQ(raw(fused.at->tid), stubs.at(t).tid) << t;
    const VcpuAt* vcpu = vcpu_behind(machines, "guest", 0);
    ASSERT_NE(vcpu, nullptr);
    ASSERT_EQ(vcpu->state, stubs.at(t).state) << t;
  }
}

}  // namespace
}  // namespace strata::state
