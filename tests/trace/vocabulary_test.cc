// SPDX-License-Identifier: Apache-2.0
#include "trace/vocabulary.h"

#include <gtest/gtest.h>

#include <map>

#include "fake_trace.h"

namespace strata::trace {
namespace {

// An event type with these fields, four bytes each from 8 on.
std::unique_ptr<EventType> type_of(const std::string& system, const std::string& name,
                                   const std::vector<std::string>& fields) {
  std::vector<Field> own;
  for (const std::string& field : fields)
    own.push_back({field, "int", static_cast<uint32_t>(8 + own.size() * 4), 4, 4, Location::InPlace,
                   ValueKind::Integer, true});
  return make_type(1, system, name, own);
}

using Parts = std::map<Role, std::string>;

// The fields are as the kernel declares them (include/trace/events/*.h).
void expect_meaning(const std::string& system, const std::string& name,
                    const std::vector<std::string>& fields, Word word, const Parts& parts) {
  const auto type = type_of(system, name, fields);
  const Binding binding = bind(Tracer::Ftrace, *type);
  EXPECT_EQ(name_of(binding.word), name_of(word)) << system << ":" << name;
  for (const auto& [role, field] : parts) {
    const FieldRef part = binding.part(role);
    ASSERT_TRUE(part) << system << ":" << name << " " << field;
    EXPECT_EQ(part.offset, type->find(field)->offset) << system << ":" << name << " " << field;
  }
}

TEST(Vocabulary, SwitchesAndWakeUps) {
  expect_meaning(
      "sched", "sched_switch",
      {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"},
      Word::SchedSwitch,
      {{Role::PrevTid, "prev_pid"},
       {Role::PrevComm, "prev_comm"},
       {Role::PrevState, "prev_state"},
       {Role::PrevPrio, "prev_prio"},
       {Role::NextTid, "next_pid"},
       {Role::NextComm, "next_comm"},
       {Role::NextPrio, "next_prio"}});
  for (const auto& [name, word] :
       std::map<std::string, Word>{{"sched_waking", Word::SchedWaking},
                                   {"sched_wakeup", Word::SchedWakeup},
                                   {"sched_wakeup_new", Word::SchedWakeupNew}})
    expect_meaning("sched", name, {"comm", "pid", "prio", "success", "target_cpu"}, word,
                   {{Role::Tid, "pid"},
                    {Role::Comm, "comm"},
                    {Role::Prio, "prio"},
                    {Role::TargetCpu, "target_cpu"}});
  expect_meaning("sched", "sched_migrate_task", {"comm", "pid", "prio", "orig_cpu", "dest_cpu"},
                 Word::SchedMigrate,
                 {{Role::Tid, "pid"}, {Role::FromCpu, "orig_cpu"}, {Role::TargetCpu, "dest_cpu"}});
}

TEST(Vocabulary, TheLifeOfTasks) {
  expect_meaning("task", "task_newtask", {"pid", "comm", "clone_flags", "oom_score_adj"},
                 Word::TaskNew,
                 {{Role::Tid, "pid"}, {Role::Comm, "comm"}, {Role::CloneFlags, "clone_flags"}});
  expect_meaning("sched", "sched_process_fork",
                 {"parent_comm", "parent_pid", "child_comm", "child_pid"}, Word::TaskFork,
                 {{Role::Tid, "child_pid"},
                  {Role::Comm, "child_comm"},
                  {Role::ParentTid, "parent_pid"},
                  {Role::ParentComm, "parent_comm"}});
  expect_meaning("sched", "sched_process_exec", {"filename", "pid", "old_pid"}, Word::TaskExec,
                 {{Role::Tid, "pid"}, {Role::FileName, "filename"}});
  expect_meaning("sched", "sched_process_exit", {"comm", "pid", "prio"}, Word::TaskExit,
                 {{Role::Tid, "pid"}, {Role::Comm, "comm"}});
  expect_meaning("sched", "sched_process_free", {"comm", "pid", "prio"}, Word::TaskFree,
                 {{Role::Tid, "pid"}, {Role::Comm, "comm"}});
  expect_meaning("task", "task_rename", {"pid", "oldcomm", "newcomm", "oom_score_adj"},
                 Word::TaskRename,
                 {{Role::Tid, "pid"}, {Role::OldComm, "oldcomm"}, {Role::Comm, "newcomm"}});
}

TEST(Vocabulary, SystemCallsByNumber) {
  expect_meaning("raw_syscalls", "sys_enter", {"id", "args"}, Word::SyscallEntry,
                 {{Role::Number, "id"}});
  expect_meaning("raw_syscalls", "sys_exit", {"id", "ret"}, Word::SyscallExit,
                 {{Role::Number, "id"}, {Role::ReturnValue, "ret"}});
  EXPECT_EQ(bind(Tracer::Ftrace, *type_of("raw_syscalls", "sys_enter", {"id", "args"})).syscall,
            "");
}

TEST(Vocabulary, SystemCallsByName) {
  const auto enter = type_of("syscalls", "sys_enter_read", {"__syscall_nr", "fd", "buf", "count"});
  const Binding entry = bind(Tracer::Ftrace, *enter);
  EXPECT_EQ(entry.word, Word::SyscallEntry);
  EXPECT_EQ(entry.syscall, "read");
  EXPECT_EQ(entry.part(Role::Number).offset, 8u);

  const auto exit = type_of("syscalls", "sys_exit_clock_nanosleep", {"__syscall_nr", "ret"});
  const Binding leaving = bind(Tracer::Ftrace, *exit);
  EXPECT_EQ(leaving.word, Word::SyscallExit);
  EXPECT_EQ(leaving.syscall, "clock_nanosleep");
  EXPECT_EQ(leaving.part(Role::ReturnValue).offset, 12u);

  // Before Linux 4.9 the number was called "nr".
  const auto old = type_of("syscalls", "sys_enter_read", {"nr", "fd"});
  EXPECT_EQ(bind(Tracer::Ftrace, *old).part(Role::Number).offset, 8u);
}

TEST(Vocabulary, InterruptsAndTraps) {
  expect_meaning("irq", "irq_handler_entry", {"irq", "name"}, Word::IrqEntry,
                 {{Role::Irq, "irq"}, {Role::IrqName, "name"}});
  expect_meaning("irq", "irq_handler_exit", {"irq", "ret"}, Word::IrqExit, {{Role::Irq, "irq"}});
  expect_meaning("irq", "softirq_raise", {"vec"}, Word::SoftirqRaise, {{Role::Vector, "vec"}});
  expect_meaning("irq", "softirq_entry", {"vec"}, Word::SoftirqEntry, {{Role::Vector, "vec"}});
  expect_meaning("irq", "softirq_exit", {"vec"}, Word::SoftirqExit, {{Role::Vector, "vec"}});
  expect_meaning("exceptions", "page_fault_user", {"address", "ip", "error_code"},
                 Word::FaultInUser, {{Role::Address, "address"}});
}

TEST(Vocabulary, VirtualMachines) {
  expect_meaning("kvm", "kvm_entry", {"vcpu_id", "rip"}, Word::VmEntry, {{Role::Vcpu, "vcpu_id"}});
  expect_meaning(
      "kvm", "kvm_exit",
      {"exit_reason", "guest_rip", "isa", "info1", "info2", "intr_info", "error_code", "vcpu_id"},
      Word::VmExit, {{Role::Reason, "exit_reason"}, {Role::Isa, "isa"}, {Role::Vcpu, "vcpu_id"}});
}

TEST(Vocabulary, PowerAndBlocks) {
  expect_meaning("power", "cpu_idle", {"state", "cpu_id"}, Word::CpuIdle,
                 {{Role::State, "state"}, {Role::Cpu, "cpu_id"}});
  expect_meaning("power", "cpu_frequency", {"state", "cpu_id"}, Word::CpuFrequency,
                 {{Role::Frequency, "state"}, {Role::Cpu, "cpu_id"}});
  for (const auto& [name, word] :
       std::map<std::string, Word>{{"block_bio_queue", Word::BlockQueue},
                                   {"block_bio_backmerge", Word::BlockMerge},
                                   {"block_bio_frontmerge", Word::BlockMerge},
                                   {"block_rq_insert", Word::BlockInsert},
                                   {"block_rq_issue", Word::BlockIssue},
                                   {"block_rq_complete", Word::BlockComplete}})
    expect_meaning(
        "block", name, {"dev", "sector", "nr_sector"}, word,
        {{Role::Device, "dev"}, {Role::Sector, "sector"}, {Role::SectorCount, "nr_sector"}});
}

TEST(Vocabulary, PacketsAndMemory) {
  expect_meaning("net", "net_dev_xmit", {"skbaddr", "len", "rc", "name"}, Word::NetSend,
                 {{Role::Name, "name"}, {Role::Length, "len"}, {Role::Status, "rc"}});
  expect_meaning("net", "netif_receive_skb", {"skbaddr", "len", "name"}, Word::NetReceive,
                 {{Role::Name, "name"}, {Role::Length, "len"}});
  expect_meaning("kmem", "mm_page_alloc", {"pfn", "order", "gfp_flags"}, Word::PageAlloc,
                 {{Role::Order, "order"}});
  expect_meaning("kmem", "rss_stat", {"mm_id", "curr", "member", "size"}, Word::MemoryUse,
                 {{Role::Memory, "mm_id"},
                  {Role::IsOwn, "curr"},
                  {Role::Kind, "member"},
                  {Role::Size, "size"}});
}

TEST(Vocabulary, WhatATracerDoesNotTellReadsNothing) {
  const auto old = type_of("kvm", "kvm_exit", {"exit_reason", "guest_rip", "isa"});
  const Binding binding = bind(Tracer::Ftrace, *old);
  EXPECT_EQ(binding.word, Word::VmExit);
  EXPECT_FALSE(binding.part(Role::Vcpu));
  EXPECT_FALSE(binding.part(Role::NextTid)) << "not a part of this meaning at all";
}

TEST(Vocabulary, OtherEventsMeanNothing) {
  EXPECT_EQ(bind(Tracer::Ftrace, *type_of("ftrace", "print", {"ip", "buf"})).word, Word::None);
  EXPECT_EQ(bind(Tracer::Ftrace, *type_of("synthetic", "sched_switch", {"prev_pid"})).word,
            Word::None)
      << "somebody else's event of the same name";
  EXPECT_EQ(bind(Tracer::Ftrace, *type_of("sched", "sched_switc", {"prev_pid"})).word, Word::None);
  EXPECT_EQ(bind(Tracer::Ftrace, *type_of("", "", {})).word, Word::None);
}

TEST(Vocabulary, EveryWordHasAName) {
  for (size_t i = 0; i < kWords; ++i) EXPECT_FALSE(name_of(static_cast<Word>(i)).empty()) << i;
}

// LTTng's contexts are called as fields are: who wakes is "tid", and who is woken.
TEST(Vocabulary, AContextOfTheSameNameIsNotTheField) {
  const auto type = type_of("", "sched_wakeup", {"tid", "tid", "prio"});
  type->common_fields = static_cast<uint32_t>(type->fields.size()) - 2;
  const Binding binding = bind(Tracer::Lttng, *type);
  EXPECT_EQ(binding.word, Word::SchedWakeup);
  EXPECT_EQ(binding.part(Role::Tid).offset, type->fields[type->common_fields].offset);
}

}  // namespace
}  // namespace strata::trace
