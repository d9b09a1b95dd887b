// SPDX-License-Identifier: Apache-2.0
#include "state/index_records.h"

#include <algorithm>

namespace strata::state {
namespace {

constexpr int64_t kCloseOnExec = 1;  // then how it ended
constexpr int64_t kHasWish = 1;
constexpr int64_t kIsIssued = 2;
constexpr int64_t kIsCompleted = 4;

// kNoTask is the rarest and the largest: it becomes 0.
int64_t packed(TaskId task) { return static_cast<uint32_t>(task + 1); }
TaskId unpacked_task(int64_t value) { return static_cast<TaskId>(value) - 1; }

template <typename Enum>
Enum enum_of(int64_t value, Enum count, Enum otherwise) {
  return value >= 0 && value < static_cast<int64_t>(count) ? static_cast<Enum>(value) : otherwise;
}

}  // namespace

history::Record DescriptorRecord::packed() const {
  return {begin,
          end,
          {raw(process), state::packed(owner), fd, static_cast<int64_t>(kind), name,
           static_cast<int64_t>(inode), static_cast<int64_t>(traffic.reads),
           static_cast<int64_t>(traffic.writes), static_cast<int64_t>(traffic.read_bytes),
           static_cast<int64_t>(traffic.written_bytes),
           static_cast<int64_t>(how_ended) << 1 | (close_on_exec ? kCloseOnExec : 0), made_by}};
}

DescriptorRecord DescriptorRecord::unpacked(const history::Record& record) {
  const auto& values = record.values;
  const auto number = [&](size_t i) { return static_cast<uint64_t>(values[i]); };
  return {.begin = record.begin,
          .end = record.end,
          .process = Tid{static_cast<int32_t>(values[0])},
          .owner = unpacked_task(values[1]),
          .fd = static_cast<int32_t>(values[2]),
          .kind = enum_of(values[3], FileKind::Count_, FileKind::Unknown),
          .name = static_cast<NameId>(values[4]),
          .inode = number(5),
          .traffic = {number(6), number(7), number(8), number(9)},
          .close_on_exec = (values[10] & kCloseOnExec) != 0,
          .made_by = static_cast<NameId>(values[11]),
          .how_ended = enum_of(values[10] >> 1, DescriptorEnd::Count_, DescriptorEnd::None)};
}

history::Record BlockRecord::packed() const {
  const int64_t flags =
      (has_wish ? kHasWish : 0) | (is_issued ? kIsIssued : 0) | (is_completed ? kIsCompleted : 0);
  return {begin,
          end,
          {raw(tid), state::packed(task), static_cast<int64_t>(device),
           static_cast<int64_t>(origin), static_cast<int64_t>(sector), sectors,
           static_cast<int64_t>(direction), flags, is_issued ? issued - begin : 0, merged}};
}

BlockRecord BlockRecord::unpacked(const history::Record& record) {
  const auto& values = record.values;
  return {.begin = record.begin,
          .end = record.end,
          .tid = Tid{static_cast<int32_t>(values[0])},
          .task = unpacked_task(values[1]),
          .device = DeviceId(static_cast<uint32_t>(values[2])),
          .origin = DeviceId(static_cast<uint32_t>(values[3])),
          .sector = static_cast<uint64_t>(values[4]),
          .sectors = static_cast<uint32_t>(values[5]),
          .direction = enum_of(values[6], static_cast<BlockDirection>(3), BlockDirection::Other),
          .has_wish = (values[7] & kHasWish) != 0,
          .is_issued = (values[7] & kIsIssued) != 0,
          .is_completed = (values[7] & kIsCompleted) != 0,
          .issued = static_cast<int64_t>(static_cast<uint64_t>(record.begin) +
                                         static_cast<uint64_t>(values[8])),
          .merged = static_cast<uint32_t>(values[9])};
}

}  // namespace strata::state
