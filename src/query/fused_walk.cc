// SPDX-License-Identifier: Apache-2.0
#include "query/fused_walk.h"

#include <algorithm>

namespace strata::query {
namespace {

using state::VcpuState;

// Guests of guests of guests do not go deeper.
constexpr int kDeepest = 4;

}  // namespace

Result<const history::Interval*> RowCursor::at(int64_t time, int64_t& since, int64_t& until) {
  constexpr const history::Interval* kNone = nullptr;
  if (!is_there_) return kNone;
  while (next_ == nullptr || next_->end <= time) {
    if (next_ != nullptr) before_ = next_->end;
    const Result<const history::Interval*> next = walk_.next();
    if (!next) return next.error();
    next_ = *next;
    if (next_ == nullptr) {
      is_there_ = false;
      since = std::max(since, before_);
      return kNone;
    }
  }
  if (next_->begin > time) {
    since = std::max(since, before_);
    until = std::min(until, next_->begin);
    return kNone;
  }
  since = std::max(since, next_->begin);
  until = std::min(until, next_->end);
  return next_;
}

GuestCpus::GuestCpus(std::vector<Machine>& machines)
    : machines_(machines), by_thread_(machines.size()) {
  for (size_t host = 0; host < machines.size(); ++host) {
    const state::Index& index = machines[host].index();
    for (const state::GuestCpuName& known : index.guests()) {
      const auto guest = std::ranges::find(machines, known.machine, &Machine::name);
      if (guest == machines.end() || known.vcpu >= index.vcpus().size()) continue;
      const auto number = static_cast<size_t>(guest - machines.begin());
      if (number == host) continue;
      vcpus_[{number, known.cpu}] = {host, known.vcpu};
      cpus_[{host, known.vcpu}] = {number, known.cpu};
    }
    for (state::VcpuIndex vcpu = 0; vcpu < index.vcpus().size(); ++vcpu)
      by_thread_[host][index.vcpus()[vcpu].tid] = vcpu;
  }
}

bool GuestCpus::is_guest(size_t machine) const {
  const auto found = vcpus_.lower_bound({machine, 0});
  return found != vcpus_.end() && found->first.machine == machine;
}

std::optional<GuestCpus::Place> GuestCpus::vcpu_of(size_t machine, state::CpuIndex cpu) const {
  const auto found = vcpus_.find({machine, cpu});
  return found == vcpus_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<GuestCpus::Place> GuestCpus::cpu_of(size_t machine, state::VcpuIndex vcpu) const {
  const auto found = cpus_.find({machine, vcpu});
  return found == cpus_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<state::VcpuIndex> GuestCpus::vcpu_of_task(size_t machine, state::TaskId task) const {
  const auto& tasks = machines_[machine].index().tasks();
  if (task >= tasks.size() || tasks[task].tid == Tid{0}) return std::nullopt;
  const auto found = by_thread_[machine].find(tasks[task].tid);
  return found == by_thread_[machine].end() ? std::nullopt : std::optional(found->second);
}

FusedWalk::FusedWalk(const GuestCpus& guests, View view, size_t machine, state::CpuIndex cpu,
                     int64_t begin)
    : guests_(guests),
      view_(view),
      machine_(machine),
      cpu_(cpu),
      time_(std::max(begin, guests.machines()[machine].history().begin())),
      end_(guests.machines()[machine].history().end()) {}

std::optional<history::Row> FusedWalk::row_of(What what, size_t machine, uint32_t number) const {
  const state::Index& index = guests_.machines()[machine].index();
  if (what == What::Vcpu)
    return number < index.vcpus().size() ? std::optional(index.vcpus()[number].state)
                                         : std::nullopt;
  const auto found = index.cpus().find(number);
  if (found == index.cpus().end()) return std::nullopt;
  return what == What::Mode ? found->second.mode : found->second.task;
}

Result<const history::Interval*> FusedWalk::look(What what, size_t machine, uint32_t number,
                                                 FusedSpan& span) {
  const auto [found, is_new] = cursors_.try_emplace({what, machine, number});
  if (is_new)
    if (const std::optional<history::Row> row = row_of(what, machine, number))
      found->second = RowCursor(guests_.machines()[machine].history(), *row, time_);
  return found->second.at(time_, span.begin, span.end);
}

Result<bool> FusedWalk::next(FusedSpan& span) {
  while (time_ < end_) {
    span = {.begin = INT64_MIN, .end = end_, .machine = machine_, .cpu = cpu_};
    const Result<bool> is_known = view_ == View::Physical ? see_physical(span, 0) : see_guest(span);
    if (!is_known) return is_known;
    time_ = span.end;
    if (*is_known) return true;
  }
  return false;
}

// What span.cpu of span.machine does, or the guest's CPU that it runs.
Result<bool> FusedWalk::see_physical(FusedSpan& span, int depth) {
  const auto task = look(What::Task, span.machine, span.cpu, span);
  if (!task) return task.error();
  span.task = *task == nullptr ? state::kNoTask : (*task)->info - 1;
  if (const auto vcpu = guests_.vcpu_of_task(span.machine, span.task); vcpu && depth < kDeepest) {
    const auto state = look(What::Vcpu, span.machine, *vcpu, span);
    if (!state) return state.error();
    if (*state != nullptr && (*state)->state < state::kVcpuStates) {
      span.vcpu = {span.machine, *vcpu};
      span.vcpu_state = VcpuState{(*state)->state};
      span.vcpu_info = (*state)->info;
    }
    const auto guest = guests_.cpu_of(span.machine, *vcpu);
    if (guest && span.vcpu && span.vcpu_state == VcpuState::Guest) {
      FusedSpan inside = span;
      inside.machine = guest->machine;
      inside.cpu = guest->cpu;
      const Result<bool> is_known = see_physical(inside, depth + 1);
      if (!is_known) return is_known;
      if (*is_known) {
        span = inside;
        return true;
      }
      // Nothing is known of the guest, until something is.
      span.begin = inside.begin;
      span.end = inside.end;
    }
  }
  const auto mode = look(What::Mode, span.machine, span.cpu, span);
  if (!mode) return mode.error();
  if (*mode == nullptr || (*mode)->state >= state::kModes) return false;
  span.mode = state::Mode{(*mode)->state};
  span.submode = (*mode)->info;
  return true;
}

// What the host does with the virtual CPU that the guest's CPU is.
Result<bool> FusedWalk::see_guest(FusedSpan& span) {
  const std::optional<GuestCpus::Place> vcpu = guests_.vcpu_of(span.machine, span.cpu);
  const auto task = look(What::Task, span.machine, span.cpu, span);
  if (!task) return task.error();
  if (*task == nullptr || !vcpu) return false;
  span.task = (*task)->info - 1;
  const auto state = look(What::Vcpu, vcpu->machine, vcpu->cpu, span);
  if (!state) return state.error();
  span.vcpu = vcpu;
  if (*state != nullptr && (*state)->state < state::kVcpuStates) {
    span.vcpu_state = VcpuState{(*state)->state};
    span.vcpu_info = (*state)->info;
  }
  return true;
}

}  // namespace strata::query
