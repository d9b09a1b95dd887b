// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "state/index_store.h"

namespace strata::state {

// The index of a recording that is still being made: whoever follows the recording writes it, and
// everybody else who asks about the recording finds it as it was at its last checkpoint, without
// reading an event. It lies beside the recording's other indexes, and goes with its writer: of the
// finished recording an index is made as of any other.
class LiveIndex {
 public:
  // For the machine of this trace, the first of a recording. An error where another writes one.
  static Result<LiveIndex> create(const trace::Trace& trace);
  LiveIndex(LiveIndex&& other) noexcept = default;
  LiveIndex& operator=(LiveIndex&&) = delete;
  ~LiveIndex();

  const std::string& path() const { return path_; }
  uint64_t source() const { return source_; }

 private:
  LiveIndex(std::string path, uint64_t source, FileDescriptor lock)
      : path_(std::move(path)), source_(source), lock_(std::move(lock)) {}

  std::string path_;
  uint64_t source_;
  FileDescriptor lock_;  // held for as long as somebody writes
};

// What somebody who follows them has written of these traces. Nothing: nobody does.
std::optional<Index> open_live_index(const std::vector<std::unique_ptr<trace::Trace>>& traces);

}  // namespace strata::state
