// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "history/records.h"
#include "state/block.h"
#include "state/open_files.h"
#include "state/task.h"

namespace strata::state {

// What the index keeps as records (history/records.h), by their kind there.
enum class RecordKind : uint8_t { Descriptor, BlockRequest };

// A descriptor of a process, from being made, or first heard of, to being closed.
struct DescriptorRecord {
  static constexpr size_t kValues = 12;

  int64_t begin = 0;
  int64_t end = 0;
  Tid process = kNoTid;
  TaskId owner = kNoTask;  // the process's first task that was heard of
  int32_t fd = -1;
  FileKind kind = FileKind::Unknown;
  NameId name = kNoName;
  uint64_t inode = 0;  // 0: not told
  Traffic traffic = {};
  bool close_on_exec = false;
  NameId made_by = kNoName;  // a system call, "fork", "before"; kNoName: nobody told
  DescriptorEnd how_ended = DescriptorEnd::None;

  history::Record packed() const;
  static DescriptorRecord unpacked(const history::Record& record);
  bool operator==(const DescriptorRecord&) const = default;
};

// A request to a block device.
struct BlockRecord {
  static constexpr size_t kValues = 10;

  int64_t begin = 0;  // when it was wished for, or else issued
  int64_t end = 0;    // when it was completed, if it was
  Tid tid = kNoTid;   // of the task
  TaskId task = kNoTask;
  DeviceId device{};
  DeviceId origin{};  // for which it was wished
  uint64_t sector = 0;
  uint32_t sectors = 0;
  BlockDirection direction = BlockDirection::Other;
  bool has_wish = false;
  bool is_issued = false;
  bool is_completed = false;
  int64_t issued = 0;
  uint32_t merged = 0;  // wishes that became a part of it

  history::Record packed() const;
  static BlockRecord unpacked(const history::Record& record);
  bool operator==(const BlockRecord&) const = default;
};

}  // namespace strata::state
