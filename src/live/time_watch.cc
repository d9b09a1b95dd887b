// SPDX-License-Identifier: Apache-2.0
#include "live/time_watch.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "live/bpf/times.skel.h"

namespace strata::live {
namespace {

using period::Latency;

std::string text_of(const LongName& name) { return {name.text, strnlen(name.text, kLongName)}; }

// As the state engine calls them.
std::string softirq_name(uint32_t vector) {
  constexpr std::array<std::string_view, kSoftirqs> kVectors = {
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  return std::string(kVectors[vector]);
}

}  // namespace

Result<std::unique_ptr<TimeWatch>> TimeWatch::open(const TaskPrograms& tasks) {
  const std::string what = "to watch interrupts and requests";
  std::unique_ptr<TimeWatch> watch(new TimeWatch(tasks));
  auto opened = kernel::open_ebpf<::times>(what);
  if (!opened) return std::move(opened).error();
  watch->programs_ = std::move(*opened);
  ::times& all = *watch->programs_;
  bpf_map__set_max_entries(all.maps.line_times,
                           static_cast<uint32_t>(tasks.memory().cpus.size() * kLines));
  if (Status status = kernel::load_ebpf(watch->programs_, what); !status)
    return std::move(status).error();
  for (const auto& [from, to] : {std::pair{all.maps.line_times, &watch->line_times_},
                                 std::pair{all.maps.line_names, &watch->line_names_},
                                 std::pair{all.maps.device_times, &watch->device_times_}}) {
    Result<MappedMap> mapped = MappedMap::of(from, bpf_map__name(from));
    if (!mapped) return std::move(mapped).error();
    *to = std::move(*mapped);
  }
  if (Status status = attach_all(all.obj, watch->links_); !status) return std::move(status).error();
  // What was counted in an earlier time when this was wanted was told then.
  watch->queue_rows_.begin(tasks.queue_times(), {});
  __atomic_store_n(&tasks.memory().control->tells_times, 1, __ATOMIC_RELEASE);
  return watch;
}

TimeWatch::TimeWatch(const TaskPrograms& tasks) : tasks_(tasks) {}

TimeWatch::~TimeWatch() {
  __atomic_store_n(&tasks_.memory().control->tells_times, 0, __ATOMIC_RELEASE);
}

void TimeWatch::tell(period::Machine& machine) {
  queue_rows_.tell(
      tasks_.queue_times(), {.stride = 1}, Latency::RunQueue,
      [](uint32_t) { return std::string(); }, machine.latencies);
  tell_lines(machine);
  tell_devices(machine);
}

void TimeWatch::tell_lines(period::Machine& machine) {
  const auto times = line_times_.values<Times>();
  softirq_rows_.tell(times, {.end = kSoftirqs, .stride = kLines}, Latency::Softirq, softirq_name,
                     machine.latencies);
  const auto irq_name = [&](uint32_t line) {
    if (line == kTimerLine) return std::string("local_timer");
    const std::string name = text_of(line_names_.values<LongName>()[line]);
    return std::to_string(line - kFirstIrq) + (name.empty() ? "" : ' ' + name);
  };
  irq_rows_.tell(times, {.begin = kTimerLine, .end = kLines, .stride = kLines}, Latency::Irq,
                 irq_name, machine.latencies);
}

void TimeWatch::tell_devices(period::Machine& machine) {
  const auto devices = device_times_.values<DeviceTimes>();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (load(devices[i].device) == 0) break;
    const auto name = [&](uint32_t) { return text_of(devices[i].name); };
    waited_rows_[i].tell({&devices[i].waited, 1}, {.stride = 1}, Latency::BlockWait, name,
                         machine.latencies);
    served_rows_[i].tell({&devices[i].served, 1}, {.stride = 1}, Latency::BlockService, name,
                         machine.latencies);
  }
}

}  // namespace strata::live
