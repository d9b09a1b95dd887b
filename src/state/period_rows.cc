// SPDX-License-Identifier: Apache-2.0
//
// What happened since the last edge, as rows.
#include <algorithm>
#include <utility>

#include "state/period_columns.h"
#include "state/period_cutter.h"

namespace strata::state {
namespace {

using period::Column;

void put_traffic(const Traffic& now, const Traffic& before, auto& values) {
  values.set(Column::Reads, now.reads - before.reads);
  values.set(Column::Writes, now.writes - before.writes);
  values.set(Column::ReadBytes, now.read_bytes - before.read_bytes);
  values.set(Column::WrittenBytes, now.written_bytes - before.written_bytes);
}

period::Histogram difference(const Durations& now, const Durations& before) {
  period::Histogram histogram{now.count - before.count, now.sum_ns - before.sum_ns};
  for (size_t i = 0; i < histogram.buckets.size(); ++i)
    histogram.buckets[i] = now.histogram[i] - before.histogram[i];
  return histogram;
}

}  // namespace

period::Machine PeriodCutter::cut(int64_t time, const std::string& name) {
  period::Machine machine{.name = name};
  cut_cpus(time, machine);
  cut_tasks(time, machine);
  cut_vcpus(time, machine);
  cut_files(machine);
  cut_latencies(machine);
  cut_devices(time, machine);
  cut_interfaces(machine);
  machine.values.set(Column::MissedSwitches, engine_.missed_switches() - missed_switches_);
  missed_switches_ = engine_.missed_switches();
  machine.add_up();
  mark(machine);
  lost_uncounted_ = memory_is_estimated_ = false;

  edge_ = time;
  const std::vector<Touched> before = std::exchange(touched_, {});
  for (const Touched& touched : before) touched_at_[touched.id] = 0;
  for (const Touched& touched : before) {
    const TaskState state = engine_.tasks()[touched.id].state;
    if (is_running(state) || state == TaskState::WaitCpu) touch(touched.id);
  }
  return machine;
}

void PeriodCutter::cut_cpus(int64_t time, period::Machine& machine) {
  for (CpuIndex index = 0; index < engine_.cpus().size(); ++index) {
    const Cpu& cpu = engine_.cpus()[index];
    if (!cpu.is_there) continue;
    CpuBase& base = cpu_base(index);
    CpuBase now = cpu_at(index, time);
    period::CpuRow& row = machine.cpus.emplace_back();
    row.number = index;
    row.tid = raw(cpu.tid);
    for (size_t mode = 0; mode < kModes; ++mode)
      row.values.set(column_of(Mode(mode)), now.ns[mode] - base.ns[mode]);
    row.values.set(Column::UnknownTask, now.unknown_task_ns - base.unknown_task_ns);
    row.values.set(Column::Events, base.events);
    row.values.set(Column::Switches, base.switches);
    row.values.set(Column::LostEvents, base.lost_events);
    row.values.set(Column::Losses, base.losses);
    row.values.set(Column::Frequency,
                   cpu.frequency_khz == 0 ? period::kUnknownCell : cpu.frequency_khz);
    put_counts(base.counts, row.values);
    row.corrections = std::move(base.corrections);
    for (const Column column :
         {Column::Events, Column::Switches, Column::LostEvents, Column::Losses})
      machine.values.add(column, row.values[column]);
    base = std::move(now);
  }
}

void PeriodCutter::cut_tasks(int64_t time, period::Machine& machine) {
  vm_names_.clear();
  for (VmIndex vm = 0; vm < engine_.vms().vms().size(); ++vm)
    if (!engine_.vms().vms()[vm].vcpus.empty())
      vm_names_[engine_.vms().vms()[vm].process] = engine_.vm_name(vm);
  counted_.resize(engine_.tasks().size());
  for (const Touched& touched : touched_) {
    period::TaskRow row = task_row(touched, time);
    const Task& task = engine_.tasks()[touched.id];
    const bool is_alive = !has_ended(task);
    count(touched.id, kThread, is_alive, threads_);
    count(touched.id, kProcess, is_alive && task.tgid == task.tid, processes_);
    machine.values.add(Column::Born, row.was_born ? 1 : 0);
    machine.values.add(Column::Ended, row.has_ended ? 1 : 0);
    const bool is_news = row.was_born || row.has_ended || !row.corrections.empty();
    if (is_news || touched.before != task.state || row.values != period::TaskRow::Values())
      machine.tasks.push_back(std::move(row));
  }
  machine.values.set(Column::Threads, threads_);
  machine.values.set(Column::Processes, processes_);
  std::erase_if(group_exits_, [&](const auto& at) { return at.second.edge < edge_; });
}

void PeriodCutter::count(TaskId id, Counted what, bool is_one, uint64_t& sum) {
  const bool was_one = (counted_[id] & what) != 0;
  if (is_one == was_one) return;
  counted_[id] = static_cast<uint8_t>(counted_[id] ^ what);
  sum += is_one ? uint64_t{1} : UINT64_MAX;  // or one less
}

period::TaskRow PeriodCutter::task_row(const Touched& touched, int64_t time) {
  const TaskId id = touched.id;
  const Task& task = engine_.tasks()[id];
  period::TaskRow row{.pid = raw(task.tgid), .tid = raw(task.tid), .start = task.born};
  describe(id, row);
  row.was_born = task.saw_birth && !touched.was_there;
  row.has_ended = has_ended(task) && !touched.had_ended;
  if (row.has_ended) {
    if (const auto own = exit_codes_.find(id); own != exit_codes_.end()) {
      row.exit_code = own->second;
      exit_codes_.erase(own);
    } else if (const auto all = group_exits_.find(task.tgid); all != group_exits_.end()) {
      row.exit_code = all->second.code;
    }
  }
  if (touched.was_there) row.state_before = column_of(touched.before);
  row.state = column_of(task.state);
  for (size_t state = 0; state < kTaskStates; ++state) {
    uint64_t ns = task.ns[state] - touched.ns[state];
    if (TaskState(state) == task.state && time > task.since)
      ns += static_cast<uint64_t>(time - task.since);
    if (const auto column = column_of(TaskState(state))) row.values.set(*column, ns);
  }
  put_traffic(engine_.descriptors().traffic(id), touched.traffic, row.values);
  const BlockBytes block = engine_.block_devices().bytes_of(id);
  row.values.set(Column::Preemptions, touched.preemptions);
  row.values.set(Column::Sleeps, touched.sleeps);
  row.values.set(Column::Migrations, task.migrations - touched.migrations);
  row.values.set(Column::Wakeups, task.wakeups - touched.wakeups);
  row.values.set(Column::Faults, task.faults - touched.faults);
  row.values.set(Column::MajorFaults, task.major_faults - touched.major_faults);
  row.values.set(Column::Syscalls, touched.syscalls);
  row.values.set(Column::NetReadBytes, touched.sockets.read_bytes);
  row.values.set(Column::NetWrittenBytes, touched.sockets.written_bytes);
  row.values.set(Column::DiskReadBytes, block.read - touched.block.read);
  row.values.set(Column::DiskWrittenBytes, block.written - touched.block.written);
  put_counts(touched.counts, row.values);
  const MemoryUse* memory = engine_.memory().of_process(task.tgid);
  const std::optional<uint64_t> resident = memory == nullptr ? std::nullopt : memory->resident();
  if (resident) {
    row.values.set(Column::Memory, *resident);
    if (!memory->is_exact()) memory_is_estimated_ = true;
  }
  if (!resident && is_memory_told()) row.values.set(Column::Memory, period::kUnknownCell);
  row.corrections = touched.corrections;
  return row;
}

template <typename Values>
void PeriodCutter::put_counts(const std::vector<uint64_t>& counts, Values& values) const {
  const std::vector<std::string>& names = engine_.counters().names();
  for (size_t i = 0; i < counts.size(); ++i)
    if (const auto column = period::column_of_counter(names[i])) values.set(*column, counts[i]);
}

bool PeriodCutter::is_memory_told() const {
  return saw(trace::Word::MemoryUse) || saw(trace::Word::StateProcess);
}

void PeriodCutter::describe(TaskId id, period::TaskRow& row) const {
  const Task& task = engine_.tasks()[id];
  const Names& names = engine_.names();
  row.name = names.text(task.name);
  row.is_kernel = task.is_kernel;
  if (task.cpu != kNoCpu) row.cpu = task.cpu;
  if (task.parent != kNoTid) {
    const TaskId maker = engine_.tasks().find(task.parent);
    const bool has_process = maker != kNoTask && engine_.tasks()[maker].tgid != kNoTid;
    row.parent = raw(has_process ? engine_.tasks()[maker].tgid : task.parent);
  }
  if (const Owner* owner = engine_.owner(task.tgid)) {
    row.user = owner->user;
    row.container = names.text(owner->container);
    row.cgroup = names.text(owner->cgroup);
  }
  if (const auto vm = vm_names_.find(task.tgid); vm != vm_names_.end()) row.vm = vm->second;
  if (task.vcpu == kNoVcpu) return;
  const Vcpu& vcpu = engine_.vms().vcpus()[task.vcpu];
  row.vm = engine_.vm_name(vcpu.vm);
  row.vcpu = vcpu.number;
}

void PeriodCutter::cut_vcpus(int64_t time, period::Machine& machine) {
  const Vms& vms = engine_.vms();
  std::map<std::pair<int32_t, NameId>, period::ExitRow> exits;
  for (VcpuIndex index = 0; index < vms.vcpus().size(); ++index) {
    const Vcpu& vcpu = vms.vcpus()[index];
    VcpuBase& base = vcpu_base(index);
    VcpuBase now = vcpu_at(index, time);
    charge_preempter(vcpu, time, base);
    const int32_t process = raw(vms.vms()[vcpu.vm].process);
    period::VcpuRow row{
        .tid = vcpu.task == kNoTask ? period::kNoId : raw(engine_.tasks()[vcpu.task].tid),
        .pid = process,
        .vm = engine_.vm_name(vcpu.vm),
        .number = vcpu.number,
        .state = column_of(vcpu.state),
        .preempter = preempter(base)};
    for (size_t state = 0; state < kVcpuStates; ++state)
      row.values.set(column_of(VcpuState(state)), now.ns[state] - base.ns[state]);
    constexpr std::array<Column, kVcpuEvents> kCounts = {
        Column::Injections, Column::Ipis, Column::Mmio, Column::Pio, Column::Msr, Column::Faults};
    for (size_t event = 0; event < kVcpuEvents; ++event)
      row.values.set(kCounts[event], now.events[event] - base.events[event]);
    for (const auto& [reason, sum] : now.exits) {
      const ExitSum before = base.exits[reason];
      row.values.add(Column::Exits, sum.count - before.count);
      period::ExitRow& exit = exits[{process, reason}];
      exit.values.add(Column::Exits, sum.count - before.count);
      exit.values.add(Column::Hypervisor, sum.kernel_ns - before.kernel_ns);
      exit.values.add(Column::UserSpace, sum.user_ns - before.user_ns);
      std::ranges::move(base.exit_corrections[reason], std::back_inserter(exit.corrections));
    }
    row.corrections = std::move(base.corrections);
    machine.vcpus.push_back(std::move(row));
    base = std::move(now);
  }
  for (auto& [key, exit] : exits) {
    if (exit.values == period::ExitRow::Values() && exit.corrections.empty()) continue;
    exit.pid = key.first;
    exit.reason = engine_.names().text(key.second);
    machine.exits.push_back(std::move(exit));
  }
}

std::string PeriodCutter::preempter(const VcpuBase& base) const {
  const auto longest =
      std::ranges::max_element(base.preempters, {}, [](const auto& taken) { return taken.second; });
  if (longest == base.preempters.end() || longest->second == 0) return "";
  return engine_.names().text(engine_.tasks()[longest->first].name);
}

void PeriodCutter::cut_files(period::Machine& machine) {
  for (const TouchedFile& touched : files_) {
    const File& file = engine_.descriptors().files().files()[touched.id];
    period::FileRow row{.kind = std::string(name_of(file.kind)),
                        .name = engine_.names().text(file.name)};
    row.values.set(Column::Opens, file.opens - touched.opens);
    put_traffic(file.traffic, touched.traffic, row.values);
    if (row.values != period::FileRow::Values()) machine.files.push_back(std::move(row));
    files_at_[touched.id] = 0;
  }
  files_.clear();
}

// Before the devices' bases move on.
void PeriodCutter::cut_latencies(period::Machine& machine) {
  using period::Latency;
  const auto add = [&](Latency what, std::string_view name, const period::Histogram& histogram) {
    if (histogram.count != 0)
      machine.latencies.push_back(
          {.what = what, .name = std::string(name), .histogram = histogram});
  };
  add(Latency::RunQueue, "", std::exchange(run_queue_, {}));
  for (const auto& [name, histogram] : std::exchange(syscalls_, {}))
    add(Latency::Syscall, engine_.names().text(name), histogram);
  for (const auto& [line, durations] : engine_.interrupts()) {
    Durations& before = interrupts_[line];
    if (durations.count == before.count) continue;
    add(line.first == Mode::Irq ? Latency::Irq : Latency::Softirq,
        engine_.names().text(line.second), difference(durations, before));
    before = durations;
  }
  for (const auto& [id, device] : engine_.block_devices().devices()) {
    const BlockDevice& before = devices_[id].device;
    const std::string name = device_name(device);
    add(Latency::BlockWait, name, difference(device.waiting, before.waiting));
    add(Latency::BlockService, name, difference(device.service, before.service));
  }
}

std::string PeriodCutter::device_name(const BlockDevice& device) const {
  if (device.name != kNoName) return engine_.names().text(device.name);
  return std::to_string(raw(device.id) >> 20) + ':' + std::to_string(raw(device.id) & 0xfffff);
}

void PeriodCutter::cut_devices(int64_t time, period::Machine& machine) {
  for (const auto& [id, device] : engine_.block_devices().devices()) {
    DeviceBase& base = devices_[id];
    const BlockDevice now = device_at(device, time);
    period::DeviceRow row{.number = raw(id), .name = device_name(device)};
    row.values.set(Column::Busy, now.busy_ns - base.device.busy_ns);
    row.values.set(Column::Depth, now.depth_ns - base.device.depth_ns);
    row.values.set(Column::Requests, now.requests - base.device.requests);
    row.values.set(Column::InFlight, now.in_flight);
    row.values.set(Column::ReadBytes, now.bytes.read - base.device.bytes.read);
    row.values.set(Column::WrittenBytes, now.bytes.written - base.device.bytes.written);
    row.corrections = std::exchange(base.corrections, {});
    base.device = now;
    machine.devices.push_back(std::move(row));
  }
}

void PeriodCutter::cut_interfaces(period::Machine& machine) {
  for (const auto& [name, now] : engine_.interfaces()) {
    Interface& before = interfaces_[name];
    period::InterfaceRow row{.name = engine_.names().text(name)};
    row.values.set(Column::PacketsIn, now.received.count - before.received.count);
    row.values.set(Column::ReadBytes, now.received.bytes - before.received.bytes);
    row.values.set(Column::PacketsOut, now.queued.count - before.queued.count);
    row.values.set(Column::WrittenBytes, now.queued.bytes - before.queued.bytes);
    row.values.set(Column::PacketsRefused, now.refused.count - before.refused.count);
    before = now;
    machine.interfaces.push_back(std::move(row));
  }
}

}  // namespace strata::state
