// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "state/open_files.h"

namespace strata::state {

struct Descriptor {
  int32_t fd = -1;
  OpenId open = 0;
  bool close_on_exec = false;
};

// The descriptors of one process, in order. Each keeps its file open; hence whoever has a table has
// to close() it before it goes.
class DescriptorTable {
 public:
  static constexpr int32_t kLast = INT32_MAX;

  const std::vector<Descriptor>& all() const { return descriptors_; }
  const Descriptor* find(int32_t fd) const;
  Descriptor* find(int32_t fd);
  // What it led to before, nobody does now.
  Descriptor& set(const Descriptor& descriptor, OpenFiles& files);
  // All from the first to the last, both included.
  void close(int32_t first, int32_t last, OpenFiles& files);
  // Marks them to be closed then.
  void close_on_exec(int32_t first, int32_t last);
  void close_for_exec(OpenFiles& files);
  // Those of another that are not here are from now on.
  void add_missing(const DescriptorTable& other, OpenFiles& files);

 private:
  std::vector<Descriptor> descriptors_;
};

}  // namespace strata::state
