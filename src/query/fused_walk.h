// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "query/interval_walk.h"
#include "query/machines.h"

namespace strata::query {

// What a row of a history is in at times that never go back.
class RowCursor {
 public:
  RowCursor() = default;  // of none: never in anything
  RowCursor(history::History& history, history::Row row, int64_t begin)
      : walk_(history, row, begin, history.end()), is_there_(true) {}

  // Null: in nothing. `since` and `until` are narrowed to when that is so.
  Result<const history::Interval*> at(int64_t time, int64_t& since, int64_t& until);

 private:
  IntervalWalk walk_;
  const history::Interval* next_ = nullptr;  // the first that does not end before the time
  int64_t before_ = INT64_MIN;               // where the one before it ended
  bool is_there_ = false;
};

// Which virtual CPUs of the machines are CPUs of others of them.
class GuestCpus {
 public:
  struct Place {
    size_t machine = 0;
    uint32_t cpu = 0;  // of a guest: the CPU; of its host: the virtual CPU

    auto operator<=>(const Place&) const = default;
  };
  explicit GuestCpus(std::vector<Machine>& machines);

  bool is_guest(size_t machine) const;
  // The virtual CPU that a guest's CPU is.
  std::optional<Place> vcpu_of(size_t machine, state::CpuIndex cpu) const;
  // The CPU that a virtual CPU is.
  std::optional<Place> cpu_of(size_t machine, state::VcpuIndex vcpu) const;
  // The virtual CPU that a thread is.
  std::optional<state::VcpuIndex> vcpu_of_task(size_t machine, state::TaskId task) const;

  std::vector<Machine>& machines() const { return machines_; }

 private:
  std::vector<Machine>& machines_;
  std::map<Place, Place> vcpus_;  // by the guest's CPU
  std::map<Place, Place> cpus_;   // by the host's virtual CPU
  std::vector<std::unordered_map<Tid, state::VcpuIndex>> by_thread_;
};

// A stretch of time in which a CPU, seen with its guests or its host, did one thing.
struct FusedSpan {
  int64_t begin = 0;
  int64_t end = 0;
  size_t machine = 0;                   // whose code it ran
  state::CpuIndex cpu = 0;              // as that machine numbers it
  state::TaskId task = state::kNoTask;  // of that machine
  state::Mode mode = state::Mode::Unknown;
  state::NameId submode = state::kNoName;
  std::optional<GuestCpus::Place> vcpu = {};  // that it ran or is, of its host
  state::VcpuState vcpu_state = state::VcpuState::Unknown;
  uint32_t vcpu_info = 0;
};

// One way along what a CPU did.
class FusedWalk {
 public:
  // A CPU of a host, whichever machine's code it runs; or one of a guest, whatever its host does
  // with it.
  enum class View : uint8_t { Physical, Guest };

  FusedWalk(const GuestCpus& guests, View view, size_t machine, state::CpuIndex cpu, int64_t begin);

  // False at the end.
  Result<bool> next(FusedSpan& span);

 private:
  enum class What : uint8_t { Mode, Task, Vcpu };

  // Null: of nothing is known. Narrows the span.
  Result<const history::Interval*> look(What what, size_t machine, uint32_t number,
                                        FusedSpan& span);
  std::optional<history::Row> row_of(What what, size_t machine, uint32_t number) const;
  Result<bool> see_physical(FusedSpan& span, int depth);
  Result<bool> see_guest(FusedSpan& span);

  const GuestCpus& guests_;
  View view_;
  size_t machine_;
  state::CpuIndex cpu_;
  int64_t time_;
  int64_t end_;
  std::map<std::tuple<What, size_t, uint32_t>, RowCursor> cursors_;
};

}  // namespace strata::query
