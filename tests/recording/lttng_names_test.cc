// SPDX-License-Identifier: Apache-2.0
//
// The names that LTTng gives to the kernel's events, held against traces that it recorded itself
// (lttng-modules 2.10 and 2.13) and against event types of kernels as trace-cmd stores them.
#include "recording/lttng_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "recording/open.h"
#include "support/corpus.h"

namespace strata::recording {
namespace {

using Types = std::map<std::string, std::set<std::string>>;  // names of events, and of their fields

template <typename Take>
void for_each_type(const std::string& path, Take take) {
  const Result<std::unique_ptr<trace::Trace>> trace = open_trace(path);
  ASSERT_TRUE(trace) << trace.error().text();
  for (const trace::EventType* type : (*trace)->event_types()) take(*type);
}

struct LttngNames : testing::Test {
  Types theirs;
  Types ours;

  void SetUp() override {
    const std::optional<std::string> corpus = test::corpus();
    if (!corpus) GTEST_SKIP() << test::kNoCorpus;
    for (const char* name : {"lttng-ref-traces/basic-kernel-analysis", "nested-kvm/host"}) {
      for_each_type(*corpus + "/ctf/" + name, [&](const trace::EventType& type) {
        if (type.name.starts_with("syscall_") || type.name.starts_with("compat_") ||
            type.name.starts_with("lttng_"))
          return;
        std::set<std::string>& fields = theirs[type.name];
        for (size_t i = type.common_fields; i < type.fields.size(); ++i)
          fields.insert(type.fields[i].name);
      });
    }
    for (const char* name : {"trace2", "pair-host", "lisa_sched_load", "trappy_trace"}) {
      for_each_type(*corpus + "/dat/" + name + ".dat", [&](const trace::EventType& type) {
        std::set<std::string>& fields = ours[lttng_name(type)];
        for (size_t i = type.common_fields; i < type.fields.size(); ++i)
          fields.insert(lttng_field_name(type, type.fields[i].name));
      });
    }
    ASSERT_GT(theirs.size(), 40u);
  }
};

TEST_F(LttngNames, EveryEventThatLttngRecordedIsOneOfTheKernels) {
  for (const auto& [name, fields] : theirs) EXPECT_TRUE(ours.contains(name)) << name;
}

TEST_F(LttngNames, ThreadsAreCalledTheSame) {
  for (const auto& [name, fields] : theirs) {
    if (!name.starts_with("sched_")) continue;
    for (const std::string& field : fields) {
      if (field.ends_with("tid")) {
        EXPECT_TRUE(ours[name].contains(field)) << name << " " << field;
      }
    }
  }
}

std::string named(const std::string& system, const std::string& name) {
  trace::EventType type;
  type.system = system;
  type.name = name;
  return lttng_name(type);
}

// As lttng-modules declares them (its master of July 2026); none of these is in a trace at hand.
TEST(LttngName, OfWhatLttngHas) {
  EXPECT_EQ(named("skb", "kfree_skb"), "skb_kfree");
  EXPECT_EQ(named("net", "napi_gro_receive_entry"), "net_napi_gro_receive_entry");
  EXPECT_EQ(named("power", "cpu_idle"), "power_cpu_idle");
  EXPECT_EQ(named("irq_vectors", "local_timer_entry"), "x86_irq_vectors_local_timer_entry");
  EXPECT_EQ(named("irq_vectors", "x86_platform_ipi_exit"), "x86_irq_vectors_ipi_exit");
  EXPECT_EQ(named("printk", "console"), "printk_console");
  EXPECT_EQ(named("writeback", "balance_dirty_pages"), "writeback_balance_dirty_pages");
  EXPECT_EQ(named("vmscan", "mm_shrink_slab_start"), "mm_vmscan_shrink_slab_start");
  EXPECT_EQ(named("kvm", "vcpu_match_mmio"), "kvm_x86_vcpu_match_mmio");
}

TEST(LttngName, WhatLttngDoesNotHaveKeepsItsName) {
  EXPECT_EQ(named("power", "cpu_frequency_limits"), "cpu_frequency_limits");
  EXPECT_EQ(named("irq_vectors", "vector_alloc"), "vector_alloc");
  EXPECT_EQ(named("irq", "tasklet_entry"), "tasklet_entry");
  EXPECT_EQ(named("task", "task_newtask"), "task_newtask");
}

}  // namespace
}  // namespace strata::recording
