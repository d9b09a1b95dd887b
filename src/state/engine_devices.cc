// SPDX-License-Identifier: Apache-2.0
//
// What happens to block devices, network interfaces and memory; what is sampled beside events.
#include "state/engine.h"
#include "state/period_cutter.h"

namespace strata::state {

void Engine::on_device(const trace::Event& event, Cpu& cpu) {
  // What an interrupt does is not the doing of the task that it hit.
  const TaskId task = cpu.depth == 0 ? cpu.task : kNoTask;
  switch (event.type->meaning.word) {
    case Word::BlockQueue:
    case Word::BlockMerge:
    case Word::BlockRemap:
    case Word::BlockInsert:
    case Word::BlockIssue:
    case Word::BlockComplete:
      return on_block(event, task);
    case Word::NetQueue:
    case Word::NetSend:
    case Word::NetReceive:
      return on_network(event);
    case Word::StateDisk: {
      const auto device = DeviceId(static_cast<uint32_t>(part(event, Role::Device)));
      const std::string_view name = event.text(event.type->meaning.part(Role::Name));
      if (index_ != nullptr) index_->device_name(device, name);
      return block_devices_.set_name(device, names_.id(name));
    }
    default:
      return on_memory(event, cpu, task);
  }
}

void Engine::on_block(const trace::Event& event, TaskId task) {
  const trace::Binding& meaning = event.type->meaning;
  const BlockDevices::Place place{DeviceId(static_cast<uint32_t>(part(event, Role::Device))),
                                  static_cast<uint64_t>(part(event, Role::Sector)),
                                  static_cast<uint32_t>(part(event, Role::SectorCount))};
  switch (meaning.word) {
    case Word::BlockQueue:
      return block_devices_.queue(place, task, now_);
    case Word::BlockMerge:
      return block_devices_.merge(place, task, now_);
    case Word::BlockRemap:
      return block_devices_.remap(place,
                                  DeviceId(static_cast<uint32_t>(part(event, Role::OldDevice))),
                                  static_cast<uint64_t>(part(event, Role::OldSector)), task, now_);
    case Word::BlockInsert:
      return block_devices_.insert(place, task, now_);
    case Word::BlockIssue: {
      const trace::FieldRef flags = meaning.part(Role::Flags);
      return block_devices_.issue(place,
                                  flags.kind == trace::ValueKind::Text
                                      ? direction_of(event.text(flags))
                                      : direction_of(part(event, Role::Flags)),
                                  task, now_);
    }
    default:
      return block_devices_.complete(place, now_);
  }
}

void Engine::on_network(const trace::Event& event) {
  const trace::Binding& meaning = event.type->meaning;
  const int64_t length = part(event, Role::Length);
  Interface& interface = interfaces_[names_.id(event.text(meaning.part(Role::Name)))];
  if (meaning.word == Word::NetQueue)
    interface.queued.add(length);
  else if (meaning.word == Word::NetReceive)
    interface.received.add(length);
  else if (part(event, Role::Status) == 0)
    interface.sent.add(length);
  else
    interface.refused.add(length);
}

void Engine::on_memory(const trace::Event& event, Cpu& cpu, TaskId task) {
  switch (event.type->meaning.word) {
    case Word::PageAlloc:
      return memory_.allocate(task, part(event, Role::Order));
    case Word::PageFree:
      return memory_.free(task, part(event, Role::Order));
    case Word::ReclaimBegin:
      return memory_.begin_reclaim(task, now_);
    case Word::ReclaimEnd:
      return memory_.end_reclaim(task, part(event, Role::Pages), now_);
    case Word::OomKill:
      return memory_.kill(task_of(Tid(static_cast<int32_t>(part(event, Role::Tid)))));
    case Word::MemoryUse: {
      // It may be another's memory that the task changes; who it is, the space may tell.
      const bool is_own = part(event, Role::IsOwn) != 0 && cpu.task != kNoTask;
      const Tid process = is_own ? tasks_[cpu.task].tgid : kNoTid;
      return memory_.change(process, static_cast<uint64_t>(part(event, Role::Memory)),
                            part(event, Role::Kind), part(event, Role::Size));
    }
    default:
      return;
  }
}

void Engine::on_sample(const trace::Event& event, Cpu& cpu) {
  if (throttling_.take(event, names_)) return;
  const Counters::Ran ran = counters_.ran(event);
  TaskId task = kNoTask;
  if (ran.is_certain && ran.tid == Tid{0}) {
    task = cpu.idle;
  } else if (ran.is_certain) {
    // Counters are read by another clock: one that has ended may still have a reading to come.
    task = tasks_.find(ran.tid);
    if (task == kNoTask) task = add_task(ran.tid, begin_);
  }
  const std::span<const uint64_t> counted = counters_.take(event, task);
  if (cutter_ != nullptr && !counted.empty()) cutter_->charge_counters(task, cpu.index, counted);
}

}  // namespace strata::state
