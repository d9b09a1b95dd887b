// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "query/fused_walk.h"
#include "query/state_cells.h"
#include "query/state_tables.h"

namespace strata::query {
namespace {

using state::VcpuState;
using enum ColumnType;

enum Shared : size_t { kBegin, kEnd, kDuration, kMachine, kCpu, kOwn };

struct Row {
  std::vector<Machine>* machines = nullptr;
  Machine* machine = nullptr;  // whose CPU it is
  state::CpuIndex cpu = 0;
  FusedSpan span;

  Machine& runs() const { return (*machines)[span.machine]; }
};

struct Part {
  Column column;
  void (*show)(const Row& row, Cell& cell);
};

// A table of what CPUs did, seen with their guests or their hosts. Conditions on begin, end,
// machine and cpu lead to what is read.
class FusedTable : public Table {
 public:
  FusedTable(Machines& machines, FusedWalk::View view, std::string called, std::string what,
             std::vector<Part> parts)
      : machines_(machines), view_(view), parts_(std::move(parts)) {
    name = std::move(called);
    about = std::move(what);
    columns = {
        {"begin", Integer, "when it begins, ns on the common timeline", Search::Range},
        {"end", Integer, "when it ends", Search::Range},
        {"duration", Integer, "end - begin"},
        {"machine", Text, "the host's name", Search::Equal},
        {"cpu", Integer, "the CPU", Search::Equal},
    };
    for (const Part& part : parts_) columns.push_back(part.column);
    key = {kMachine, kCpu, kBegin};
    about_rows = 1e6;
  }

  std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const override {
    return std::make_unique<Walk>(*this, interrupted);
  }

 private:
  class Walk : public Rows {
   public:
    Walk(const FusedTable& table, const std::atomic<bool>& interrupted)
        : table_(table), interrupted_(interrupted) {}

    void begin(const Conditions& conditions) override {
      is_at_end_ = true;
      walk_.reset();
      cpus_.clear();
      next_cpu_ = 0;
      if (conditions.is_empty()) return;
      const Result<std::vector<Machine>*> machines = table_.machines_.open();
      if (!machines) {
        failure_ = machines.error();
        return;
      }
      row_.machines = *machines;
      if (!guests_) guests_.emplace(**machines);
      from_ = saturated(
          Int128{std::max(conditions.of(kBegin).least(), conditions.of(kEnd).least())} - 1);
      last_begin_ = conditions.of(kBegin).most();
      for (size_t i = 0; i < (*machines)->size(); ++i) {
        const bool is_wanted = table_.view_ == FusedWalk::View::Physical ? !guests_->is_guest(i)
                                                                         : guests_->is_guest(i);
        if (!is_wanted || !conditions.of(kMachine).accepts((**machines)[i].name())) continue;
        for (const auto& [cpu, rows] : (**machines)[i].index().cpus())
          if (conditions.of(kCpu).accepts(int64_t{cpu})) cpus_.push_back({i, cpu});
      }
      is_at_end_ = false;
      next();
    }

    void next() override {
      for (uint32_t passed = 1; passed % kSpansBetweenLooks != 0 || !interrupted_; ++passed) {
        if (walk_) {
          const Result<bool> next = walk_->next(row_.span);
          if (!next) {
            failure_ = next.error();
            break;
          }
          if (*next && row_.span.begin <= last_begin_) return;
        }
        if (next_cpu_ == cpus_.size()) break;
        const auto& [machine, cpu] = cpus_[next_cpu_++];
        row_.machine = &(*row_.machines)[machine];
        row_.cpu = cpu;
        walk_.emplace(*guests_, table_.view_, machine, cpu, from_);
      }
      is_at_end_ = true;
    }

    bool at_end() const override { return is_at_end_; }

    void column(size_t column, Cell& cell) override {
      switch (column) {
        case kBegin:
          return cell.integer(row_.span.begin);
        case kEnd:
          return cell.integer(row_.span.end);
        case kDuration:
          return cell.integer(row_.span.end - row_.span.begin);
        case kMachine:
          return cell.lasting_text(row_.machine->name());
        case kCpu:
          return cell.integer(row_.cpu);
        default:
          return table_.parts_[column - kOwn].show(row_, cell);
      }
    }

   private:
    static constexpr uint32_t kSpansBetweenLooks = 4096;

    const FusedTable& table_;
    const std::atomic<bool>& interrupted_;
    std::optional<GuestCpus> guests_;
    std::vector<GuestCpus::Place> cpus_;
    size_t next_cpu_ = 0;
    int64_t from_ = 0;
    int64_t last_begin_ = 0;
    std::optional<FusedWalk> walk_;
    Row row_;
    bool is_at_end_ = true;
  };

  Machines& machines_;
  FusedWalk::View view_;
  std::vector<Part> parts_;
};

const state::Index::VcpuRows* vcpu_of(const Row& row) {
  if (!row.span.vcpu) return nullptr;
  return &(*row.machines)[row.span.vcpu->machine].index().vcpus()[row.span.vcpu->cpu];
}

void show_vm(const Row& row, Cell& cell) {
  if (const auto* vcpu = vcpu_of(row))
    cell.text((*row.machines)[row.span.vcpu->machine].index().vm_name(vcpu->process));
}

void show_vcpu(const Row& row, Cell& cell) {
  if (const auto* vcpu = vcpu_of(row)) cell.integer(vcpu->number);
}

void show_state(const Row& row, Cell& cell) {
  if (row.span.vcpu) cell.lasting_text(name_of(row.span.vcpu_state));
}

void show_detail(const Row& row, Cell& cell) {
  if (!row.span.vcpu) return;
  state::Index& host = (*row.machines)[row.span.vcpu->machine].index();
  if (row.span.vcpu_state != VcpuState::Preempted)
    return show_name(host.name(row.span.vcpu_info), cell);
  if (const Result<std::string> cause = host.cause_at(row.span.vcpu_info, row.span.begin))
    show_name(*cause, cell);
}

const Part kTid{{"tid", Integer, "the thread, by its own machine's number; 0: idle"},
                [](const Row& row, Cell& cell) { show_task_tid(row.runs(), row.span.task, cell); }};
const Part kPid{{"pid", Integer, "its process; NULL: not told"}, [](const Row& row, Cell& cell) {
                  show_tid(row.runs().process(row.span.task, row.span.begin), cell);
                }};
const Part kComm{{"comm", Text, "its name then"}, [](const Row& row, Cell& cell) {
                   show_name(row.runs().task_name(row.span.task, row.span.begin), cell);
                 }};

std::unique_ptr<Table> fused_cpu_table(Machines& machines) {
  return std::make_unique<FusedTable>(
      machines, FusedWalk::View::Physical, "fused_cpu",
      "what each CPU that is no guest's ran at every moment, guests' tasks included where their "
      "traces are there too",
      std::vector<Part>{
          {{"runs", Text, "the machine whose code it ran: its own, or a guest's"},
           [](const Row& row, Cell& cell) { cell.lasting_text(row.runs().name()); }},
          {{"runs_cpu", Integer, "as that machine numbers it"},
           [](const Row& row, Cell& cell) { cell.integer(row.span.cpu); }},
          {{"mode", Text, "that machine's: IDLE, USER, SYSCALL, ...; see cpu_state"},
           [](const Row& row, Cell& cell) { cell.lasting_text(name_of(row.span.mode)); }},
          {{"submode", Text, "which system call, interrupt, exit"},
           [](const Row& row, Cell& cell) {
             show_name(row.runs().index().name(row.span.submode), cell);
           }},
          kTid,
          kPid,
          kComm,
          {{"vm", Text, "the virtual machine whose thread it ran; NULL: none"}, show_vm},
          {{"vcpu", Integer, "the virtual CPU's number there"}, show_vcpu},
          {{"vcpu_state", Text, "what that did: guest, hypervisor, user-space, ..."}, show_state},
      });
}

std::unique_ptr<Table> fused_state_table(Machines& machines) {
  return std::make_unique<FusedTable>(
      machines, FusedWalk::View::Guest, "fused_state",
      "what really became of each task that a guest had on a CPU, as the guest's host tells",
      std::vector<Part>{
          kTid,
          kPid,
          kComm,
          {{"vm", Text, "the guest, as its host calls it"}, show_vm},
          {{"vcpu", Integer, "the virtual CPU that the CPU is"}, show_vcpu},
          {{"state", Text,
            "guest: it ran; preempted: by another task of the host; hypervisor, user-space: an "
            "exit was handled; halted; blocked; unknown"},
           show_state},
          {{"detail", Text, "which exit led there; who preempted it"}, show_detail},
      });
}

}  // namespace

std::vector<std::unique_ptr<Table>> fused_tables(Machines& machines) {
  std::vector<std::unique_ptr<Table>> all;
  all.push_back(fused_cpu_table(machines));
  all.push_back(fused_state_table(machines));
  return all;
}

}  // namespace strata::query
